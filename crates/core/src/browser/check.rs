//! Bounds of verbs, checked before they are tried.

use super::{
    Browse, BrowserVerb, EmulatedViewport, FieldValue, LONGEST_PAGE_PAUSE_MS, LONGEST_PAGE_WAIT_MS,
    LONGEST_TYPED_BYTES, LONGEST_VIEWPORT_SIDE, MOST_DRAG_POINTS, MOST_UPLOADS, PageArea,
};

/// The reason why a verb is invalid, found before it is tried.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadVerb {
    #[error("the text has more than {LONGEST_TYPED_BYTES} bytes; use it in parts")]
    TooLong,
    #[error("a click is made 1 to 3 times")]
    Count,
    #[error("a key is pressed 1 to 100 times")]
    Repeat,
    #[error("a wait lasts at most {LONGEST_PAGE_WAIT_MS} ms")]
    Wait,
    #[error("a key is held, and nothing is done, for at most {LONGEST_PAGE_PAUSE_MS} ms")]
    Pause,
    #[error("a drag goes along 2 to {MOST_DRAG_POINTS} places")]
    Path,
    #[error("the part to look at is empty: its end is right of and below its beginning")]
    Region,
    #[error("a page is read at least 1 level deep")]
    Depth,
    #[error("an upload takes 1 to {MOST_UPLOADS} files")]
    Uploads,
    #[error(
        "each side of a viewport has 100 to {LONGEST_VIEWPORT_SIDE} pixels, and its scale is 0.5 to 4"
    )]
    Viewport,
}

impl Browse {
    /// Checks the bounds of the verb.
    pub fn check(&self) -> Result<(), BadVerb> {
        if let Some(text) = self.verb.text()
            && text.len() > LONGEST_TYPED_BYTES
        {
            return Err(BadVerb::TooLong);
        }
        self.verb.check()
    }
}

impl EmulatedViewport {
    fn is_possible(self) -> bool {
        let sides = 100..=LONGEST_VIEWPORT_SIDE;
        sides.contains(&self.width)
            && sides.contains(&self.height)
            && (50..=400).contains(&self.scale_percent)
    }
}

impl BrowserVerb {
    /// Checks everything but the length of texts.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "verbs without bounds of their own need no check"
    )]
    fn check(&self) -> Result<(), BadVerb> {
        let require = |is_good: bool, bad: BadVerb| if is_good { Ok(()) } else { Err(bad) };
        match self {
            Self::Click { count, .. } => require((1..=3).contains(count), BadVerb::Count),
            Self::Press { repeat, .. } => require((1..=100).contains(repeat), BadVerb::Repeat),
            Self::Wait { timeout_ms, .. } => {
                require(*timeout_ms <= LONGEST_PAGE_WAIT_MS, BadVerb::Wait)
            }
            Self::Pause { ms } | Self::HoldKey { ms, .. } => {
                require(*ms <= LONGEST_PAGE_PAUSE_MS, BadVerb::Pause)
            }
            Self::Drag { path, .. } => {
                require((2..=MOST_DRAG_POINTS).contains(&path.len()), BadVerb::Path)
            }
            Self::Upload { paths, .. } => {
                require((1..=MOST_UPLOADS).contains(&paths.len()), BadVerb::Uploads)
            }
            Self::Screenshot {
                area: PageArea::Region(region),
                ..
            } => require(
                region.x0 < region.x1 && region.y0 < region.y1,
                BadVerb::Region,
            ),
            Self::ReadPage { depth, .. } => require(*depth != Some(0), BadVerb::Depth),
            Self::Emulate(emulation) => {
                let viewport = emulation.viewport;
                require(
                    viewport.is_none_or(EmulatedViewport::is_possible),
                    BadVerb::Viewport,
                )
            }
            _ => Ok(()),
        }
    }

    /// Returns the text that the verb types, presses, searches for or runs.
    fn text(&self) -> Option<&str> {
        if let Self::Type { text, .. }
        | Self::Fill {
            value: FieldValue::Text(text),
            ..
        }
        | Self::Find { text }
        | Self::Press { keys: text, .. }
        | Self::HoldKey { keys: text, .. }
        | Self::Script { text } = self
        {
            Some(text)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        action::Point,
        browser::{PageCondition, PagePlace},
    };

    #[test]
    fn bounds_are_checked() {
        let long = "a".repeat(LONGEST_TYPED_BYTES + 1);
        for (verb, problem) in [
            (BrowserVerb::Script { text: long.clone() }, BadVerb::TooLong),
            (BrowserVerb::Find { text: long }, BadVerb::TooLong),
            (
                BrowserVerb::Press {
                    keys: "a".to_owned(),
                    repeat: 0,
                },
                BadVerb::Repeat,
            ),
            (
                BrowserVerb::Wait {
                    until: PageCondition::Quiet,
                    timeout_ms: LONGEST_PAGE_WAIT_MS + 1,
                },
                BadVerb::Wait,
            ),
            (
                BrowserVerb::Upload {
                    at: "e1".parse().unwrap(),
                    paths: Vec::new(),
                },
                BadVerb::Uploads,
            ),
            (
                BrowserVerb::Pause {
                    ms: LONGEST_PAGE_PAUSE_MS + 1,
                },
                BadVerb::Pause,
            ),
            (
                BrowserVerb::Drag {
                    path: vec![PagePlace::Point(Point { x: 1, y: 1 })],
                    modifiers: Vec::new(),
                },
                BadVerb::Path,
            ),
        ] {
            assert_eq!(Browse::new(verb).check(), Err(problem));
        }
        assert_eq!(Browse::new(BrowserVerb::Reload).check(), Ok(()));
    }
}
