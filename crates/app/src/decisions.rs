//! What sessions wait for: telling a turn what people decided, and settling what nobody did in time.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deskhand_agent::{Decisions, Settled, TurnLogError};
use deskhand_core::{
    decision::{Ask, Decision, DecisionState, Reply, Settlement},
    id::{DecisionId, SessionId, TurnId},
    policy::Policy,
};
use deskhand_store::{RaiseDecision, SettleDecision, SettleRefused, StoreError};
use tokio::sync::{Notify, watch};

use crate::{patience::until_answered, sessions::Shared};

/// How long to wait before trying again when the database did not answer.
const RETRY: Duration = Duration::from_secs(1);
/// The longest that nobody looks for what has expired. The clock may be set.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many are settled in one go.
const BATCH: u32 = 100;

/// Tells those who wait that some decision was raised or settled.
#[derive(Debug)]
pub(crate) struct DecisionNews {
    settled: watch::Sender<()>,
    raised: Notify,
}

impl Default for DecisionNews {
    fn default() -> Self {
        Self {
            settled: watch::Sender::new(()),
            raised: Notify::new(),
        }
    }
}

impl Shared {
    /// Settles a decision, if it is open; the session goes on.
    pub(crate) async fn settle(
        &self,
        session: SessionId,
        id: DecisionId,
        settlement: &Settlement,
        file: Option<&deskhand_core::decision::GivenFile>,
    ) -> Result<Result<(), SettleRefused>, StoreError> {
        let settle = SettleDecision {
            id,
            settlement,
            file,
        };
        let settled = self.log.commit(session, settle).await?;
        if settled.is_ok() {
            self.decision_news.settled.send_replace(());
            // It may have given more to all sessions of somebody.
            self.budget_news.send_replace(());
        }
        Ok(settled)
    }

    /// Settles an open decision whose time is over.
    pub(crate) async fn expire(&self, decision: &Decision) -> Result<(), StoreError> {
        let expired = Settlement::Expired {
            default: decision.ask.default.clone(),
        };
        // Somebody may have answered at the last moment.
        let _ = self
            .settle(decision.session, decision.id, &expired, None)
            .await?;
        Ok(())
    }

    /// Settles everything whose time is over; tells how long there is nothing more to settle.
    pub(crate) async fn settle_expired(&self) -> Result<Duration, StoreError> {
        loop {
            let expired = self.store.expired_decisions(self.clock.now(), BATCH);
            let expired = expired.await?;
            if expired.is_empty() {
                break;
            }
            for decision in &expired {
                self.expire(decision).await?;
            }
        }
        let next = self.store.next_expiry().await?;
        let wait = next.map(|next| {
            // What is over already needs no waiting.
            Duration::try_from(next.duration_since(self.clock.now())).unwrap_or_default()
        });
        Ok(wait.unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE))
    }

    /// Settles what expires, as long as the server runs.
    pub(crate) async fn keep_settling(&self) {
        let shutdown = self.tasks.shutdown().clone();
        while !shutdown.is_cancelled() {
            let wait = self.settle_expired().await.unwrap_or_else(|error| {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "decisions that expired could not be settled"
                );
                RETRY
            });
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = self.decision_news.raised.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

/// The people as a turn sees them.
#[derive(Debug)]
pub(crate) struct TurnDecisions {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
}

/// The session does something else by now.
#[derive(Debug, thiserror::Error)]
#[error("session {0} is not at work on this turn any more")]
struct NotAtWork(SessionId);

impl TurnDecisions {
    /// Asks, unless a try whose answer got lost has done it; tells whether the session was at work on the turn.
    async fn raise_once(
        &self,
        id: DecisionId,
        ask: &Ask,
        is_retry: bool,
    ) -> Result<bool, StoreError> {
        let Shared { store, log, .. } = &*self.shared;
        if is_retry && store.decision(self.session, id).await?.is_some() {
            log.catch_up(self.session).await?;
            return Ok(true);
        }
        let turn = self.turn;
        let raised = log.commit(self.session, RaiseDecision { turn, id, ask });
        Ok(raised.await?.is_ok())
    }

    /// What became of a decision, once it is settled.
    async fn look(&self, id: DecisionId) -> Result<Option<Settled>, StoreError> {
        let store = &self.shared.store;
        let Some(named) = store.decision(self.session, id).await? else {
            return Err(StoreError::Gone(format!("decision {id}")));
        };
        let decision = named.decision;
        if decision.state == DecisionState::Open {
            return Ok(None);
        }
        let file = match &decision.answer {
            Some(Reply::File(_)) => store.decision_file(id).await?,
            Some(Reply::Text(_) | Reply::Choices(_) | Reply::Yes(_)) | None => None,
        };
        Ok(Some(Settled {
            decision: id,
            is_answered: decision.state == DecisionState::Answered,
            reply: decision.answer,
            file,
        }))
    }
}

#[async_trait]
impl Decisions for TurnDecisions {
    async fn policy(&self) -> Result<Policy, TurnLogError> {
        let policy = until_answered(self.shared.tasks.shutdown(), || {
            self.shared.store.approvals(self.session)
        });
        let policy = policy
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        policy.ok_or_else(|| TurnLogError(Box::new(NotAtWork(self.session))))
    }

    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError> {
        let mut n_tries = 0;
        let raised = until_answered(self.shared.tasks.shutdown(), || {
            n_tries += 1;
            self.raise_once(id, &ask, n_tries > 1)
        });
        let raised = raised
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        if !raised {
            return Err(TurnLogError(Box::new(NotAtWork(self.session))));
        }
        self.shared.decision_news.raised.notify_one();
        Ok(())
    }

    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError> {
        let withdrawn = until_answered(self.shared.tasks.shutdown(), || {
            self.shared
                .settle(self.session, id, &Settlement::Withdrawn, None)
        });
        // It may be settled already.
        let _ = withdrawn
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        Ok(())
    }

    async fn settled(&self, id: DecisionId) -> Settled {
        // Before looking, so that no news is missed.
        let mut news = self.shared.decision_news.settled.subscribe();
        loop {
            match self.look(id).await {
                Ok(Some(settled)) => return settled,
                // The sender lives as long as this turn, so waiting cannot fail.
                Ok(None) => drop(news.changed().await),
                Err(error) => {
                    tracing::error!(session.id = %self.session, decision.id = %id, error = &error as &dyn std::error::Error, "a decision could not be read");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}
