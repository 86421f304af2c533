//! What people are asked: seeing it and answering it.

use deskhand_core::{
    decision::{BadReply, DecisionState, GivenFile, Reply, Settlement},
    id::{DecisionId, SessionId, UserId},
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{DecisionPage, NamedDecision, SettleRefused, StoreError};
use jiff::Timestamp;

use super::{FindError, Sessions};

/// An answer somebody gives.
#[derive(Debug)]
pub enum GivenReply {
    Plain(Reply),
    File(GivenFile),
}

/// Why an answer does not count.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {session} asks nothing with the id {decision}")]
    NoDecision {
        session: SessionId,
        decision: DecisionId,
    },
    #[error(transparent)]
    BadReply(#[from] BadReply),
    #[error(
        "only an administrator can give more than is allowed for a day; you can say no, which ends the turn"
    )]
    NotAdministrator,
    #[error("{}", told(.0))]
    Settled(Box<NamedDecision>),
    #[error("could not store the answer")]
    Store(#[from] StoreError),
}

/// Which decisions somebody wants to see.
#[derive(Debug, Clone, Copy)]
pub struct ListDecisions {
    /// All without it.
    pub state: Option<DecisionState>,
    pub before: Option<DecisionId>,
    pub limit: u32,
}

impl Sessions {
    /// The decisions that somebody may answer, or could have, over all sessions, newest first.
    pub async fn inbox(
        &self,
        user: UserId,
        list: ListDecisions,
    ) -> Result<DecisionPage, StoreError> {
        let store = &self.shared.store;
        store.inbox(user, list.state, list.before, list.limit).await
    }

    /// A session's decisions, newest first.
    pub async fn decisions(
        &self,
        viewer: Viewer,
        id: SessionId,
        list: ListDecisions,
    ) -> Result<DecisionPage, FindError> {
        self.find(viewer, id).await?;
        let store = &self.shared.store;
        let page = store.decisions(id, list.state, list.before, list.limit);
        Ok(page.await?)
    }

    /// Answers a decision. The first valid answer counts, and the agent goes on.
    pub async fn answer(
        &self,
        user: UserId,
        id: SessionId,
        decision: DecisionId,
        given: GivenReply,
    ) -> Result<NamedDecision, AnswerError> {
        let viewer = Viewer::User(user);
        self.find(viewer, id).await?;
        let asked = self.decision(id, decision).await?;
        let ask = &asked.decision.ask;
        self.find_with(ask.kind.needed(), viewer, id).await?;
        if asked.decision.state != DecisionState::Open {
            return Err(AnswerError::Settled(Box::new(asked)));
        }
        if ask
            .expires_at
            .is_some_and(|end| end <= self.shared.clock.now())
        {
            self.shared.expire(&asked.decision).await?;
            let settled = self.decision(id, decision).await?;
            return Err(AnswerError::Settled(Box::new(settled)));
        }
        let (reply, file) = match given {
            GivenReply::Plain(reply) => (reply, None),
            GivenReply::File(file) => (Reply::File(file.head()?), Some(file)),
        };
        let reply = ask.form.check(reply)?;
        let gives_more = ask.over.is_some_and(|over| over.bound.is_of_owner());
        if gives_more && reply == Reply::Yes(true) && !self.is_administrator(user).await? {
            return Err(AnswerError::NotAdministrator);
        }
        let answered = Settlement::Answered { by: user, reply };
        let settle = self
            .shared
            .settle(id, decision, &answered, file.as_ref())
            .await?;
        let now = self.decision(id, decision).await?;
        match settle {
            Ok(()) => Ok(now),
            Err(SettleRefused::Already | SettleRefused::Unknown) => {
                Err(AnswerError::Settled(Box::new(now)))
            }
        }
    }

    async fn is_administrator(&self, user: UserId) -> Result<bool, StoreError> {
        let user = self.shared.store.user(user).await?;
        Ok(user.is_some_and(|user| user.role == UserRole::Admin))
    }

    async fn decision(
        &self,
        session: SessionId,
        decision: DecisionId,
    ) -> Result<NamedDecision, AnswerError> {
        let found = self.shared.store.decision(session, decision).await?;
        found.ok_or(AnswerError::NoDecision { session, decision })
    }
}

/// What became of a decision, for whoever came too late.
fn told(named: &NamedDecision) -> String {
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
