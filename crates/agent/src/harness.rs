//! The port through which the app runs turns.

use async_trait::async_trait;
use deskhand_core::id::TurnId;

use crate::turn::{Turn, TurnReport};

/// Runs turns: our own loop, or a coding agent in the sandbox.
#[async_trait]
pub trait Harness: Send + Sync + std::fmt::Debug {
    /// Runs a turn to its end, whatever the end is. The turn ends within a second of [`Turn::stop`], and everything
    /// that happens is appended to [`Turn::log`] as it happens.
    async fn run(&self, turn: Turn) -> TurnReport;

    /// Notifies the harness that a message arrived to steer the running `turn`. The harness can take it with
    /// [`crate::TurnLog::take_steering`]. A harness that polls there can ignore this call.
    fn steer(&self, _turn: TurnId) {}
}

/// Deskhand's own loop: it calls a model and carries out the tools that the model asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnLoop;

#[async_trait]
impl Harness for OwnLoop {
    async fn run(&self, turn: Turn) -> TurnReport {
        turn.run().await
    }
}
