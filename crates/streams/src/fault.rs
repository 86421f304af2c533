//! The reason why a stream does not go on, and the tries that follow it.

use std::{collections::HashMap, time::Duration};

use deskhand_app::{ActByHandError, CreateSessionError, PlayerError, Refusal, RefusalKind};
use deskhand_jamie::ErrorCode;
use deskhand_store::StoreError;

/// The reason why a stream does not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub(crate) struct Fault {
    pub(crate) code: ErrorCode,
    /// A sentence for the person who asked. It names no secret and no other person.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// The code alone, with its summary.
impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self::new(code, code.row().summary)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "could not read or write a stream"
        );
        ErrorCode::Unknown.into()
    }
}

impl From<CreateSessionError> for Fault {
    fn from(error: CreateSessionError) -> Self {
        let facts = error.facts();
        let is_full = matches!(facts.kind, RefusalKind::TooMany | RefusalKind::Unavailable);
        let code = if is_full {
            ErrorCode::SandboxFailed
        } else {
            ErrorCode::Unknown
        };
        Self::new(code, facts.message)
    }
}

impl From<ActByHandError> for Fault {
    fn from(error: ActByHandError) -> Self {
        let is_lacking = matches!(
            error,
            ActByHandError::NoSandbox(_) | ActByHandError::Wake(_)
        );
        if is_lacking {
            return Self::new(ErrorCode::SandboxFailed, error.to_string());
        }
        // Somebody uses the computer, or has ended the session.
        let is_taken = matches!(
            error,
            ActByHandError::AgentIsDriving(_)
                | ActByHandError::SomebodyElseDrives { .. }
                | ActByHandError::Ended(_)
                | ActByHandError::Find(_)
        );
        if is_taken {
            return Self::new(ErrorCode::StreamDropped, error.facts().message);
        }
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a stream's computer could not be used"
        );
        ErrorCode::Unknown.into()
    }
}

impl From<PlayerError> for Fault {
    fn from(error: PlayerError) -> Self {
        match error {
            PlayerError::Desk(desk) => desk.into(),
            PlayerError::Page(_) => {
                Self::new(ErrorCode::StreamDropped, "the page no longer answers")
            }
            PlayerError::Lost => Self::new(ErrorCode::StreamDropped, "the computer was lost"),
            PlayerError::Held => Self::new(ErrorCode::StreamDropped, "a person uses the computer"),
        }
    }
}

/// Counts the tries after each code, as the table of codes allows them.
#[derive(Debug, Default)]
pub(crate) struct Tries(HashMap<ErrorCode, usize>);

impl Tries {
    /// Returns the time before the next try, or nothing if there is none.
    pub(crate) fn next(&mut self, code: ErrorCode) -> Option<Duration> {
        let n_before = self.0.entry(code).or_default();
        let wait = code.row().retry.wait(*n_before, None);
        *n_before += 1;
        wait
    }

    /// Forgets the tries so far, after the stream has run well for a while.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_follow_the_table_of_codes() {
        let waits = |code| {
            let mut tries = Tries::default();
            std::iter::from_fn(|| tries.next(code))
                .map(|wait| wait.as_secs())
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(ErrorCode::SandboxTimeout), [5, 15]);
        assert_eq!(waits(ErrorCode::StreamDropped), [5, 5, 5]);
        assert_eq!(waits(ErrorCode::AgentStuck), [0]);
        assert_eq!(waits(ErrorCode::SandboxFailed), [1, 2, 4]);
        for code in [
            ErrorCode::Captcha,
            ErrorCode::TwoFactorRequired,
            ErrorCode::BudgetExceeded,
            ErrorCode::UrlUnreachable,
            ErrorCode::Unknown,
        ] {
            assert!(waits(code).is_empty(), "{code:?}");
        }
    }

    #[test]
    fn each_code_has_tries_of_its_own_until_they_are_forgotten() {
        let mut tries = Tries::default();
        assert!(tries.next(ErrorCode::AgentStuck).is_some());
        assert!(tries.next(ErrorCode::StreamDropped).is_some());
        assert!(tries.next(ErrorCode::AgentStuck).is_none());
        tries.forget();
        assert!(tries.next(ErrorCode::AgentStuck).is_some());
    }
}
