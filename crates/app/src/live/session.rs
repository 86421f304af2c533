//! One session that is awake, and the guard that keeps it so.

use std::{
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::{
    id::{MessageId, SessionId, TurnId, UserId},
    limits::Limits,
};
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{activity::Activity, desk::SessionDesk};
use crate::{money::gateway::room::BodyRoom, tool_servers::SessionServers, turns::Turns};

/// A session that is awake: its desk, its worker and the people at it.
#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(crate) id: SessionId,
    pub(crate) desk: Arc<SessionDesk>,
    /// The connections to its MCP servers.
    pub(super) servers: Arc<SessionServers>,
    pub(crate) activity: Activity,
    /// The owner's limits at the time it was woken.
    pub(crate) limits: Limits,
    /// Fires when it has gone to sleep.
    pub(crate) gone: CancellationToken,
    /// Bounds the model calls that its programs have under way.
    pub(crate) gateway_calls: Arc<Semaphore>,
    /// Bounds the requests of these calls, in bytes.
    pub(crate) gateway_room: BodyRoom,
    pub(super) turns: Turns,
    /// Asks the worker to end.
    pub(super) ending: CancellationToken,
    pub(super) owner: Mutex<UserId>,
    pub(super) current: Mutex<Option<CurrentTurn>>,
}

/// The turn that is running or about to run.
#[derive(Debug)]
pub(super) struct CurrentTurn {
    pub(super) id: TurnId,
    pub(super) stop: CancellationToken,
    /// The message it works on, once that is known.
    pub(super) prompt: Option<MessageId>,
    /// Set when it was stopped for a message that could not wait.
    pub(super) is_interrupted: bool,
}

/// Keeps a session awake until it is dropped.
#[derive(Debug)]
pub(crate) struct AwakeGuard(Arc<LiveSession>);

impl AwakeGuard {
    /// Returns `None` if the session is going to sleep already.
    pub(super) fn new(live: Arc<LiveSession>) -> Option<Self> {
        live.activity.acquire().then(|| Self(live))
    }

    /// Tells the worker that there is a prompt to take.
    pub(crate) fn nudge(&self) {
        self.0.begin_work(None);
    }

    /// Resumes a turn that an earlier server left.
    pub(crate) fn take_up(&self, unfinished: super::Unfinished) {
        self.0.begin_work(Some(unfinished));
    }
}

impl Deref for AwakeGuard {
    type Target = LiveSession;

    fn deref(&self) -> &LiveSession {
        &self.0
    }
}

impl Drop for AwakeGuard {
    fn drop(&mut self) {
        self.0.activity.release();
    }
}

impl LiveSession {
    /// Returns the time since which the session has been idle. Returns `None` while it is used, or if it is going to
    /// sleep.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        if self.desk.is_held() {
            self.activity.touch();
            return None;
        }
        self.activity.idle_since()
    }

    pub(crate) fn owner(&self) -> UserId {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_owner(&self, owner: UserId) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }

    /// Stops the running turn. Returns `false` if there is none.
    ///
    /// Programs that the agent left running lose the network, even if a person has just used a terminal.
    pub(crate) fn stop_turn(&self) -> bool {
        self.activity.end_directed();
        self.current().as_ref().is_some_and(|turn| {
            turn.stop.cancel();
            true
        })
    }

    /// Returns the turn that the agent works on, and the token that fires when it is stopped.
    pub(crate) fn at_work(&self) -> Option<(TurnId, CancellationToken)> {
        let turn = self.current();
        let turn = turn.as_ref().filter(|turn| turn.prompt.is_some())?;
        (!turn.stop.is_cancelled()).then(|| (turn.id, turn.stop.clone()))
    }

    /// Returns the token that fires when the session or the server ends.
    pub(crate) fn ending(&self) -> CancellationToken {
        self.ending.clone()
    }

    /// Tells the running turn about a message that is to steer it.
    pub(crate) fn steer(&self) {
        if let Some((turn, _)) = self.at_work() {
            self.turns.steer(turn);
        }
    }

    /// Ends the running turn, unless it works on this very message.
    pub(crate) fn interrupt(&self, message: MessageId) {
        if let Some(turn) = &mut *self.current()
            && turn.prompt.is_some_and(|prompt| prompt != message)
        {
            turn.is_interrupted = true;
            turn.stop.cancel();
        }
    }

    /// Ends the worker with its turn, and waits for it.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        self.activity.rested().await;
    }

    pub(super) fn current(&self) -> MutexGuard<'_, Option<CurrentTurn>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
