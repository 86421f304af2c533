//! The port through which the app has turns carried out.

use async_trait::async_trait;
use deskhand_core::id::TurnId;

use crate::turn::{Turn, TurnReport};

/// Carries out turns: our own loop, or a coding agent in the sandbox.
#[async_trait]
pub trait Harness: Send + Sync + std::fmt::Debug {
    /// Carries out a turn until its end, however it comes about. It ends within a second of
    /// [`Turn::stop`], and appends everything that happens to [`Turn::log`] while it happens.
    async fn run(&self, turn: Turn) -> TurnReport;

    /// Tells that a message came to steer `turn`, which runs. It is there to take with
    /// [`crate::TurnLog::take_steering`]. A harness that looks there by itself need not listen.
    fn steer(&self, _turn: TurnId) {}
}

/// Deskhand's own loop: it asks a model and carries out the tools that the model calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnLoop;

#[async_trait]
impl Harness for OwnLoop {
    async fn run(&self, turn: Turn) -> TurnReport {
        turn.run().await
    }
}
