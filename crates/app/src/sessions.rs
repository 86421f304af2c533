//! Sessions: creating, finding, changing and ending them, and reading their logs.

mod change;
mod create;
pub(crate) mod find;
mod reconcile;

use std::sync::Arc;

use deskhand_core::{
    budget::Budget,
    clock::Clock,
    event::LoggedEvent,
    id::{MessageId, SessionId, UserId},
    message::MessagePage,
    right::Right,
    session::{Phase, Session, SessionPage},
    viewer::Viewer,
};
use deskhand_store::{HoldWaiting, NoQueue, Store};
use tokio::sync::Notify;

pub use change::{BadInstructions, BadTitle, ChangeSession, ChangeSessionError};
pub use create::{CreateSession, CreateSessionError};
pub use find::FindError;

use self::find::{find, find_with};
use crate::{
    Feed, InternalError, NetworkAccess, SessionsFeed,
    catalog::Catalog,
    feed::{bus::Bus, log::Log},
    live::LiveSessions,
    people::limits::LimitTable,
    refusal::refusals,
    signals::{Signals, Topic},
    tool_servers::ToolServerAccess,
};

/// The longest title, in characters.
pub(crate) const LONGEST_TITLE: usize = 200;

/// All sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<SessionParts>);

/// The parts that sessions are made of and read with.
#[derive(Debug)]
pub(crate) struct SessionParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) bus: Arc<Bus>,
    pub(crate) live: LiveSessions,
    pub(crate) catalog: Catalog,
    pub(crate) limits: LimitTable,
    pub(crate) network: NetworkAccess,
    pub(crate) tool_servers: ToolServerAccess,
    pub(crate) signals: Signals,
    pub(crate) clock: Arc<dyn Clock>,
    /// The budget of a session for which no other was chosen.
    pub(crate) budget: Budget,
    /// Wakes the job that removes the pictures of deleted sessions.
    pub(crate) deleted: Arc<Notify>,
}

/// The reason why a turn was not stopped.
#[derive(Debug, thiserror::Error)]
pub enum StopTurnError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the agent is not working in session {0}")]
    NotRunning(SessionId),
}

refusals! {
    StopTurnError passes on Find;
    Self::NotRunning(_) => Conflict("not_running"),
}

impl Sessions {
    pub(crate) fn new(parts: SessionParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Finds a session that this viewer may see.
    pub async fn find(&self, viewer: Viewer, id: SessionId) -> Result<Session, FindError> {
        find(&self.0.store, viewer, id).await
    }

    /// Lists the sessions that this viewer may see, newest first.
    pub async fn list(
        &self,
        viewer: Viewer,
        before: Option<SessionId>,
        limit: u32,
    ) -> Result<SessionPage, InternalError> {
        Ok(self.0.store.sessions(viewer, before, limit).await?)
    }

    /// Ends a session for good: its turn, its sandbox and its files. The log stays.
    pub async fn terminate(&self, viewer: Viewer, id: SessionId) -> Result<(), FindError> {
        let session = find_with(&self.0.store, Right::Owner, viewer, id).await?;
        if session.phase == Phase::Terminated {
            return Ok(());
        }
        let guard = self.0.live.wake_anyway(&session).await?;
        Ok(self.0.live.terminate(guard).await?)
    }

    /// Ends a session and deletes everything that is stored about it: its log, its messages and its pictures.
    pub async fn delete(&self, viewer: Viewer, id: SessionId) -> Result<(), FindError> {
        self.terminate(viewer, id).await?;
        let people = self.0.store.people(id).await?;
        if !self.0.store.delete_session(id).await? {
            return Err(FindError::NoSession(id));
        }
        self.0.deleted.notify_one();
        self.0.bus.changed(id);
        for person in people {
            self.0.signals.send(Topic::Access(person.user));
        }
        Ok(())
    }

    /// Stops the running turn. Its end is in the log soon after. Messages that wait are held, since the agent would
    /// begin with the next one at once.
    pub async fn stop_turn(&self, viewer: Viewer, id: SessionId) -> Result<(), StopTurnError> {
        let session = find_with(&self.0.store, Right::Drive, viewer, id).await?;
        let is_running = matches!(session.phase, Phase::Running | Phase::Waiting);
        if is_running {
            // This comes first: the worker takes the next message as soon as the turn has ended.
            let by = viewer.user().unwrap_or(session.owner);
            let held = self.0.log.commit(id, HoldWaiting { by }).await;
            held.map_err(FindError::from)?
                .map_err(|NoQueue| FindError::NoSession(id))?;
        }
        if is_running && self.0.live.get(id).is_some_and(|live| live.stop_turn()) {
            Ok(())
        } else {
            Err(StopTurnError::NotRunning(id))
        }
    }

    /// Lists the messages of a session, oldest first.
    pub async fn messages(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, FindError> {
        find(&self.0.store, viewer, id).await?;
        Ok(self.0.store.messages(id, after, limit).await?)
    }

    /// Lists the events of a session after number `after`, oldest first.
    pub async fn events(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<LoggedEvent>, FindError> {
        find(&self.0.store, viewer, id).await?;
        Ok(self.0.store.events(id, after, limit).await?)
    }

    /// Follows the log of a session: the past after number `after`, then every new event.
    pub async fn follow(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: u64,
    ) -> Result<Feed, FindError> {
        let session = find(&self.0.store, viewer, id).await?;
        if after > session.last_seq {
            return Err(FindError::AfterNewest {
                after,
                newest: session.last_seq,
            });
        }
        Ok(self.0.log.follow(id, after).await?)
    }

    /// Follows all sessions of a user.
    pub fn follow_all(&self, user: UserId) -> SessionsFeed {
        SessionsFeed::new(&self.0.bus, &self.0.store, user)
    }

    /// Records that a visible page shows a session.
    pub fn note_visible(&self, id: SessionId) {
        self.0.live.note_visible(id);
    }
}
