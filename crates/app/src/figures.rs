//! Figures for those who run the server: what is counted as it happens, and what is counted when asked.
//!
//! No figure is about one session or one person.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use deskhand_agent::{TurnEnd, TurnReport};
use deskhand_core::{
    action::ScreenSize,
    id::RequestId,
    sandbox::{
        Actor, ByteStream, ComputerError, ComputerReply, ComputerRequest, Driver, Progress,
        Sandbox, SandboxEnd, SandboxUsage,
    },
    session::Phase,
    shell::ShellEnding,
};

use crate::{HealthChecks, InternalError};

/// Seconds that a turn took, by `outcome`.
pub const TURN_SECONDS: &str = "deskhand_turn_duration_seconds";
/// Seconds that something done to a computer took, by `tool` and `outcome`.
pub const ACTION_SECONDS: &str = "deskhand_action_duration_seconds";

/// What is counted when somebody asks.
#[derive(Debug)]
pub struct Figures {
    /// A phase without sessions is left out.
    pub sessions: Vec<(Phase, u64)>,
    pub n_waiting_prompts: u64,
    pub sandboxes: SandboxUsage,
}

impl HealthChecks {
    /// Counts over all sessions, of whomever they are.
    pub async fn figures(&self) -> Result<Figures, InternalError> {
        Ok(Figures {
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

/// How a turn ended, in one word.
pub(crate) fn turn_outcome(report: &TurnReport) -> &'static str {
    match report.end {
        TurnEnd::Done { .. } => "done",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Enough { .. } => "enough",
        TurnEnd::Failed(_) | TurnEnd::LogLost(_) => "failed",
    }
}

/// A sandbox that counts what is done in it, by the agent and by hand.
#[derive(Debug)]
pub(crate) struct Counted(pub(crate) Arc<dyn Sandbox>);

#[async_trait]
impl Sandbox for Counted {
    fn screen(&self) -> ScreenSize {
        self.0.screen()
    }

    async fn perform(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> Result<ComputerReply, ComputerError> {
        let tool = match &request {
            ComputerRequest::Act { .. } => "computer",
            ComputerRequest::Look { .. } => "screenshot",
            ComputerRequest::Shell(_) => "bash",
            ComputerRequest::Edit(_) => "editor",
            ComputerRequest::Keep(_) => "file",
            ComputerRequest::Fill { .. } => "fill_secret",
            ComputerRequest::Guard { .. } => "guard",
        };
        let started = Instant::now();
        let reply = self.0.perform(id, actor, request, progress).await;
        let seconds =
            metrics::histogram!(ACTION_SECONDS, "tool" => tool, "outcome" => outcome(&reply));
        seconds.record(started.elapsed());
        reply
    }

    async fn set_driver(&self, driver: Driver) {
        self.0.set_driver(driver).await;
    }

    async fn cancel(&self, id: RequestId) {
        self.0.cancel(id).await;
    }

    async fn open_screen(&self) -> Result<ByteStream, ComputerError> {
        self.0.open_screen().await
    }

    async fn ended(&self) -> SandboxEnd {
        self.0.ended().await
    }

    async fn stop(&self) {
        self.0.stop().await;
    }
}

/// How it went for the computer; a command that ran and ended with another code than 0 was done.
fn outcome(reply: &Result<ComputerReply, ComputerError>) -> &'static str {
    match reply {
        Ok(ComputerReply::Shell(output)) => match output.ending {
            ShellEnding::TimedOut { .. } | ShellEnding::TimedOutWithShell { .. } => "timed_out",
            ShellEnding::Interrupted => "cancelled",
            ShellEnding::Exited { .. }
            | ShellEnding::ShellEnded { .. }
            | ShellEnding::Restarted => "done",
        },
        Ok(ComputerReply::Acted { .. } | ComputerReply::Edited { .. }) => "done",
        Err(ComputerError::Failed(_)) => "failed",
        Err(ComputerError::Cancelled) => "cancelled",
        Err(ComputerError::Refused { .. }) => "refused",
        Err(ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_)) => "lost",
    }
}
