//! Actions: one vocabulary for everything done to a desktop, independent of the vendor whose model asked for it.
//!
//! Coordinates here are native screen pixels. Adapters in `models` and `agent` translate.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A single operation on the computer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Takes a screenshot and changes nothing.
    Screenshot,
    /// Takes a close look at a part of the screen.
    Zoom { region: Region },
    /// Moves the pointer.
    Move { at: Point },
    /// Clicks `count` times (1 to 3), at the pointer when `at` is absent.
    Click {
        #[serde(default)]
        button: Button,
        #[serde(default = "once")]
        #[schema(minimum = 1, maximum = 3, default = 1)]
        count: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        at: Option<Point>,
        /// Key names held during the click, pressed in order and released in reverse.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<String>,
    },
    MouseDown {
        #[serde(default)]
        button: Button,
    },
    MouseUp {
        #[serde(default)]
        button: Button,
    },
    /// Presses the left button at the first point, moves through all points and releases the button at the last.
    Drag {
        /// At least one point. With one point the drag starts at the pointer.
        #[schema(min_items = 1)]
        path: Vec<Point>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<String>,
    },
    /// Turns the wheel. Positive `dy` is down, positive `dx` is right.
    Scroll {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        at: Option<Point>,
        /// Wheel clicks.
        #[serde(default)]
        #[schema(minimum = -100, maximum = 100, default = 0)]
        dx: i32,
        /// Wheel clicks.
        #[serde(default)]
        #[schema(minimum = -100, maximum = 100, default = 0)]
        dy: i32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<String>,
    },
    /// Types text into whatever has the focus. A line feed is Return, a tab is Tab.
    Type { text: String },
    /// Presses a chord such as `ctrl+s`, or several separated by spaces, `repeat` times.
    Key {
        keys: String,
        #[serde(default = "once")]
        #[schema(minimum = 1, maximum = 100, default = 1)]
        repeat: u8,
    },
    /// Holds a chord down for a while.
    HoldKey {
        keys: String,
        #[schema(maximum = 300_000)]
        ms: u64,
    },
    /// Does nothing for a while.
    Wait {
        #[schema(maximum = 300_000)]
        ms: u64,
    },
    /// Returns the position of the pointer.
    CursorPosition,
}

/// The longest duration of `HoldKey` or `Wait`.
pub const LONGEST_WAIT_MS: u64 = 300_000;

fn once() -> u8 {
    1
}

/// A point on the screen, in native pixels from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// A part of the screen: `x0 <= x < x1`, `y0 <= y < y1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub x0: i32,
    pub y0: i32,
    pub x1: i32,
    pub y1: i32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

/// The size of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenSize {
    pub width: u16,
    pub height: u16,
}

impl Default for ScreenSize {
    fn default() -> Self {
        Self {
            width: 1024,
            height: 768,
        }
    }
}

impl std::fmt::Display for ScreenSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×{}", self.width, self.height)
    }
}

/// The reason why an action is invalid, found before it is tried.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAction {
    #[error("({x}, {y}) is outside the {screen} screen")]
    OutsideScreen { x: i32, y: i32, screen: ScreenSize },
    #[error("a region needs x0 < x1 and y0 < y1")]
    EmptyRegion,
    #[error("a click has 1 to 3 presses, not {0}")]
    ClickCount(u8),
    #[error("a key is pressed 1 to 100 times, not {0}")]
    KeyRepeat(u8),
    #[error("a drag needs at least one point")]
    NoPath,
    #[error("the wheel turns at most 100 clicks at once")]
    TooMuchScroll,
    #[error("waiting or holding takes at most {LONGEST_WAIT_MS} ms, not {0}")]
    TooLong(u64),
}

impl Action {
    /// Checks that the action makes sense on a screen of this size. Nothing is clamped.
    pub fn check(&self, screen: ScreenSize) -> Result<(), BadAction> {
        let inside = |point: &Point| {
            let within = (0..i32::from(screen.width)).contains(&point.x)
                && (0..i32::from(screen.height)).contains(&point.y);
            if within {
                Ok(())
            } else {
                Err(BadAction::OutsideScreen {
                    x: point.x,
                    y: point.y,
                    screen,
                })
            }
        };
        match self {
            Self::Zoom { region } => {
                if region.x0 >= region.x1 || region.y0 >= region.y1 {
                    return Err(BadAction::EmptyRegion);
                }
                inside(&Point {
                    x: region.x0,
                    y: region.y0,
                })?;
                inside(&Point {
                    x: region.x1 - 1,
                    y: region.y1 - 1,
                })
            }
            Self::Move { at } => inside(at),
            Self::Click { count, .. } if !(1..=3).contains(count) => {
                Err(BadAction::ClickCount(*count))
            }
            Self::Click { at, .. } => at.iter().try_for_each(inside),
            Self::Drag { path, .. } if path.is_empty() => Err(BadAction::NoPath),
            Self::Drag { path, .. } => path.iter().try_for_each(inside),
            Self::Scroll { dx, dy, .. } if dx.abs() > 100 || dy.abs() > 100 => {
                Err(BadAction::TooMuchScroll)
            }
            Self::Scroll { at, .. } => at.iter().try_for_each(inside),
            Self::Key { repeat, .. } if !(1..=100).contains(repeat) => {
                Err(BadAction::KeyRepeat(*repeat))
            }
            Self::HoldKey { ms, .. } | Self::Wait { ms } if *ms > LONGEST_WAIT_MS => {
                Err(BadAction::TooLong(*ms))
            }
            Self::Screenshot
            | Self::MouseDown { .. }
            | Self::MouseUp { .. }
            | Self::Type { .. }
            | Self::Key { .. }
            | Self::HoldKey { .. }
            | Self::Wait { .. }
            | Self::CursorPosition => Ok(()),
        }
    }

    /// Returns true if a picture is the purpose of the action, not a by-product.
    pub fn is_look(&self) -> bool {
        matches!(self, Self::Screenshot | Self::Zoom { .. })
    }
}
