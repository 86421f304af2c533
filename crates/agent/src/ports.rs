//! The ports through which a turn reaches the app.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    budget::Accounts,
    decision::{Ask, GivenFile, Reply},
    event::EventBody,
    id::DecisionId,
    model::Original,
    policy::Policy,
    sandbox::Sandbox,
};

/// The session's log, as a turn writes it.
#[async_trait]
pub trait TurnLog: Send + Sync + std::fmt::Debug {
    /// Stores all of these, in this order and in one transaction, and notifies the people who watch.
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError>;

    /// Does the same for a whole answer of the model, whose last event is its `cost`, and stores the answer as its
    /// vendor gave it.
    async fn append_answer(
        &self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError>;

    /// Takes the messages that came to steer this turn, each once. They are in the log already.
    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError>;

    /// Takes the changes of leases since the turn's history ended or this was last called. They are in the log
    /// already.
    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError>;
}

/// The people who decide for the turn.
#[async_trait]
pub trait Decisions: Send + Sync + std::fmt::Debug {
    /// Returns the session's present approval policy.
    async fn policy(&self) -> Result<Policy, TurnLogError>;

    /// Asks them. The question and that the session waits are stored when this returns.
    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError>;

    /// Waits until it is settled and the session goes on. The future may be dropped and the call repeated.
    async fn settled(&self, id: DecisionId) -> Settled;

    /// Withdraws a question, unless it is settled already.
    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError>;
}

/// The budgets of the session and of its owner.
#[async_trait]
pub trait Budgets: Send + Sync + std::fmt::Debug {
    /// Returns the present state of the accounts.
    async fn accounts(&self) -> Result<Accounts, TurnLogError>;

    /// Waits until the accounts may have changed since the last call.
    async fn changed(&self);
}

/// A decision that is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub decision: DecisionId,
    /// Whether a person answered it.
    pub is_answered: bool,
    /// The answer that counts.
    pub reply: Option<Reply>,
    /// The file, when the answer is one.
    pub file: Option<GivenFile>,
}

/// The log could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the session's log could not be written")]
pub struct TurnLogError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The session's access to its computer.
#[async_trait]
pub trait Desk: Send + Sync + std::fmt::Debug {
    /// Returns the session's sandbox, and starts it if it does not run.
    async fn computer(&self) -> Result<Arc<dyn Sandbox>, DeskError>;

    /// Waits while a person controls mouse and keyboard.
    async fn free(&self);
}

/// The session has no computer and cannot get one.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeskError {
    /// A sentence for people: what is wrong and the way out.
    pub message: String,
}
