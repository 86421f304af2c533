//! The budgets as a turn sees them.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_agent::{Budgets, TurnLogError};
use deskhand_core::{budget::Accounts, id::SessionId, session::Session};
use deskhand_store::StoreError;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::TurnParts;
use crate::{
    database_retry::until_answered,
    money::spending::Spending,
    signals::{Signals, Topic, Waiter},
};

/// The longest pause between two checks of the budgets: a day ends without a signal.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct TurnBudgets {
    spending: Spending,
    signals: Signals,
    session: SessionId,
    shutdown: CancellationToken,
    waiters: Mutex<Waiters>,
}

/// The signals after which the budgets may have changed.
#[derive(Debug)]
struct Waiters {
    session: Waiter,
    owner: Waiter,
}

impl TurnBudgets {
    pub(crate) fn new(parts: &TurnParts, session: &Session) -> Self {
        let signals = parts.signals.clone();
        let waiters = Waiters {
            session: signals.subscribe(Topic::SessionBudget(session.id)),
            owner: signals.subscribe(Topic::UserBudget(session.owner)),
        };
        Self {
            spending: parts.spending.clone(),
            signals,
            session: session.id,
            shutdown: parts.tasks.shutdown().clone(),
            waiters: Mutex::new(waiters),
        }
    }

    async fn read(&self) -> Result<Accounts, StoreError> {
        loop {
            let (owner, accounts) = self.spending.accounts(self.session).await?;
            let topic = Topic::UserBudget(owner);
            // A task that waits for a change holds the lock, and is told to read again.
            let Ok(mut waiters) = self.waiters.try_lock() else {
                return Ok(accounts);
            };
            if waiters.owner.topic() == topic {
                return Ok(accounts);
            }
            // The session has another owner. It is read again, so that no change is missed between the two.
            waiters.owner = self.signals.subscribe(topic);
        }
    }
}

#[async_trait]
impl Budgets for TurnBudgets {
    async fn accounts(&self) -> Result<Accounts, TurnLogError> {
        let accounts = until_answered(&self.shutdown, || self.read());
        accounts
            .await
            .map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn changed(&self) {
        let mut waiters = self.waiters.lock().await;
        let Waiters { session, owner } = &mut *waiters;
        tokio::select! {
            () = session.signalled() => {}
            () = owner.signalled() => {}
            () = tokio::time::sleep(LONGEST_PAUSE) => {}
        }
    }
}
