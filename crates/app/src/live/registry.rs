//! The map of awake sessions, and the places that each owner has among them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    id::{SessionId, UserId},
    limits::Limits,
    session::Session,
};
use tokio::time::Instant;

use super::session::{AwakeGuard, LiveSession};

/// The awake sessions, by id.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<HashMap<SessionId, Arc<LiveSession>>>);

/// The result of a request for a place among the awake sessions.
pub(super) enum Placement {
    Given(AwakeGuard),
    /// Another session of the owner has the place, idle since this time.
    Idle(Arc<LiveSession>, Instant),
    /// Another session of the owner may be idle in a moment: its worker is between turns.
    Settling(Arc<LiveSession>),
    /// All places are taken. One is free after this time, if that is known.
    Full {
        frees_in: Option<Duration>,
    },
}

impl Registry {
    pub(super) fn get(&self, session: SessionId) -> Option<Arc<LiveSession>> {
        self.sessions().get(&session).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<LiveSession>> {
        self.sessions().values().cloned().collect()
    }

    pub(super) fn n_of(&self, owner: UserId) -> u64 {
        let n = self
            .sessions()
            .values()
            .filter(|live| live.owner() == owner)
            .count();
        u64::try_from(n).unwrap_or(u64::MAX)
    }

    pub(super) fn remove(&self, live: &LiveSession) {
        let mut sessions = self.sessions();
        // It may have been removed already, and woken again since.
        if sessions
            .get(&live.id)
            .is_some_and(|found| std::ptr::eq(Arc::as_ptr(found), live))
        {
            sessions.remove(&live.id);
        }
        drop(sessions);
        live.gone.cancel();
    }

    /// Looks for a place for a sleeping session. Returns `None` if it has woken in the meantime. `make` is called
    /// under the lock, so that a session is made once.
    pub(super) fn place(
        &self,
        session: &Session,
        limits: Limits,
        make: impl FnOnce() -> Arc<LiveSession>,
    ) -> Option<Placement> {
        let mut sessions = self.sessions();
        if sessions.contains_key(&session.id) {
            return None;
        }
        let of_owner = || {
            sessions
                .values()
                .filter(|live| live.owner() == session.owner)
        };
        let n_used = of_owner().count();
        if n_used < usize::try_from(limits.awake_sessions).unwrap_or(usize::MAX) {
            let live = make();
            sessions.insert(session.id, Arc::clone(&live));
            return AwakeGuard::new(live).map(Placement::Given);
        }
        // No place is free: the session that has been idle for the longest time makes room.
        let idle = || of_owner().filter_map(|live| Some((live, live.idle_since()?)));
        let longest = idle()
            .filter(|(live, _)| !live.activity.is_visible())
            .min_by_key(|(_, since)| *since);
        if let Some((live, since)) = longest {
            return Some(Placement::Idle(Arc::clone(live), since));
        }
        let settling =
            of_owner().find(|live| live.activity.is_between_turns() && !live.activity.is_visible());
        if let Some(live) = settling {
            return Some(Placement::Settling(Arc::clone(live)));
        }
        let ends = idle().map(|(live, since)| since + live.limits.idle);
        Some(Placement::Full {
            frees_in: ends.min().map(|end| end.duration_since(Instant::now())),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<LiveSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
