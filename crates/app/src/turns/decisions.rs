//! The people who decide, as a turn sees them.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_agent::{Settled, TurnLogError};
use deskhand_core::{
    decision::{Ask, DecisionState, Reply, Settlement},
    id::{DecisionId, SessionId, TurnId},
    policy::{Policy, Reach},
};
use deskhand_store::{RaiseDecision, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::TurnParts;
use crate::{
    database_retry::until_answered,
    decisions::Decisions,
    feed::log::Log,
    session_computer::ComputerStarter,
    signals::{Signals, Topic},
};

/// The pause before a retry if the database did not respond.
const RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct TurnDecisions {
    store: Store,
    computers: ComputerStarter,
    log: Log,
    decisions: Decisions,
    signals: Signals,
    shutdown: CancellationToken,
    session: SessionId,
    turn: TurnId,
}

/// The error if the session works on another turn, or on none.
#[derive(Debug, thiserror::Error)]
#[error("session {0} is no longer working on this turn")]
struct NotAtWork(SessionId);

impl TurnDecisions {
    pub(crate) fn new(parts: &TurnParts, session: SessionId, turn: TurnId) -> Self {
        Self {
            store: parts.store.clone(),
            computers: parts.computers.clone(),
            log: parts.log.clone(),
            decisions: parts.decisions.clone(),
            signals: parts.signals.clone(),
            shutdown: parts.tasks.shutdown().clone(),
            session,
            turn,
        }
    }

    /// Raises a decision, unless an attempt whose response was lost has done so. Returns `false` if the session no
    /// longer works on the turn.
    async fn raise_once(
        &self,
        id: DecisionId,
        ask: &Ask,
        is_retry: bool,
    ) -> Result<bool, StoreError> {
        let Self { store, log, .. } = self;
        if is_retry && store.decision(self.session, id).await?.is_some() {
            log.catch_up(self.session).await?;
            return Ok(true);
        }
        let turn = self.turn;
        let raised = log.commit(self.session, RaiseDecision { turn, id, ask });
        Ok(raised.await?.is_ok())
    }

    /// Returns the outcome of a decision, once it is settled.
    async fn look(&self, id: DecisionId) -> Result<Option<Settled>, StoreError> {
        let store = &self.store;
        let Some(named) = store.decision(self.session, id).await? else {
            return Err(StoreError::Gone(format!("decision {id}")));
        };
        let decision = named.decision;
        if decision.state == DecisionState::Open {
            return Ok(None);
        }
        let file = match &decision.answer {
            Some(Reply::File(_)) => store.decision_file(id).await?,
            Some(_) | None => None,
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
impl deskhand_agent::Decisions for TurnDecisions {
    async fn policy(&self) -> Result<Policy, TurnLogError> {
        let policy = until_answered(&self.shutdown, || self.store.approvals(self.session));
        let policy = policy
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        policy.ok_or_else(|| TurnLogError(Box::new(NotAtWork(self.session))))
    }

    async fn reach(&self) -> Result<Reach, TurnLogError> {
        let rules = until_answered(&self.shutdown, || self.store.network_rules(self.session));
        let rules = rules.await.map_err(|error| TurnLogError(Box::new(error)))?;
        let (policy, _) = rules.ok_or_else(|| TurnLogError(Box::new(NotAtWork(self.session))))?;
        Ok(self.computers.network_mode(policy.mode).into())
    }

    async fn is_for_owner(&self) -> Result<bool, TurnLogError> {
        let (session, turn) = (self.session, self.turn);
        let found = until_answered(&self.shutdown, || {
            self.store.is_turn_of_owner(session, turn)
        });
        found.await.map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError> {
        let mut n_tries = 0;
        let raised = until_answered(&self.shutdown, || {
            n_tries += 1;
            self.raise_once(id, &ask, n_tries > 1)
        });
        let raised = raised
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        if !raised {
            return Err(TurnLogError(Box::new(NotAtWork(self.session))));
        }
        self.decisions.nudge().notify_one();
        Ok(())
    }

    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError> {
        let withdrawn = until_answered(&self.shutdown, || {
            self.decisions
                .settle(self.session, id, &Settlement::Withdrawn, None)
        });
        // This is refused if it is settled already.
        let _ = withdrawn
            .await
            .map_err(|error| TurnLogError(Box::new(error)))?;
        Ok(())
    }

    async fn settled(&self, id: DecisionId) -> Settled {
        // This comes before the check, so that no signal is missed.
        let mut waiter = self.signals.subscribe(Topic::Decisions(self.session));
        loop {
            match self.look(id).await {
                Ok(Some(settled)) => return settled,
                Ok(None) => waiter.signalled().await,
                Err(error) => {
                    tracing::error!(session.id = %self.session, decision.id = %id, error = &error as &dyn std::error::Error, "could \
                                                                                                                              not \
                                                                                                                              read \
                                                                                                                              a \
                                                                                                                              decision");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }
}
