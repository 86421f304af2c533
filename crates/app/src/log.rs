//! The one way into a session's log: what is stored is also told to everybody who follows.

use std::sync::Arc;

use deskhand_core::{
    clock::Clock,
    decision::{Ask, GivenFile, Settlement},
    event::{EventBody, LoggedEvent, QueueChange},
    id::{DecisionId, MessageId, SessionId, TurnId, UserId},
    lease::{Lease, LeaseEnd},
    message::Message,
};
use deskhand_store::{
    ChangeWaiting, NewLease, NewPrompt, QueueFull, Settle, Store, StoreError, TakeLease, Transition,
};

use crate::hub::{Feed, Hub};

#[derive(Debug, Clone)]
pub(crate) struct Log {
    store: Store,
    hub: Arc<Hub>,
    clock: Arc<dyn Clock>,
}

impl Log {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            hub: Arc::default(),
            clock,
        }
    }

    pub(crate) async fn append(
        &self,
        session: SessionId,
        bodies: &[EventBody],
    ) -> Result<(), StoreError> {
        if let Some(events) = self.store.append(session, bodies, self.clock.now()).await? {
            self.hub.publish(session, &events);
        }
        Ok(())
    }

    /// Makes a move; tells whether it was made.
    pub(crate) async fn transition(
        &self,
        session: SessionId,
        transition: Transition,
    ) -> Result<bool, StoreError> {
        let events = self
            .store
            .transition(session, transition, self.clock.now())
            .await?;
        if let Some(events) = &events {
            self.hub.publish(session, events);
        }
        Ok(events.is_some())
    }

    /// Queues a prompt; `None` when the session is over.
    pub(crate) async fn queue_prompt(
        &self,
        prompt: NewPrompt<'_>,
        queue_length: u64,
    ) -> Result<Option<Result<(), QueueFull>>, StoreError> {
        let session = prompt.session;
        let queued = self.store.queue_prompt(prompt, queue_length).await?;
        if let Some(Ok(events)) = &queued {
            self.hub.publish(session, events);
        }
        Ok(queued.map(|queued| queued.map(|_| ())))
    }

    /// Takes the oldest waiting prompt for `turn`.
    pub(crate) async fn take_prompt(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Option<MessageId>, StoreError> {
        let taken = self
            .store
            .take_prompt(session, turn, self.clock.now())
            .await?;
        Ok(taken.map(|taken| {
            self.hub.publish(session, &taken.events);
            taken.prompt
        }))
    }

    /// Takes the messages that came to steer `turn`.
    pub(crate) async fn take_steering(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Vec<Message>, StoreError> {
        let taken = self
            .store
            .take_steering(session, turn, self.clock.now())
            .await?;
        Ok(taken.map_or_else(Vec::new, |taken| {
            self.hub.publish(session, &taken.events);
            taken.messages
        }))
    }

    /// Takes a lease, or makes it longer.
    pub(crate) async fn take_lease(&self, new: NewLease) -> Result<TakeLease, StoreError> {
        let taken = self.store.take_lease(new, self.clock.now()).await?;
        if let TakeLease::Took(took) = &taken {
            self.hub.publish(new.session, &took.events);
        }
        Ok(taken)
    }

    /// Ends a lease, unless it is another one by now.
    pub(crate) async fn end_lease(
        &self,
        session: SessionId,
        lease: &Lease,
        reason: LeaseEnd,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let events = self.store.end_lease(session, lease, reason, now).await?;
        if let Some(events) = &events {
            self.hub.publish(session, events);
        }
        Ok(())
    }

    /// What became of leases after event `after`.
    pub(crate) async fn lease_events(
        &self,
        session: SessionId,
        after: u64,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        self.store.lease_events(session, after).await
    }

    /// Changes a message that waits.
    pub(crate) async fn change_waiting(
        &self,
        session: SessionId,
        message: MessageId,
        by: UserId,
        changes: &[QueueChange],
    ) -> Result<ChangeWaiting, StoreError> {
        let now = self.clock.now();
        let changed = self
            .store
            .change_waiting(session, message, by, changes, now)
            .await?;
        if let ChangeWaiting::Changed(events) = &changed {
            self.hub.publish(session, events);
        }
        Ok(changed)
    }

    /// Asks people; tells whether the session was at work on `turn`.
    pub(crate) async fn raise(
        &self,
        session: SessionId,
        turn: TurnId,
        id: DecisionId,
        ask: &Ask,
    ) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let raised = self
            .store
            .raise_decision(session, turn, id, ask, now)
            .await?;
        if let Some(events) = &raised {
            self.hub.publish(session, events);
        }
        Ok(raised.is_some())
    }

    /// Settles what people were asked, if it is open.
    pub(crate) async fn settle(
        &self,
        session: SessionId,
        id: DecisionId,
        settlement: &Settlement,
        file: Option<&GivenFile>,
    ) -> Result<Settle, StoreError> {
        let now = self.clock.now();
        let settle = self
            .store
            .settle_decision(session, id, settlement, file, now)
            .await?;
        if let Settle::Settled(events) = &settle {
            self.hub.publish(session, events);
        }
        Ok(settle)
    }

    pub(crate) async fn follow(&self, session: SessionId, after: u64) -> Result<Feed, StoreError> {
        self.hub.follow(&self.store, session, after).await
    }
}
