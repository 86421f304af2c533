//! Spending: the budgets of sessions and users for models, and their usage.

use std::sync::Arc;

use deskhand_core::{
    budget::{Account, Accounts, Amount},
    clock::Clock,
    id::{SessionId, UserId},
};
use deskhand_store::{Store, StoreError};
use jiff::{Timestamp, ToSpan, tz::TimeZone};

use crate::{InternalError, people::limits::LimitTable};

/// The accounts of all sessions and users. Clones share them.
#[derive(Debug, Clone)]
pub struct Spending {
    store: Store,
    limits: LimitTable,
    clock: Arc<dyn Clock>,
}

/// The model usage of all sessions of a user.
#[derive(Debug, Clone, Copy)]
pub struct UserUse {
    /// The usage since midnight UTC, and the limit until the next midnight.
    pub today: Account,
    /// The usage since the first of the month.
    pub month: Amount,
    /// The beginning of the next day.
    pub next_day_at: Timestamp,
}

impl Spending {
    pub(crate) fn new(store: Store, limits: LimitTable, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            limits,
            clock,
        }
    }

    /// Returns the usage of a user's sessions, and today's limit.
    pub async fn of_user(&self, user: UserId) -> Result<UserUse, InternalError> {
        let now = self.clock.now();
        Ok(UserUse {
            today: self.day_account(user).await?,
            month: self.store.month_use(user, now).await?,
            next_day_at: next_day(now),
        })
    }

    /// Returns the accounts that a session spends from, and its owner.
    pub(crate) async fn accounts(
        &self,
        session: SessionId,
    ) -> Result<(UserId, Accounts), StoreError> {
        let found = self.store.session_account(session).await?;
        let (owner, account) =
            found.ok_or_else(|| StoreError::Gone(format!("session {session}")))?;
        let accounts = Accounts {
            session: account,
            day: self.day_account(owner).await?,
        };
        Ok((owner, accounts))
    }

    /// Returns today's account of a user.
    pub(crate) async fn day_account(&self, user: UserId) -> Result<Account, StoreError> {
        let limits = self.limits.of(user).await?;
        let today = self.store.day_use(user, self.clock.now()).await?;
        Ok(Account {
            budget: limits.day,
            granted: today.granted,
            used: today.used,
        })
    }
}

fn next_day(now: Timestamp) -> Timestamp {
    let today = now.to_zoned(TimeZone::UTC).date();
    let tomorrow = today.saturating_add(1.day()).to_zoned(TimeZone::UTC);
    // Only the end of all time has no next day.
    tomorrow.map_or(Timestamp::MAX, |tomorrow| tomorrow.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_day_begins_at_midnight() {
        let next = |now: &str| next_day(now.parse().unwrap()).to_string();
        assert_eq!(next("2026-12-31T23:59:59.999Z"), "2027-01-01T00:00:00Z");
        assert_eq!(next("2026-11-16T00:00:00Z"), "2026-11-17T00:00:00Z");
    }
}
