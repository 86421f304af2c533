//! The people who decide for a turn, and the questions they were asked.
//!
//! If the log of a resumed turn already has a decision, the turn waits for it and does not raise it again.

use std::sync::Arc;

use deskhand_core::{
    decision::{Ask, DecisionKind, DecisionState, Reply},
    event::{DecisionRaised, DecisionSettled, EventBody},
    id::{DecisionId, TurnId},
};
use tokio::time::Instant;

use crate::{
    cut::{Cut, Signals},
    ports::{Decisions, Settled},
    stopwatch::Stopwatch,
};

/// The people, and the decisions of this turn from before the interruption.
#[derive(Debug)]
pub(crate) struct People {
    pub(crate) decisions: Arc<dyn Decisions>,
    pub(crate) raised: Vec<Raised>,
}

/// A decision that was raised before the turn was interrupted.
#[derive(Debug, Clone)]
pub(crate) struct Raised {
    pub(crate) decision: DecisionId,
    pub(crate) ask: Ask,
    pub(crate) state: DecisionState,
    /// The answer that counts.
    pub(crate) reply: Option<Reply>,
}

impl Raised {
    /// Reads every decision of a turn from its log.
    pub(crate) fn read(log: &[EventBody], turn: TurnId) -> Vec<Self> {
        let mut raised: Vec<Self> = Vec::new();
        for body in log {
            if let EventBody::Decision(DecisionRaised {
                turn: of,
                decision,
                ask,
            }) = body
                && *of == turn
            {
                raised.push(Self {
                    decision: *decision,
                    ask: ask.clone(),
                    state: DecisionState::Open,
                    reply: None,
                });
            }
            if let EventBody::Answer(DecisionSettled {
                decision,
                state,
                answer,
                ..
            }) = body
                && let Some(settled) = raised.iter_mut().find(|one| one.decision == *decision)
            {
                settled.state = *state;
                settled.reply.clone_from(answer);
            }
        }
        raised
    }

    fn is_of(&self, call: &str) -> bool {
        self.ask.call.as_deref() == Some(call)
    }
}

impl People {
    /// Returns true if a call was not started before the interruption because people had not approved it.
    pub(crate) fn held_up(&self, call: &str) -> bool {
        let is_agreed = |one: &Raised| one.reply.as_ref().is_some_and(Reply::is_yes);
        let mut raised = self.raised.iter();
        raised.any(|one| one.is_of(call) && !is_agreed(one))
    }

    /// Returns the questions about a call from before the interruption, apart from the agent's own questions.
    pub(crate) fn asked_about(&self, call: &str) -> impl Iterator<Item = &Ask> {
        let asks = self.raised.iter().filter(move |one| one.is_of(call));
        asks.map(|one| &one.ask)
            .filter(|ask| ask.kind != DecisionKind::Question)
    }

    /// Raises a decision, unless it was raised before, and waits until it is settled. The wait does not count as
    /// work.
    pub(crate) async fn settle(
        &self,
        ask: Ask,
        signals: &Signals,
        stopwatch: &mut Stopwatch,
    ) -> Result<Settled, Cut> {
        let before = self
            .raised
            .iter()
            .find(|one| one.ask.call == ask.call && one.ask.kind == ask.kind);
        let id = match before {
            Some(before) => before.decision,
            None => {
                let id = DecisionId::new();
                self.decisions.raise(id, ask).await?;
                id
            }
        };
        let began = Instant::now();
        let settled = tokio::select! {
            biased;
            cut = signals.parked() => Err(cut),
            settled = self.decisions.settled(id) => Ok(settled),
            cut = signals.stopped() => Err(cut),
        };
        stopwatch.waited_since(began);
        settled
    }
}
