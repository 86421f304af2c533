//! Decisions: lists and answers the questions to people, and settles those that expire.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::Clock,
    decision::{Ask, BadReply, Decision, DecisionState, GivenFile, Reply, Settlement},
    id::{DecisionId, SessionId, UserId},
    inbox::{DecisionPage, NamedDecision},
    network::question::{NetworkPermission, NetworkQuestion},
    right::Right,
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{SettleDecision, SettleRefused, Store, StoreError};
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::{
    FindError, InternalError,
    feed::log::Log,
    refusal::refusals,
    sessions::find::{find, find_with},
    signals::{Signals, Topic},
};

/// The number of decisions that are settled in one batch.
const BATCH: u32 = 100;

/// The questions to people, in all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Decisions {
    store: Store,
    log: Log,
    signals: Signals,
    clock: Arc<dyn Clock>,
    /// Notifies the job that settles expired decisions that a decision was raised.
    raised: Arc<Notify>,
}

/// An answer of a person.
#[derive(Debug)]
pub enum GivenReply {
    Plain(Reply),
    File(GivenFile),
}

/// The reason why an answer does not count.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {session} has no decision {decision}")]
    NoDecision {
        session: SessionId,
        decision: DecisionId,
    },
    #[error(transparent)]
    BadReply(#[from] BadReply),
    #[error(
        "only an administrator can raise a daily budget or allow a model without a price; you can answer no, which \
         ends the turn"
    )]
    NotAdministrator,
    #[error("{}", outcome_text(.0))]
    Settled(Box<NamedDecision>),
    #[error("could not store the answer")]
    Internal(#[source] InternalError),
}

refusals! {
    AnswerError passes on Find, Internal;
    Self::NoDecision { .. } => NotFound("no_decision"),
    Self::BadReply(_) => Unfitting("bad_answer"),
    Self::NotAdministrator => Forbidden("not_administrator"),
    Self::Settled(named) => Conflict("settled", {
        "state": named.decision.state,
        "answered_by": named.decision.answered_by,
        "answered_by_name": named.answered_by_name,
        "settled_at": named.decision.settled_at,
    }),
}

/// A selection of decisions.
#[derive(Debug, Clone, Copy)]
pub struct ListDecisions {
    /// The state to select. All states without it.
    pub state: Option<DecisionState>,
    pub before: Option<DecisionId>,
    pub limit: u32,
}

impl Decisions {
    pub(crate) fn new(store: Store, log: Log, signals: Signals, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            log,
            signals,
            clock,
            raised: Arc::default(),
        }
    }

    /// Lists the decisions that a user may answer, or could have, over all sessions, newest first.
    pub async fn inbox(
        &self,
        user: UserId,
        list: ListDecisions,
    ) -> Result<DecisionPage, InternalError> {
        let page = self.store.inbox(user, list.state, list.before, list.limit);
        Ok(page.await?)
    }

    /// Lists the decisions of a session, newest first.
    pub async fn list(
        &self,
        viewer: Viewer,
        id: SessionId,
        list: ListDecisions,
    ) -> Result<DecisionPage, FindError> {
        find(&self.store, viewer, id).await?;
        let page = self
            .store
            .decisions(id, list.state, list.before, list.limit);
        Ok(page.await?)
    }

    /// Answers a decision. The first valid answer counts, and the agent resumes.
    pub async fn answer(
        &self,
        user: UserId,
        id: SessionId,
        decision: DecisionId,
        given: GivenReply,
    ) -> Result<NamedDecision, AnswerError> {
        let viewer = Viewer::User(user);
        let session = find(&self.store, viewer, id).await?;
        let asked = self.decision(id, decision).await?;
        let ask = &asked.decision.ask;
        find_with(&self.store, ask.kind.needed(), viewer, id).await?;
        if asked.decision.state != DecisionState::Open {
            return Err(AnswerError::Settled(Box::new(asked)));
        }
        // The job that settles expired decisions may be a moment behind.
        if ask.expires_at.is_some_and(|end| end <= self.clock.now()) {
            self.expire(&asked.decision).await?;
            let settled = self.decision(id, decision).await?;
            return Err(AnswerError::Settled(Box::new(settled)));
        }
        let (reply, file) = match given {
            GivenReply::Plain(reply) => (reply, None),
            GivenReply::File(file) => (Reply::File(file.head()?), Some(file)),
        };
        let reply = ask.check(reply)?;
        if is_for_all_sessions(ask, &reply) {
            find_with(&self.store, Right::Owner, viewer, id).await?;
        }
        let gives_more = gives_more_than_allowed(ask, &reply);
        if gives_more && !self.is_administrator(user).await? {
            return Err(AnswerError::NotAdministrator);
        }
        let answered = Settlement::Answered { by: user, reply };
        let settle = self.settle(id, decision, &answered, file.as_ref()).await?;
        let now = self.decision(id, decision).await?;
        match settle {
            Ok(()) => {
                if gives_more {
                    // The day is the same for all sessions of the owner.
                    self.signals.send(Topic::UserBudget(session.owner));
                }
                Ok(now)
            }
            Err(SettleRefused::Already | SettleRefused::Unknown) => {
                Err(AnswerError::Settled(Box::new(now)))
            }
        }
    }

    async fn is_administrator(&self, user: UserId) -> Result<bool, StoreError> {
        let user = self.store.user(user).await?;
        Ok(user.is_some_and(|user| user.role == UserRole::Admin))
    }

    async fn decision(
        &self,
        session: SessionId,
        decision: DecisionId,
    ) -> Result<NamedDecision, AnswerError> {
        let found = self.store.decision(session, decision).await?;
        found.ok_or(AnswerError::NoDecision { session, decision })
    }

    /// Settles a decision if it is open, and resumes the session.
    pub(crate) async fn settle(
        &self,
        session: SessionId,
        id: DecisionId,
        settlement: &Settlement,
        file: Option<&GivenFile>,
    ) -> Result<Result<(), SettleRefused>, StoreError> {
        let settle = SettleDecision {
            id,
            settlement,
            file,
        };
        let settled = self.log.commit(session, settle).await?;
        if settled.is_ok() {
            self.signals.send(Topic::Decisions(session));
            // The answer may have granted more to the session.
            self.signals.send(Topic::SessionBudget(session));
        }
        Ok(settled)
    }

    /// Settles an open decision that has expired.
    async fn expire(&self, decision: &Decision) -> Result<(), StoreError> {
        let expired = Settlement::Expired {
            default: decision.ask.default.clone(),
        };
        // This is refused if a person has just answered it.
        let _ = self
            .settle(decision.session, decision.id, &expired, None)
            .await?;
        Ok(())
    }

    /// Settles all expired decisions. Returns the time until the next decision expires.
    pub(crate) async fn settle_expired(&self) -> Result<Option<Duration>, StoreError> {
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
        // If the time is over already, there is nothing to wait for.
        Ok(next.map(|next| {
            Duration::try_from(next.duration_since(self.clock.now())).unwrap_or_default()
        }))
    }

    /// Returns the nudge of the job that settles expired decisions.
    pub(crate) fn nudge(&self) -> &Arc<Notify> {
        &self.raised
    }
}

/// Returns `true` for an answer that raises a limit set by an administrator.
fn gives_more_than_allowed(ask: &Ask, reply: &Reply) -> bool {
    let is_of_owner = ask.over.is_some_and(|over| over.bound.is_of_owner());
    is_of_owner && *reply == Reply::Yes(true)
}

/// Returns `true` for an answer that allows a host in all sessions of the owner.
fn is_for_all_sessions(ask: &Ask, reply: &Reply) -> bool {
    NetworkQuestion::of(ask).is_some()
        && NetworkPermission::of(Some(reply)) == NetworkPermission::Always
}

/// Describes the outcome of a decision to a person who answered too late.
fn outcome_text(named: &NamedDecision) -> String {
    let at = named.decision.settled_at.as_ref().map(Timestamp::to_string);
    let at = at.unwrap_or_default();
    match named.decision.state {
        DecisionState::Answered => {
            let who = named.answered_by_name.as_deref().unwrap_or("somebody");
            format!("{who} answered this at {at}")
        }
        DecisionState::Expired => format!("this expired at {at}"),
        DecisionState::Withdrawn => format!("this was withdrawn at {at}: the turn ended"),
        DecisionState::Open => "this is open".to_owned(),
    }
}
