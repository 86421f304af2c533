//! Awake sessions, with everything they have in memory.
//!
//! A session is awake while it is used and for a while after that; only then does it have a sandbox.
//! A sleeping session has nothing here. Its files and its log stay, and the next use wakes it.

pub(crate) mod activity;
pub(crate) mod attendance;
pub(crate) mod desk;
pub(crate) mod presence;
pub(crate) mod registry;
pub(crate) mod session;
mod sleep;
mod wake;
mod worker;

use std::sync::Arc;

use deskhand_core::{
    clock::Clock,
    id::{SessionId, UserId},
    tasks::Tasks,
};
use tokio::sync::Notify;

use self::{
    attendance::{Attendance, Attendances},
    registry::Registry,
    session::LiveSession,
};
use crate::{
    feed::{bus::Bus, log::Log},
    people::limits::LimitTable,
    session_computer::{ComputerStarter, SessionComputer},
    tool_servers::ToolServerAccess,
    turns::Turns,
};

pub use self::wake::WakeError;
pub(crate) use self::{session::AwakeGuard, worker::Unfinished};

/// The awake sessions. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct LiveSessions(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    attendances: Attendances,
    parts: LiveParts,
    /// Notifies the keeper that there may be an idle session.
    idle: Arc<Notify>,
}

/// The parts that sessions are woken with.
#[derive(Debug)]
pub(crate) struct LiveParts {
    pub(crate) turns: Turns,
    pub(crate) computers: ComputerStarter,
    pub(crate) tool_servers: ToolServerAccess,
    pub(crate) limits: LimitTable,
    pub(crate) log: Log,
    pub(crate) bus: Arc<Bus>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
}

impl LiveSessions {
    pub(crate) fn new(parts: LiveParts) -> Self {
        Self(Arc::new(Inner {
            registry: Registry::default(),
            attendances: Attendances::default(),
            parts,
            idle: Arc::default(),
        }))
    }

    /// Returns a session if it is awake.
    pub(crate) fn get(&self, session: SessionId) -> Option<Arc<LiveSession>> {
        self.0.registry.get(session)
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveSession>> {
        self.0.registry.all()
    }

    /// Counts the awake sessions of `owner`.
    pub(crate) fn n_of(&self, owner: UserId) -> u64 {
        self.0.registry.n_of(owner)
    }

    /// Returns the computer of a session if it is running at this moment.
    pub(crate) fn running_computer(&self, session: SessionId) -> Option<Arc<SessionComputer>> {
        self.get(session)?.desk.running()
    }

    /// Returns the attendance of a session, asleep or awake: its connected people and the holder of control.
    pub(crate) fn attendance(&self, session: SessionId) -> Arc<Attendance> {
        self.0.attendances.of(session)
    }

    /// Returns the nudge of the keeper: it fires when a session may have become idle.
    pub(crate) fn idle(&self) -> &Arc<Notify> {
        &self.0.idle
    }
}
