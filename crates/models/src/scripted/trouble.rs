//! Scripted errors, like those of real vendors.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deskhand_core::model::ModelError;
use serde::Deserialize;

/// An error in a step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trouble {
    pub(super) kind: Kind,
    /// The vendor's message.
    message: Option<String>,
    /// The number of times that it happens. Without it, it always happens.
    pub(super) times: Option<usize>,
    /// The delay after which the vendor wants a retry.
    after_ms: Option<u64>,
    /// The number of characters of text before the error. Without it, the whole answer comes first.
    pub(super) after_chars: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The request is wrong, and a retry would fail too.
    Rejected,
    /// The model refuses to continue.
    Refused,
    /// The answer is cut off.
    Unavailable,
    /// There is no answer at all.
    Overloaded,
    RateLimited,
    ServerError,
    /// The answer has neither text nor calls.
    Empty,
    /// The answer became too long before any part of it was complete.
    CutOff,
}

/// The end of an answer with a scripted error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The answer is empty.
    Nothing,
    /// The answer contains only thinking and is too long.
    TooLong,
    /// The error comes instead of an answer.
    NoAnswer(ModelError),
    /// The error comes after this many characters of the text, or after everything.
    BrokenOff(Option<usize>, ModelError),
}

impl Kind {
    /// Returns the name in scenario files.
    fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Overloaded => "overloaded",
            Self::RateLimited => "rate_limited",
            Self::ServerError => "server_error",
            Self::Empty => "empty",
            Self::CutOff => "cut_off",
        }
    }

    /// Returns the message for scenarios that give none.
    fn message(self) -> &'static str {
        match self {
            Self::Rejected => "it answered 400 Bad Request",
            Self::Refused => "the model refused to go on",
            Self::Unavailable => "its answer ended early",
            Self::Overloaded => "it is overloaded",
            Self::RateLimited => "it was called too often",
            Self::ServerError => "it answered 500 Internal Server Error",
            Self::Empty | Self::CutOff => "",
        }
    }

    /// Returns true if the error ends the turn.
    fn is_final(self) -> bool {
        matches!(self, Self::Rejected | Self::Refused)
    }

    /// Returns true if this is an answer, though not a good one.
    fn is_answer(self) -> bool {
        matches!(self, Self::Empty | Self::CutOff)
    }

    /// Returns true if text may come before the error.
    fn breaks_off(self) -> bool {
        matches!(self, Self::Rejected | Self::Refused | Self::Unavailable)
    }
}

impl Trouble {
    /// Checks that the fields fit together.
    pub(super) fn check(&self) -> Result<(), String> {
        let kind = self.kind;
        let wrong = |field: &str, why: &str| {
            let name = kind.name();
            Err(format!(
                "an `error` of the kind `{name}` has no `{field}`: {why}"
            ))
        };
        if self.times == Some(0) {
            return Err("`times` of an `error` is 1 or more".to_owned());
        }
        if self.times.is_some() && kind.is_final() {
            return wrong("times", "the turn ends with the first");
        }
        if self.after_ms.is_some() && (kind.is_final() || kind.is_answer()) {
            return wrong("after_ms", "the model is not asked again later");
        }
        if self.after_chars.is_some() && !kind.breaks_off() {
            return wrong("after_chars", "nothing is said before it");
        }
        if self.message.is_some() && kind.is_answer() {
            return wrong("message", "it is an answer");
        }
        Ok(())
    }

    pub(super) fn ending(&self) -> Ending {
        let message = self.message.as_deref().unwrap_or(self.kind.message());
        let later = || ModelError::Unavailable {
            message: message.to_owned(),
            retry_after: self.after_ms.map(Duration::from_millis),
        };
        let broken_off = |error| Ending::BrokenOff(self.after_chars, error);
        match self.kind {
            Kind::Rejected => broken_off(ModelError::Rejected(message.to_owned())),
            Kind::Refused => broken_off(ModelError::Refused(message.to_owned())),
            Kind::Unavailable => broken_off(later()),
            Kind::Overloaded | Kind::RateLimited | Kind::ServerError => Ending::NoAnswer(later()),
            Kind::Empty => Ending::Nothing,
            Kind::CutOff => Ending::TooLong,
        }
    }
}

/// The number of times that each step has failed.
///
/// The conversation does not contain it, so it is stored here, and with the model it lives for one turn. A turn that
/// resumes after a restart of the server meets its errors from the beginning.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<BTreeMap<StepPlace, usize>>);

/// The numbers of a prompt and of a step.
pub(super) type StepPlace = (usize, usize);

impl Failures {
    /// Returns the error of a step for this attempt, if any.
    pub(super) fn next<'a>(&self, step: StepPlace, troubles: &'a [Trouble]) -> Option<&'a Trouble> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n_failures = failures.entry(step).or_default();
        let mut n_before = 0_usize;
        let trouble = troubles.iter().find(|trouble| {
            n_before = n_before.saturating_add(trouble.times.unwrap_or(usize::MAX));
            *n_failures < n_before
        })?;
        *n_failures += 1;
        Some(trouble)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(kind: Kind, times: Option<usize>) -> Trouble {
        Trouble {
            kind,
            message: None,
            times,
            after_ms: None,
            after_chars: None,
        }
    }

    #[test]
    fn troubles_come_in_order_and_each_step_has_its_own() {
        let failures = Failures::default();
        let troubles = [
            trouble(Kind::Overloaded, Some(2)),
            trouble(Kind::Empty, Some(1)),
        ];
        let next = |step| failures.next(step, &troubles).map(|trouble| trouble.kind);
        assert_eq!(next((1, 0)), Some(Kind::Overloaded));
        assert_eq!(next((1, 1)), Some(Kind::Overloaded));
        assert_eq!(next((1, 0)), Some(Kind::Overloaded));
        assert_eq!(next((1, 0)), Some(Kind::Empty));
        assert_eq!(next((1, 0)), None);
        assert_eq!(next((1, 0)), None);
        let always = [trouble(Kind::Rejected, None)];
        for _ in 0..3 {
            assert!(failures.next((2, 0), &always).is_some());
        }
    }
}
