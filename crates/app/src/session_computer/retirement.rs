//! The planned end of a sandbox.

use std::sync::OnceLock;

use deskhand_core::sandbox::ComputerError;
use tokio::time::Instant;

const STARTED_AGAIN: &str =
    "It starts again for the next action: files are kept, open programs are gone.";

/// The time at which a sandbox has to end, and the reason once it does.
#[derive(Debug)]
pub(super) struct Retirement {
    pub(super) due_at: Instant,
    reason: OnceLock<String>,
}

impl Retirement {
    pub(super) fn new(due_at: Instant) -> Self {
        Self {
            due_at,
            reason: OnceLock::new(),
        }
    }

    /// Records why the sandbox is about to be ended. The first reason counts.
    pub(super) fn begin(&self, reason: String) {
        // A second reason changes nothing.
        let _ = self.reason.set(reason);
    }

    /// Replaces the error of a request that a retirement cut off with one that gives the reason.
    pub(super) fn explain<T>(&self, answer: Result<T, ComputerError>) -> Result<T, ComputerError> {
        let Some(reason) = self.reason.get() else {
            return answer;
        };
        match answer {
            Err(ComputerError::FateUnknown) => Err(ComputerError::Ended(format!(
                "{reason} It is not known whether this action was done. {STARTED_AGAIN}"
            ))),
            Err(ComputerError::Gone) => Err(ComputerError::Ended(format!(
                "Not executed: {reason} {STARTED_AGAIN}"
            ))),
            answer => answer,
        }
    }
}
