//! Wakes sessions.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_core::{limits::Limits, session::Session};
use deskhand_store::StoreError;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    AwakeGuard, LiveSessions, activity::Activity, desk::SessionDesk, registry::Placement,
    session::LiveSession,
};
use crate::{
    InternalError, Notice,
    money::gateway::{MOST_CALLS, room::BodyRoom},
    refusal::{FreesAt, refusals},
};

/// The longest wait for a session that may be idle in a moment.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The reason why a session was not woken.
#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    #[error(
        "{used} of {limit} sessions are awake, and all of them are in use: wait, or stop or end one"
    )]
    TooMany {
        used: u64,
        limit: u32,
        /// The time at which the next of them goes to sleep if it stays idle. Unknown while the agent works in all of
        /// them.
        frees: Option<FreesAt>,
    },
    #[error("could not wake the session")]
    Internal(#[source] InternalError),
}

refusals! {
    WakeError passes on Internal;
    Self::TooMany { used, limit, frees } => TooMany(
        "too_many_awake",
        { "used": used, "limit": limit, "frees_at": frees.map(|frees| frees.at) };
        retry frees.map(|frees| frees.wait)
    ),
}

impl LiveSessions {
    /// Keeps a session awake, and wakes it if it sleeps. If too many sessions of its owner are awake, the one that
    /// has been idle for the longest time goes to sleep to make room.
    pub(crate) async fn wake(&self, session: &Session) -> Result<AwakeGuard, WakeError> {
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            if let Some(guard) = self.keep(session).await {
                return Ok(guard);
            }
            let limits = self.0.parts.limits.of(session.owner).await?;
            let make = || self.make(session, limits);
            match self.0.registry.place(session, limits, make) {
                Some(Placement::Given(guard)) => return Ok(guard),
                Some(Placement::Idle(live, since)) => {
                    let reason = "The desktop was stopped to make room for another session. Its files are kept.";
                    self.put_to_sleep(&live, since, reason).await;
                }
                // The log may already say that its turn is over, so that people count on its place.
                Some(Placement::Settling(live))
                    if timeout_at(deadline, live.activity.settled()).await.is_ok() => {}
                Some(Placement::Settling(_)) => {
                    return Err(self.refuse(session, limits, None));
                }
                Some(Placement::Full { frees_in }) => {
                    return Err(self.refuse(session, limits, frees_in));
                }
                // Another caller was faster.
                None => {}
            }
        }
    }

    /// Keeps a session awake even above the limit: work in progress must come to its end.
    pub(crate) async fn wake_anyway(&self, session: &Session) -> Result<AwakeGuard, StoreError> {
        let limits = self.0.parts.limits.of(session.owner).await?;
        let unbounded = Limits {
            awake_sessions: u32::MAX,
            ..limits
        };
        loop {
            let make = || self.make(session, limits);
            if let Some(Placement::Given(guard)) = self.0.registry.place(session, unbounded, make) {
                return Ok(guard);
            }
            if let Some(guard) = self.keep(session).await {
                return Ok(guard);
            }
        }
    }

    /// Keeps an awake session awake. Waits for one that is going to sleep, and returns `None` for a sleeping one.
    async fn keep(&self, session: &Session) -> Option<AwakeGuard> {
        let live = self.get(session.id)?;
        let guard = AwakeGuard::new(Arc::clone(&live));
        if guard.is_none() {
            live.gone.cancelled().await;
        }
        guard
    }

    /// Notifies the owner on all their clients that no place is free.
    fn refuse(&self, session: &Session, limits: Limits, frees_in: Option<Duration>) -> WakeError {
        let parts = &self.0.parts;
        let error = WakeError::TooMany {
            used: self.n_of(session.owner),
            limit: limits.awake_sessions,
            frees: frees_in.map(|wait| FreesAt {
                at: parts.clock.now() + wait,
                wait,
            }),
        };
        parts.bus.notify(session.owner, &Notice::of(&error));
        error
    }

    /// Creates a waking session. Nothing is started for it yet.
    fn make(&self, session: &Session, limits: Limits) -> Arc<LiveSession> {
        let parts = &self.0.parts;
        let desk = SessionDesk::new(
            session.id,
            (session.computer, parts.turns.size_of(session.computer)),
            parts.computers.clone(),
            parts.log.clone(),
            parts.tasks.clone(),
            limits.life,
            self.attendance(session.id),
        );
        Arc::new(LiveSession {
            id: session.id,
            desk,
            activity: Activity::new(Arc::clone(&self.0.idle)),
            limits,
            gone: CancellationToken::new(),
            gateway_calls: Arc::new(Semaphore::new(MOST_CALLS)),
            gateway_room: BodyRoom::of_session(),
            turns: parts.turns.clone(),
            ending: parts.tasks.shutdown().child_token(),
            owner: Mutex::new(session.owner),
            current: Mutex::default(),
        })
    }
}
