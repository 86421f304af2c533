//! How much of the server somebody may use, and how much of it they do.

use deskhand_core::{
    budget::BadBudget,
    id::UserId,
    limits::{Limits, UserLimits},
};
use deskhand_store::StoreError;
use jiff::Timestamp;

use crate::{Sessions, sessions::DAY};

/// What somebody may use, and what they use of it.
#[derive(Debug, Clone, Copy)]
pub struct LimitsInUse {
    pub limits: Limits,
    /// Their sessions that are awake.
    pub n_awake: u64,
    /// The sessions they made in the last 24 hours.
    pub n_today: u64,
    /// When they may make another session, if they may not now.
    pub frees_at: Option<Timestamp>,
}

/// Why somebody's limits were not told or set.
#[derive(Debug, thiserror::Error)]
pub enum SetLimitsError {
    #[error("there is no user {0}")]
    NoUser(UserId),
    #[error("{what} is {least} to {most}, not {given}")]
    OutOfBounds {
        what: &'static str,
        least: u32,
        most: u32,
        given: u32,
    },
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error("the limits could not be stored")]
    Store(#[from] StoreError),
}

impl Sessions {
    /// What holds for somebody.
    pub(crate) async fn limits_of(&self, user: UserId) -> Result<Limits, StoreError> {
        let own = self.shared.store.user_limits(user).await?;
        Ok(self.shared.settings.limits.with(own))
    }

    /// What somebody may use, and what they use of it.
    pub async fn limits_in_use(&self, user: UserId) -> Result<LimitsInUse, StoreError> {
        let limits = self.limits_of(user).await?;
        let since = self.shared.clock.now() - DAY;
        let made = self.shared.store.made_lately(user, limits, since).await?;
        Ok(LimitsInUse {
            limits,
            n_awake: self.awake.n_of(user),
            n_today: made.n_sessions,
            frees_at: made.in_the_way.and_then(|at| at.checked_add(DAY).ok()),
        })
    }

    /// What was decided for somebody.
    pub async fn user_limits(&self, user: UserId) -> Result<UserLimits, SetLimitsError> {
        self.known(user).await?;
        Ok(self.shared.store.user_limits(user).await?)
    }

    /// Decides for somebody, instead of what was decided before. How long their sessions stay awake
    /// changes for each when it wakes next.
    pub async fn set_user_limits(
        &self,
        user: UserId,
        limits: UserLimits,
    ) -> Result<(), SetLimitsError> {
        self.known(user).await?;
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
        self.shared.store.set_user_limits(user, limits).await?;
        self.shared.budget_news.send_replace(());
        Ok(())
    }

    async fn known(&self, user: UserId) -> Result<(), SetLimitsError> {
        match self.shared.store.user(user).await? {
            Some(_) => Ok(()),
            None => Err(SetLimitsError::NoUser(user)),
        }
    }
}
