//! Metrics for operators: some are recorded as things happen, others are counted on request.
//!
//! No metric is about one session or one person.

use std::time::Duration;

use deskhand_agent::{TurnEnd, TurnReport};
use deskhand_core::{
    sandbox::{
        ByteStream, ComputerError, Conclusion, OperationReply, SandboxUsage, SessionReply,
        StreamTarget,
    },
    session::Phase,
};

use crate::{HealthChecks, InternalError};

/// Seconds that a turn took, by `outcome`.
pub const TURN_SECONDS: &str = "deskhand_turn_duration_seconds";
/// Seconds that an operation on a computer took, by `tool` and `outcome`.
pub const ACTION_SECONDS: &str = "deskhand_action_duration_seconds";
/// Byte streams into sandboxes that were opened, by `target` and `outcome`.
pub const STREAMS_OPENED: &str = "deskhand_sandbox_streams_total";

/// Metrics that are counted on request.
#[derive(Debug)]
pub struct MetricsSnapshot {
    /// A phase without sessions is left out.
    pub sessions: Vec<(Phase, u64)>,
    pub n_waiting_prompts: u64,
    pub sandboxes: SandboxUsage,
}

impl HealthChecks {
    /// Counts over all sessions of all users.
    pub async fn metrics_snapshot(&self) -> Result<MetricsSnapshot, InternalError> {
        Ok(MetricsSnapshot {
            sessions: self.store.n_sessions_by_phase().await?,
            n_waiting_prompts: self.store.n_waiting_everywhere().await?,
            sandboxes: self.sandboxes.usage().await,
        })
    }
}

/// Counts a turn that has ended.
pub(crate) fn count_turn(report: &TurnReport) {
    metrics::histogram!(TURN_SECONDS, "outcome" => turn_outcome(report)).record(report.duration);
}

/// Returns the end of a turn in one word.
pub(crate) fn turn_outcome(report: &TurnReport) -> &'static str {
    match report.end {
        TurnEnd::Done { .. } => "done",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Enough { .. } => "enough",
        TurnEnd::Failed(_) | TurnEnd::LogLost(_) => "failed",
    }
}

/// Counts one operation on a computer, by the agent or by hand.
pub(crate) fn count_operation(
    name: &'static str,
    duration: Duration,
    answer: &Result<SessionReply, ComputerError>,
) {
    let outcome = match answer {
        Ok(reply) => match reply.conclusion() {
            Conclusion::Done => "done",
            Conclusion::TimedOut => "timed_out",
            Conclusion::Cancelled => "cancelled",
        },
        Err(error) => error_outcome(error),
    };
    metrics::histogram!(ACTION_SECONDS, "tool" => name, "outcome" => outcome).record(duration);
}

/// Counts a byte stream that was opened, or was not.
pub(crate) fn count_stream(target: StreamTarget, opened: &Result<ByteStream, ComputerError>) {
    let outcome = opened.as_ref().err().map_or("done", error_outcome);
    metrics::counter!(STREAMS_OPENED, "target" => target.name(), "outcome" => outcome).increment(1);
}

fn error_outcome(error: &ComputerError) -> &'static str {
    match error {
        ComputerError::Failed(_)
        | ComputerError::NothingListens(_)
        | ComputerError::NoSoundCard => "failed",
        ComputerError::Cancelled => "cancelled",
        ComputerError::Refused { .. } => "refused",
        ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_) => "lost",
    }
}
