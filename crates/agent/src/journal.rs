//! The session's log as a turn reads and extends it.

use std::sync::Arc;

use deskhand_core::{event::EventBody, model::Original};

use crate::{
    ports::{TurnLog, TurnLogError},
    turn::Originals,
};

/// The log and all its events.
#[derive(Debug)]
pub(crate) struct Journal {
    log: Arc<dyn TurnLog>,
    pub(crate) bodies: Vec<EventBody>,
    pub(crate) originals: Originals,
}

impl Journal {
    pub(crate) fn new(log: Arc<dyn TurnLog>, bodies: Vec<EventBody>, originals: Originals) -> Self {
        Self {
            log,
            bodies,
            originals,
        }
    }

    pub(crate) async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        if bodies.is_empty() {
            return Ok(());
        }
        self.log.append(bodies.clone()).await?;
        self.bodies.extend(bodies);
        Ok(())
    }

    /// Appends a complete answer, whose last event is its `cost`.
    pub(crate) async fn append_answer(
        &mut self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError> {
        self.log
            .append_answer(bodies.clone(), original.clone())
            .await?;
        if let (Some(EventBody::Cost(cost)), Some(original)) = (bodies.last(), original) {
            self.originals.insert((cost.turn, cost.step), original);
        }
        self.bodies.extend(bodies);
        Ok(())
    }

    /// Adds the messages that people sent in the meantime. Returns true if there were any.
    pub(crate) async fn take_steering(&mut self) -> Result<bool, TurnLogError> {
        let said = self.log.take_steering().await?;
        let is_new = !said.is_empty();
        self.bodies.extend(said);
        Ok(is_new)
    }

    /// Adds the lease changes that happened in the meantime.
    pub(crate) async fn take_leases(&mut self) -> Result<(), TurnLogError> {
        self.bodies.extend(self.log.take_leases().await?);
        Ok(())
    }
}
