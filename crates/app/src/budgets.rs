//! What sessions and people may use, and what they have used.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deskhand_agent::{Budgets, TurnLogError};
use deskhand_core::{
    budget::{Account, Accounts, Amount},
    id::{SessionId, UserId},
};
use deskhand_store::StoreError;
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use tokio::sync::{Mutex, watch};

use crate::{Sessions, patience::until_answered, sessions::Shared};

/// The longest that nobody looks whether there is room again: a day ends by itself.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What somebody's sessions have used.
#[derive(Debug, Clone, Copy)]
pub struct UserUse {
    /// Since midnight UTC, and what may be used until the next.
    pub today: Account,
    /// Since the first of the month.
    pub month: Amount,
    /// When the next day begins.
    pub next_day_at: Timestamp,
}

impl Sessions {
    /// What somebody's sessions have used, and may use today.
    pub async fn user_use(&self, user: UserId) -> Result<UserUse, StoreError> {
        let Shared { store, clock, .. } = &*self.shared;
        let now = clock.now();
        Ok(UserUse {
            today: self.shared.day_account(user).await?,
            month: store.month_use(user, now).await?,
            next_day_at: next_day(now),
        })
    }
}

impl Shared {
    /// Whose money and tokens a session uses, and how much of it.
    pub(crate) async fn accounts(&self, session: SessionId) -> Result<Accounts, StoreError> {
        let found = self.store.session_account(session).await?;
        let (owner, account) =
            found.ok_or_else(|| StoreError::Gone(format!("session {session}")))?;
        Ok(Accounts {
            session: account,
            day: self.day_account(owner).await?,
        })
    }

    async fn day_account(&self, user: UserId) -> Result<Account, StoreError> {
        let own = self.store.user_limits(user).await?;
        let today = self.store.day_use(user, self.clock.now()).await?;
        Ok(Account {
            budget: self.settings.limits.with(own).day,
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

/// The budgets as a turn sees them.
#[derive(Debug)]
pub(crate) struct TurnBudgets {
    shared: Arc<Shared>,
    session: SessionId,
    news: Mutex<watch::Receiver<()>>,
}

impl TurnBudgets {
    pub(crate) fn new(shared: &Arc<Shared>, session: SessionId) -> Self {
        Self {
            shared: Arc::clone(shared),
            session,
            news: Mutex::new(shared.budget_news.subscribe()),
        }
    }
}

#[async_trait]
impl Budgets for TurnBudgets {
    async fn accounts(&self) -> Result<Accounts, TurnLogError> {
        let accounts = until_answered(self.shared.tasks.shutdown(), || {
            self.shared.accounts(self.session)
        });
        accounts
            .await
            .map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn changed(&self) {
        let mut news = self.news.lock().await;
        tokio::select! {
            // The sender lives as long as this turn, so waiting cannot fail.
            _ = news.changed() => {}
            () = tokio::time::sleep(LONGEST_PAUSE) => {}
        }
    }
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
