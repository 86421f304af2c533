//! The one way into a session's log: what is stored is also told to everybody who follows.

use std::sync::Arc;

use deskhand_core::{
    clock::Clock,
    decision::{Ask, GivenFile, Settlement},
    event::{EventBody, GatewayUse, LoggedEvent, QueueChange},
    id::{DecisionId, MessageId, SessionId, TurnId, UserId},
    lease::{Lease, LeaseEnd},
    message::Message,
    model::Original,
    tasks::Tasks,
    viewer::Viewer,
};
use deskhand_store::{
    ChangeWaiting, NewLease, NewPrompt, QueueFull, Settle, Store, StoreError, TakeLease, Transition,
};

use super::{
    bus::Bus,
    hub::{Feed, Hub},
};

/// The kinds of events after which a session is another one to those who only want to know how it is.
const NEWS: [&str; 5] = ["status", "decision", "answer", "cost", "gateway"];

#[derive(Debug, Clone)]
pub(crate) struct Log {
    store: Store,
    hub: Arc<Hub>,
    bus: Arc<Bus>,
    clock: Arc<dyn Clock>,
}

impl Log {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, bus: Arc<Bus>, tasks: Tasks) -> Self {
        Self {
            store,
            hub: Arc::new(Hub::new(tasks)),
            bus,
            clock,
        }
    }

    /// Appends events; answers the number of the last one.
    pub(crate) async fn append(
        &self,
        session: SessionId,
        bodies: &[EventBody],
    ) -> Result<Option<u64>, StoreError> {
        let appended = self.store.append(session, bodies, self.clock.now());
        let Some(events) = appended.await? else {
            return Ok(None);
        };
        self.tell(session, &events);
        Ok(events.last().map(|event| event.seq))
    }

    /// The same with an answer of the model as its vendor gave it.
    pub(crate) async fn append_answer(
        &self,
        session: SessionId,
        bodies: &[EventBody],
        original: Option<&Original>,
    ) -> Result<Option<u64>, StoreError> {
        let now = self.clock.now();
        let appended = self.store.append_answer(session, bodies, original, now);
        let Some(events) = appended.await? else {
            return Ok(None);
        };
        self.tell(session, &events);
        Ok(events.last().map(|event| event.seq))
    }

    /// Counts what a program in the sandbox asked a model.
    pub(crate) async fn append_gateway_use(
        &self,
        session: SessionId,
        used: GatewayUse,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let counted = self.store.append_gateway_use(session, used, now);
        if let Some(events) = counted.await? {
            self.tell(session, &events);
        }
        Ok(())
    }

    /// Tells everybody who follows about what was stored without an answer.
    pub(crate) async fn catch_up(&self, session: SessionId) -> Result<(), StoreError> {
        let session = self.store.session(Viewer::System, session).await?;
        if let Some(session) = session {
            self.hub.saw(session.id, session.last_seq);
        }
        Ok(())
    }

    /// Lets those know who follow the session, and on the bus those who only want to know how it is.
    fn tell(&self, session: SessionId, events: &[LoggedEvent]) {
        self.hub.publish(session, events);
        if events
            .iter()
            .any(|event| NEWS.contains(&event.kind.as_str()))
        {
            self.bus.changed(session);
        }
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
        match &events {
            Some(events) => self.tell(session, events),
            // It may have been made before, by a try whose answer got lost.
            None => {
                self.catch_up(session).await?;
                self.bus.changed(session);
            }
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
            self.tell(session, events);
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
            self.tell(session, &taken.events);
            taken.prompt
        }))
    }

    /// Takes the messages that came to steer `turn`; answers also the number of the event that tells
    /// of the last.
    pub(crate) async fn take_steering(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<(Vec<Message>, u64), StoreError> {
        let taken = self
            .store
            .take_steering(session, turn, self.clock.now())
            .await?;
        let Some(taken) = taken else {
            return Ok((Vec::new(), 0));
        };
        self.tell(session, &taken.events);
        let last = taken.events.last().map_or(0, |event| event.seq);
        Ok((taken.messages, last))
    }

    /// Takes a lease, or makes it longer.
    pub(crate) async fn take_lease(&self, new: NewLease) -> Result<TakeLease, StoreError> {
        let taken = self.store.take_lease(new, self.clock.now()).await?;
        if let TakeLease::Took(took) = &taken {
            self.tell(new.session, &took.events);
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
            self.tell(session, events);
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
            self.tell(session, events);
        }
        Ok(changed)
    }

    /// Gives the session another model; tells whether it still goes on.
    pub(crate) async fn set_model(
        &self,
        session: SessionId,
        model: &str,
        by: UserId,
    ) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let events = self.store.set_model(session, model, by, now).await?;
        if let Some(events) = &events {
            self.tell(session, events);
        }
        Ok(events.is_some())
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
            self.tell(session, events);
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
            self.tell(session, events);
        }
        Ok(settle)
    }

    pub(crate) async fn follow(&self, session: SessionId, after: u64) -> Result<Feed, StoreError> {
        self.hub.follow(&self.store, session, after).await
    }
}
