//! The worker of a session: one task that takes prompts from the queue, one after the other, and runs a turn for
//! each. It exists only while there is work.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    id::{MessageId, TurnId},
    message::Delivery,
};
use deskhand_store::StoreError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::session::{CurrentTurn, LiveSession};
use crate::turns::TurnOrder;

/// The pause before a retry if the database did not respond.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A turn that an earlier server did not finish.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unfinished {
    pub(crate) turn: TurnId,
    pub(crate) prompt: MessageId,
}

impl LiveSession {
    /// Starts the worker, or tells it that there is more to do.
    pub(super) fn begin_work(self: &Arc<Self>, unfinished: Option<Unfinished>) {
        if !self.activity.begin_work() {
            return;
        }
        let worker = Arc::clone(self);
        let work = async move { worker.work(unfinished).await };
        // The request that asked for the work is answered long before the work ends.
        let span = tracing::info_span!(parent: None, "session", session.id = %self.id);
        self.turns.tasks().spawn("session", work.instrument(span));
    }

    async fn work(&self, unfinished: Option<Unfinished>) {
        if let Some(Unfinished { turn, prompt }) = unfinished {
            let stop = self.begin_turn(turn);
            self.run(turn, prompt, stop).await;
        }
        while !self.ending.is_cancelled() {
            let turn = TurnId::new();
            // This comes before the prompt is taken, so that a stop can reach the turn from the start.
            let stop = self.begin_turn(turn);
            match self.turns.take_prompt(self.id, turn, &self.ending).await {
                Ok(Some(prompt)) => self.run(turn, prompt, stop).await,
                Ok(None) => {
                    *self.current() = None;
                    if self.activity.end_work() {
                        return;
                    }
                }
                Err(error) => {
                    *self.current() = None;
                    self.report_unreadable(&error);
                    self.pause().await;
                }
            }
        }
        self.activity.give_up_work();
    }

    /// Runs a turn and closes it in the log.
    async fn run(&self, turn: TurnId, prompt: MessageId, stop: CancellationToken) {
        self.activity.begin_turn();
        self.note_prompt(prompt).await;
        let order = TurnOrder {
            session: self.id,
            turn,
            prompt,
            desk: Arc::clone(&self.desk),
            servers: Arc::clone(&self.servers),
            stop,
            ending: self.ending.clone(),
        };
        let report = self.turns.run(order).await;
        // The end of a turn must not get lost while the database is unreachable. Only a server that shuts down leaves
        // it to the next start.
        let is_ending = self.ending.is_cancelled();
        let is_parked = self.turns.is_parked();
        self.activity.end_turn();
        loop {
            let is_interrupted = self.current().as_ref().is_some_and(|it| it.is_interrupted);
            let closing = crate::turns::Closing {
                session: self.id,
                turn,
                report: &report,
                is_parked,
                is_interrupted,
            };
            if self.turns.close(closing).await || is_ending {
                break;
            }
            self.pause().await;
        }
        *self.current() = None;
    }

    fn begin_turn(&self, id: TurnId) -> CancellationToken {
        let stop = self.ending.child_token();
        *self.current() = Some(CurrentTurn {
            id,
            stop: stop.clone(),
            prompt: None,
            is_interrupted: false,
        });
        stop
    }

    /// Records the prompt of the turn. A message that was to interrupt the turn may have arrived before its prompt
    /// was known, and interrupts it now.
    async fn note_prompt(&self, prompt: MessageId) {
        if let Some(turn) = &mut *self.current() {
            turn.prompt = Some(prompt);
        }
        let waiting = self.turns.waiting(self.id).await;
        let urgent = waiting
            .iter()
            .find(|message| message.delivery == Delivery::Interrupt && !message.is_held);
        if let Some(message) = urgent {
            self.interrupt(message.id);
        }
    }

    fn report_unreadable(&self, error: &StoreError) {
        tracing::error!(session.id = %self.id, error = error as &dyn std::error::Error, "could not read the queue");
    }

    async fn pause(&self) {
        tokio::select! {
            () = tokio::time::sleep(RETRY_DELAY) => {}
            () = self.ending.cancelled() => {}
        }
    }
}
