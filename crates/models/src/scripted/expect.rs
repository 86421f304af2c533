//! Checks that a step was shown what it expects, and captures values from it.

use std::{cell::OnceCell, collections::BTreeMap};

use deskhand_pictures::{Patch, Pixels};

use super::{
    check::Spot,
    conversation::{Conversation, Shown},
    picture::{self, Colour},
    scenario::{Capture, Expect, Step},
    template,
};

/// A difference between the results and the scenario's expectations.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// The screen differs. Another look may help.
    Screen(String),
    /// Another look would not help.
    Final(String),
}

/// An error in reading a point does not depend on the screen.
impl From<String> for Mismatch {
    fn from(problem: String) -> Self {
        Self::Final(problem)
    }
}

/// The maximum length of a quoted text in a message, in characters.
const QUOTED_CHARS: usize = 300;

/// The results and the picture that the current step sees.
#[derive(Debug)]
pub(super) struct StepSight<'a> {
    conversation: &'a Conversation<'a>,
    picture: OnceCell<Result<Pixels, String>>,
}

impl<'a> StepSight<'a> {
    pub(super) fn new(conversation: &'a Conversation<'a>) -> Self {
        Self {
            conversation,
            picture: OnceCell::new(),
        }
    }

    pub(super) fn check(&self, expect: &Expect) -> Result<(), Mismatch> {
        let shown = self.conversation.now();
        if expect.no_errors
            && let Some(error) = shown.all().find(|result| result.is_error)
        {
            return Err(Mismatch::Final(format!(
                "expected no errors, and was shown {}",
                quoted(&error.text)
            )));
        }
        for wanted in &expect.text_contains.0 {
            if !shown
                .results
                .iter()
                .any(|result| result.text.contains(wanted))
            {
                return Err(Mismatch::Final(format!(
                    "expected a result that contains {wanted:?}, and was shown {}",
                    quoted(&shown.text())
                )));
            }
        }
        let told = self.conversation.handed_back;
        if let Some(wanted) = expect
            .handed_back
            .0
            .iter()
            .find(|text| !told.contains(*text))
        {
            return Err(Mismatch::Final(format!(
                "expected a hand-back that contains {wanted:?}, and was shown {}",
                quoted(told)
            )));
        }
        if expect.picture && shown.newest().iter().all(|result| result.image.is_none()) {
            return Err(Mismatch::Screen(
                "expected a picture, and was shown none".to_owned(),
            ));
        }
        self.check_colours(expect)
    }

    fn check_colours(&self, expect: &Expect) -> Result<(), Mismatch> {
        let min_pixels = expect.min_pixels;
        for colour in &expect.colour.0 {
            let n_pixels = self.n_pixels(*colour)?;
            if n_pixels < min_pixels {
                return Err(self.missing(&format!("the colour {colour}"), min_pixels, n_pixels));
            }
        }
        let any = &expect.any_colour.0;
        let mut most = 0;
        for colour in any {
            most = most.max(self.n_pixels(*colour)?);
        }
        if any.is_empty() || most >= min_pixels {
            return Ok(());
        }
        let any: Vec<String> = any.iter().map(ToString::to_string).collect();
        let wanted = format!("one of the colours {}", any.join(", "));
        Err(self.missing(&wanted, min_pixels, most))
    }

    /// Returns the centre of everything that has this colour on the screen.
    pub(super) fn find(&self, colour: Colour) -> Result<Spot, Mismatch> {
        let patch = self
            .patch(colour)?
            .ok_or_else(|| self.missing(&format!("the colour {colour}"), 1, 0))?;
        let (x, y) = patch.centre();
        Ok(Spot {
            x: i64::try_from(x).unwrap_or(i64::MAX),
            y: i64::try_from(y).unwrap_or(i64::MAX),
        })
    }

    fn n_pixels(&self, colour: Colour) -> Result<usize, Mismatch> {
        Ok(self.patch(colour)?.map_or(0, |patch| patch.n_pixels))
    }

    fn patch(&self, colour: Colour) -> Result<Option<Patch>, Mismatch> {
        let image = self.conversation.picture.ok_or_else(|| {
            Mismatch::Screen(format!(
                "expected the colour {colour} on the screen, and was shown no picture in this turn"
            ))
        })?;
        match self.picture.get_or_init(|| picture::decode(image)) {
            Ok(picture) => Ok(picture.find(colour.rgb())),
            Err(problem) => Err(Mismatch::Final(problem.clone())),
        }
    }

    fn missing(&self, wanted: &str, min_pixels: usize, n_pixels: usize) -> Mismatch {
        let size = match self.picture.get() {
            Some(Ok(picture)) => format!(" of {}×{}", picture.width, picture.height),
            Some(Err(_)) | None => String::new(),
        };
        Mismatch::Screen(format!(
            "expected {wanted} in {min_pixels} or more pixels, and was shown a picture{size} with \
             it in {n_pixels}"
        ))
    }
}

/// The values for a step's placeholders.
#[derive(Debug)]
pub(super) struct Values<'a> {
    conversation: &'a Conversation<'a>,
    captured: BTreeMap<&'a str, String>,
}

impl<'a> Values<'a> {
    /// Captures the values that `steps` ask for, up to the current step, from the results that each was shown.
    pub(super) fn take(
        steps: &'a [Step],
        conversation: &'a Conversation<'a>,
    ) -> Result<Self, Mismatch> {
        let mut captured = BTreeMap::new();
        for (step, shown) in steps.iter().zip(conversation.shown()) {
            for (name, capture) in &step.capture {
                captured.insert(name.as_str(), part(name, capture, shown)?);
            }
        }
        Ok(Self {
            conversation,
            captured,
        })
    }

    pub(super) fn fill(&self, text: &str) -> Result<String, Mismatch> {
        template::fill(text, |name| self.value(name))
    }

    fn value(&self, name: &str) -> Result<String, Mismatch> {
        let results = self.conversation.now().results;
        let value = match (name, template::result_number(name)) {
            ("prompt", _) => Some(self.conversation.prompt),
            ("steering", _) => Some(self.conversation.steering),
            ("handed_back", _) => Some(self.conversation.handed_back),
            ("last_result", _) => results.last().map(|result| &*result.text),
            (_, Some(number)) => results.get(number - 1).map(|result| &*result.text),
            (_, None) => self.captured.get(name).map(String::as_str),
        };
        value.map(str::to_owned).ok_or_else(|| {
            Mismatch::Final(format!(
                "has no value for {{{{ {name} }}}}, and was shown {} results",
                results.len()
            ))
        })
    }
}

fn part(name: &str, capture: &Capture, shown: &Shown<'_>) -> Result<String, Mismatch> {
    let text = shown.text();
    let missing = |mark: &str| {
        Mismatch::Final(format!(
            "captures {name:?} and expected {mark:?} in the results, and was shown {}",
            quoted(&text)
        ))
    };
    let (_, rest) = text
        .split_once(&capture.after)
        .ok_or_else(|| missing(&capture.after))?;
    let part = match &capture.until {
        None => rest,
        Some(until) => rest.split_once(until).ok_or_else(|| missing(until))?.0,
    };
    Ok(part.trim().to_owned())
}

fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "no text".to_owned();
    }
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{:?} and more", &text[..end]),
        None => format!("{text:?}"),
    }
}
