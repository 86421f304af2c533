//! Which sessions are awake.
//!
//! A session is awake while somebody or something needs it and for a while after that; only then does
//! it have a sandbox. One that sleeps has nothing here: no task, no sandbox, no memory. Its files and
//! its log stay, and whoever needs it next wakes it.

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
use deskhand_store::StoreError;
use jiff::Timestamp;
use tokio::{sync::Notify, time::Instant};

use crate::{Notice, Sessions, in_use::Hold, live::Live};

/// The sessions that are awake.
#[derive(Debug, Default)]
pub(crate) struct Awake {
    lives: Mutex<HashMap<SessionId, Arc<Live>>>,
    /// Tells that there may be a session that nobody needs.
    pub(crate) rest: Arc<Notify>,
}

/// A session that stays awake until this is dropped.
#[derive(Debug)]
pub(crate) struct KeptAwake {
    pub(crate) live: Arc<Live>,
    _hold: Hold,
}

/// Why a session was not woken.
#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    #[error(
        "{used} of {limit} sessions are awake, and the agent works or somebody looks on in all of them: \
         wait, stop one or end one"
    )]
    TooMany {
        used: u64,
        limit: u32,
        /// When one of them goes to sleep if nobody needs it until then. Unknown while the agent works in all.
        frees_at: Option<Timestamp>,
    },
    #[error("the session could not be woken")]
    Store(#[from] StoreError),
}

/// What came of asking for a place among those that are awake.
enum Place {
    Given(KeptAwake),
    /// This one is in the way, and nobody needs it.
    Taken(Arc<Live>, Instant),
    None {
        used: u64,
        frees_in: Option<Duration>,
    },
}

impl Awake {
    pub(crate) fn get(&self, session: SessionId) -> Option<Arc<Live>> {
        self.lives().get(&session).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        self.lives().values().cloned().collect()
    }

    /// How many sessions of somebody are awake.
    pub(crate) fn n_of(&self, owner: UserId) -> u64 {
        let n = self
            .lives()
            .values()
            .filter(|live| live.owner() == owner)
            .count();
        u64::try_from(n).unwrap_or(u64::MAX)
    }

    pub(crate) fn remove(&self, live: &Live) {
        self.lives().remove(&live.session);
        live.gone.cancel();
    }

    /// A place for a session that sleeps. `make` is called while nobody else can.
    fn place(
        &self,
        session: &Session,
        limits: Limits,
        make: impl FnOnce() -> Arc<Live>,
    ) -> Option<Place> {
        let mut lives = self.lives();
        if lives.contains_key(&session.id) {
            return None;
        }
        let of_owner = || lives.values().filter(|live| live.owner() == session.owner);
        let n_used = of_owner().count();
        if n_used < usize::try_from(limits.awake_sessions).unwrap_or(usize::MAX) {
            let live = make();
            lives.insert(session.id, Arc::clone(&live));
            return KeptAwake::new(live).map(Place::Given);
        }
        let idle = || of_owner().filter_map(|live| Some((live, live.idle_since()?)));
        let longest = idle()
            .filter(|(live, _)| !live.in_use.is_looked_at())
            .min_by_key(|(_, since)| *since);
        if let Some((live, since)) = longest {
            return Some(Place::Taken(Arc::clone(live), since));
        }
        let ends = idle().map(|(live, since)| since + live.limits.idle);
        Some(Place::None {
            used: u64::try_from(n_used).unwrap_or(u64::MAX),
            frees_in: ends.min().map(|end| end.duration_since(Instant::now())),
        })
    }

    fn lives(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Live>>> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptAwake {
    fn new(live: Arc<Live>) -> Option<Self> {
        let hold = live.in_use.hold()?;
        Some(Self { live, _hold: hold })
    }
}

impl Sessions {
    /// Keeps a session awake, woken if it sleeps. When too many of its owner's are awake already, the
    /// one that nobody has needed for the longest time goes to sleep for it.
    pub(crate) async fn wake(&self, session: &Session) -> Result<KeptAwake, WakeError> {
        loop {
            if let Some(live) = self.awake.get(session.id) {
                match KeptAwake::new(Arc::clone(&live)) {
                    Some(kept) => return Ok(kept),
                    // It is just going to sleep.
                    None => live.gone.cancelled().await,
                }
                continue;
            }
            let limits = self.limits_of(session.owner).await?;
            let make = || Live::new(&self.shared, session, limits, &self.awake.rest);
            match self.awake.place(session, limits, make) {
                Some(Place::Given(kept)) => return Ok(kept),
                Some(Place::Taken(live, since)) => {
                    let reason = "Another session needed its place. Its files are kept.";
                    self.put_to_sleep(&live, since, reason).await;
                }
                Some(Place::None { used, frees_in }) => {
                    let (owner, limit) = (session.owner, limits.awake_sessions);
                    let frees_at = frees_in.map(|wait| self.shared.clock.now() + wait);
                    let error = WakeError::TooMany {
                        used,
                        limit,
                        frees_at,
                    };
                    let notice = Notice {
                        code: "too_many_awake",
                        message: error.to_string(),
                    };
                    self.shared.bus.notify(owner, &notice);
                    return Err(error);
                }
                None => {}
            }
        }
    }

    /// Keeps a session awake, however many are: what was begun must come to its end.
    pub(crate) async fn wake_anyway(&self, session: &Session) -> Result<KeptAwake, StoreError> {
        let limits = self.limits_of(session.owner).await?;
        let unbounded = Limits {
            awake_sessions: u32::MAX,
            ..limits
        };
        loop {
            let make = || Live::new(&self.shared, session, limits, &self.awake.rest);
            if let Some(Place::Given(kept)) = self.awake.place(session, unbounded, make) {
                return Ok(kept);
            }
            if let Some(live) = self.awake.get(session.id) {
                match KeptAwake::new(Arc::clone(&live)) {
                    Some(kept) => return Ok(kept),
                    None => live.gone.cancelled().await,
                }
            }
        }
    }

    /// Somebody looks at the session on a visible page.
    pub fn look_on(&self, session: SessionId) {
        if let Some(live) = self.awake.get(session) {
            live.in_use.look_on();
        }
    }

    /// Puts a session to sleep, unless somebody has needed it since `since`.
    pub(crate) async fn put_to_sleep(&self, live: &Arc<Live>, since: Instant, reason: &str) {
        if !live.in_use.close_unused(since) {
            return;
        }
        let (awake, live, reason) = (Arc::clone(&self.awake), Arc::clone(live), reason.to_owned());
        // A task of its own, since whoever asked for it may not stay until its end.
        let sleeping = self.shared.tasks.spawn("put to sleep", async move {
            live.end().await;
            live.desk.park(&reason).await;
            awake.remove(&live);
            tracing::info!(session.id = %live.session, "a session sleeps");
        });
        if let Err(error) = sleeping.await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a session was not put to sleep"
            );
        }
    }

    /// Lets a session go that is over, or was never made.
    pub(crate) async fn forget(&self, kept: KeptAwake) {
        kept.live.in_use.close();
        let awake = Arc::clone(&self.awake);
        let forgetting = self.shared.tasks.spawn("forget", async move {
            kept.live.end().await;
            awake.remove(&kept.live);
        });
        if let Err(error) = forgetting.await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a session was not let go"
            );
        }
    }
}
