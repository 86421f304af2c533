//! What a turn needs from the app.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    budget::Accounts,
    decision::{Ask, GivenFile, Reply},
    event::EventBody,
    id::DecisionId,
    model::Original,
    policy::Policy,
    sandbox::Computer,
};

/// The session's log, as a turn writes it.
#[async_trait]
pub trait TurnLog: Send + Sync + std::fmt::Debug {
    /// Stores all of these, in this order and in one transaction, and tells who watches.
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError>;

    /// The same for a whole answer of the model, whose last event is its `cost`, and the answer as its
    /// vendor gave it.
    async fn append_answer(
        &self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError>;

    /// Messages that came to steer this turn, each given once. They are in the log already.
    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError>;

    /// What became of people's leases since the turn's history ended or this was last asked. It is
    /// in the log already.
    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError>;
}

/// The people who decide for the turn.
#[async_trait]
pub trait Decisions: Send + Sync + std::fmt::Debug {
    /// What they want to be asked about now.
    async fn policy(&self) -> Result<Policy, TurnLogError>;

    /// Asks them. The question and that the session waits are stored when this returns.
    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError>;

    /// Waits until it is settled, and the session goes on. May be dropped and called again.
    async fn settled(&self, id: DecisionId) -> Settled;

    /// Asks no longer, unless it is settled already.
    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError>;
}

/// What the session and its owner may use.
#[async_trait]
pub trait Budgets: Send + Sync + std::fmt::Debug {
    /// How it stands now.
    async fn accounts(&self) -> Result<Accounts, TurnLogError>;

    /// Waits until it may stand differently. What has changed since the last call counts.
    async fn changed(&self);
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub decision: DecisionId,
    /// Whether a person answered it.
    pub is_answered: bool,
    /// What counts as the answer.
    pub reply: Option<Reply>,
    /// The file, when the answer is one.
    pub file: Option<GivenFile>,
}

/// The session's log, decisions or budgets could not be reached any more, for writing or for reading.
#[derive(Debug, thiserror::Error)]
#[error("the session's data could not be read or written")]
pub struct TurnLogError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The session's place at its computer.
#[async_trait]
pub trait Desk: Send + Sync + std::fmt::Debug {
    /// Returns the session's computer, and starts it if it does not run.
    async fn computer(&self) -> Result<Arc<dyn Computer>, DeskError>;

    /// Waits while a person has mouse and keyboard.
    async fn free(&self);
}

/// The session has no computer and cannot get one.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeskError {
    /// A sentence for people: what is wrong and the way out.
    pub message: String,
}
