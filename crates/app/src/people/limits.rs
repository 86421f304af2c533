//! Limits: a user's share of the server, and their usage of it.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    audit::Requester,
    budget::BadBudget,
    clock::Clock,
    id::UserId,
    limits::{Limits, UserLimits},
};
use deskhand_store::{Store, StoreError};
use jiff::Timestamp;

use crate::{
    InternalError,
    live::LiveSessions,
    refusal::refusals,
    signals::{Signals, Topic},
};

/// The time over which new sessions are counted.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// Looks up the limits that apply to a user. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct LimitTable {
    store: Store,
    /// The limits of users for whom no others were set.
    defaults: Limits,
}

/// The limits of all users. Clones share them.
#[derive(Debug, Clone)]
pub struct Quotas {
    store: Store,
    table: LimitTable,
    live: LiveSessions,
    signals: Signals,
    clock: Arc<dyn Clock>,
}

/// The limits of a user, and their usage.
#[derive(Debug, Clone, Copy)]
pub struct LimitsInUse {
    pub limits: Limits,
    /// Their awake sessions.
    pub n_awake: u64,
    /// The sessions that they created in the last 24 hours.
    pub n_today: u64,
    /// The time from which they may create another session, if they may not now.
    pub frees_at: Option<Timestamp>,
}

/// The reason why the limits of a user were not returned or set.
#[derive(Debug, thiserror::Error)]
pub enum SetLimitsError {
    #[error("there is no user {0}")]
    NoUser(UserId),
    #[error("{what} must be from {least} to {most}, not {given}")]
    OutOfBounds {
        what: &'static str,
        least: u32,
        most: u32,
        given: u32,
    },
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error("could not store the limits")]
    Internal(#[source] InternalError),
}

refusals! {
    SetLimitsError passes on Internal;
    Self::NoUser(_) => NotFound("no_user"),
    Self::OutOfBounds { .. } | Self::BadBudget(_) => Invalid("malformed"),
}

impl LimitTable {
    pub(crate) fn new(store: Store, defaults: Limits) -> Self {
        Self { store, defaults }
    }

    /// Returns the limits that apply to a user.
    pub(crate) async fn of(&self, user: UserId) -> Result<Limits, StoreError> {
        let own = self.store.user_limits(user).await?;
        Ok(self.defaults.with(own))
    }
}

impl Quotas {
    pub(crate) fn new(
        store: Store,
        table: LimitTable,
        live: LiveSessions,
        signals: Signals,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            table,
            live,
            signals,
            clock,
        }
    }

    /// Returns the limits of a user, and their usage.
    pub async fn in_use(&self, user: UserId) -> Result<LimitsInUse, InternalError> {
        let limits = self.table.of(user).await?;
        let since = self.clock.now() - DAY;
        let made = self.store.made_lately(user, limits, since).await?;
        Ok(LimitsInUse {
            limits,
            n_awake: self.live.n_of(user),
            n_today: made.n_sessions,
            frees_at: made.in_the_way.and_then(|at| at.checked_add(DAY).ok()),
        })
    }

    /// Returns the limits that an administrator set for a user.
    pub async fn set_for(&self, user: UserId) -> Result<UserLimits, SetLimitsError> {
        self.check_user(user).await?;
        Ok(self.store.user_limits(user).await?)
    }

    /// Sets the limits of a user, in place of those set before. The idle timeout of an awake session changes when it
    /// wakes next.
    pub async fn set(
        &self,
        by: Requester,
        user: UserId,
        limits: UserLimits,
    ) -> Result<(), SetLimitsError> {
        self.check_user(user).await?;
        for (what, given, (least, most)) in [
            ("awake_sessions", limits.awake_sessions, (0, 10_000)),
            ("sessions_per_day", limits.sessions_per_day, (0, 1_000_000)),
            ("idle_seconds", limits.idle_seconds, (1, 2_592_000)),
            ("life_seconds", limits.life_seconds, (1, 2_592_000)),
        ] {
            if let Some(given) = given.filter(|given| !(least..=most).contains(given)) {
                return Err(SetLimitsError::OutOfBounds {
                    what,
                    least,
                    most,
                    given,
                });
            }
        }
        limits.day.check()?;
        let stamp = by.at(self.clock.now());
        self.store.set_user_limits(user, limits, stamp).await?;
        self.signals.send(Topic::UserBudget(user));
        Ok(())
    }

    async fn check_user(&self, user: UserId) -> Result<(), SetLimitsError> {
        match self.store.user(user).await? {
            Some(_) => Ok(()),
            None => Err(SetLimitsError::NoUser(user)),
        }
    }
}
