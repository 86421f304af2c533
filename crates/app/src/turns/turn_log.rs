//! The log of one turn. It retries while the database is unreachable, and writes nothing twice.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use deskhand_agent::{TurnLog, TurnLogError};
use deskhand_core::{
    event::{Event, EventBody, LoggedEvent, MessageSaid},
    id::{MessageId, SessionId, TurnId},
    message::Message,
    model::Original,
};
use deskhand_store::{AppendEvents, Store, StoreError, TakeSteering};
use tokio_util::sync::CancellationToken;

use super::{TurnParts, history};
use crate::{database_retry::until_answered, feed::log::Log};

/// The number of events that are read at once.
const PAGE: u32 = 1_000;

/// The log of a session, as one turn writes it.
#[derive(Debug)]
pub(crate) struct SessionLog {
    store: Store,
    log: Log,
    shutdown: CancellationToken,
    session: SessionId,
    turn: TurnId,
    /// The number of an event that is certainly written, with all before it.
    sure: AtomicU64,
    /// The number of the newest event about leases that the turn knows.
    last_lease_seq: AtomicU64,
}

impl SessionLog {
    /// Creates the log of `turn`, which knows the events up to number `last_seq`.
    pub(crate) fn new(parts: &TurnParts, session: SessionId, turn: TurnId, last_seq: u64) -> Self {
        Self {
            store: parts.store.clone(),
            log: parts.log.clone(),
            shutdown: parts.tasks.shutdown().clone(),
            session,
            turn,
            sure: AtomicU64::new(last_seq),
            last_lease_seq: AtomicU64::new(last_seq),
        }
    }

    /// Appends the events, unless an earlier attempt did although its response was lost.
    async fn append_once(
        &self,
        bodies: &[EventBody],
        original: Option<&Original>,
        is_retry: bool,
    ) -> Result<(), StoreError> {
        if is_retry && let Some(last) = self.find(bodies).await? {
            self.sure.fetch_max(last, Ordering::Relaxed);
            return Ok(());
        }
        let append = AppendEvents { bodies, original };
        if let Ok(last) = self.log.commit(self.session, append).await? {
            self.sure.fetch_max(last, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the number of the last of these events, if they are in the log already. Nothing else writes events of
    /// this turn, and earlier ones come before `sure`.
    async fn find(&self, bodies: &[EventBody]) -> Result<Option<u64>, StoreError> {
        let written = self.after_sure().await?;
        let is_same = |event: &LoggedEvent, body: &EventBody| {
            event.kind == body.kind() && body.data().is_ok_and(|data| data == event.data)
        };
        let found = written.windows(bodies.len().max(1)).find(|window| {
            window.len() == bodies.len()
                && window
                    .iter()
                    .zip(bodies)
                    .all(|(event, body)| is_same(event, body))
        });
        let Some(last) = found.and_then(<[_]>::last) else {
            return Ok(None);
        };
        self.log.catch_up(self.session).await?;
        Ok(Some(last.seq))
    }

    /// Returns the messages that an earlier attempt took although its response was lost.
    async fn steered(&self) -> Result<Vec<EventBody>, StoreError> {
        let written = self.after_sure().await?;
        let taken: Vec<MessageId> = written
            .iter()
            .filter_map(|event| event.read().ok())
            .filter_map(|event| taken_by(&event, self.turn))
            .collect();
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        self.log.catch_up(self.session).await?;
        if let Some(last) = written.last() {
            self.sure.fetch_max(last.seq, Ordering::Relaxed);
        }
        let log = history::read(&self.store, self.session).await?;
        let said = log.into_iter().map(|event| event.body);
        Ok(said
            .filter(|body| matches!(body, EventBody::Message(said) if taken.contains(&said.id)))
            .collect())
    }

    async fn after_sure(&self) -> Result<Vec<LoggedEvent>, StoreError> {
        let mut after = self.sure.load(Ordering::Relaxed);
        let mut events = Vec::new();
        loop {
            let page = self.store.events(self.session, after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(events);
            };
            after = last.seq;
            events.extend(page);
        }
    }

    async fn take_steering_once(&self, is_retry: bool) -> Result<Vec<EventBody>, StoreError> {
        let mut said = if is_retry {
            self.steered().await?
        } else {
            Vec::new()
        };
        if self.store.is_steered(self.session).await? {
            let take = TakeSteering { turn: self.turn };
            if let Ok(steering) = self.log.commit(self.session, take).await? {
                self.sure.fetch_max(steering.last_seq, Ordering::Relaxed);
                said.extend(steering.messages.into_iter().map(message_said));
            }
        }
        Ok(said)
    }
}

#[async_trait]
impl TurnLog for SessionLog {
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        self.append_answer(bodies, None).await
    }

    async fn append_answer(
        &self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError> {
        let mut n_tries = 0;
        let appended = until_answered(&self.shutdown, || {
            n_tries += 1;
            self.append_once(&bodies, original.as_ref(), n_tries > 1)
        });
        appended
            .await
            .map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError> {
        let mut n_tries = 0;
        let taken = until_answered(&self.shutdown, || {
            n_tries += 1;
            self.take_steering_once(n_tries > 1)
        });
        taken.await.map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError> {
        let after = self.last_lease_seq.load(Ordering::Relaxed);
        let events = until_answered(&self.shutdown, || {
            self.store.lease_events(self.session, after)
        });
        let events = events
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        if let Some(newest) = events.last() {
            self.last_lease_seq.store(newest.seq, Ordering::Relaxed);
        }
        let bodies = events.iter().map(|event| Ok(event.read()?.body));
        let bodies: Result<_, serde_json::Error> = bodies.collect();
        bodies.map_err(|error| TurnLogError(Box::new(error)))
    }
}

fn message_said(message: Message) -> EventBody {
    EventBody::Message(MessageSaid {
        id: message.id,
        role: message.role,
        content: message.content,
        author: message.author,
        author_name: message.author_name,
        delivery: message.delivery,
        model: message.model,
        effort: message.effort,
        turn: None,
        attachments: message.attachments,
        start_url: message.start_url,
    })
}

/// Returns the message that `turn` took with this event.
fn taken_by(event: &Event, turn: TurnId) -> Option<MessageId> {
    let EventBody::Status(status) = &event.body else {
        return None;
    };
    status.prompt.filter(|_| status.turn == Some(turn))
}
