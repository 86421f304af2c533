//! The ports through which a turn uses the app.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    attachment::Attachment,
    budget::Accounts,
    decision::{Ask, GivenFile, Reply},
    event::EventBody,
    id::DecisionId,
    model::Original,
    policy::{Policy, Reach},
    sandbox::Computer,
    tool_server::{RemoteAnswer, RemoteCall, ToolServerError},
};

/// The session's log, as a turn writes it.
#[async_trait]
pub trait TurnLog: Send + Sync + std::fmt::Debug {
    /// Stores all events, in this order and in one transaction, and notifies watchers.
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError>;

    /// Stores a complete answer in the same way. Its last event is its `cost`; `original` is the answer as the vendor
    /// sent it.
    async fn append_answer(
        &self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError>;

    /// Takes the messages that arrived to steer this turn, each one once. They are in the log already.
    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError>;

    /// Takes the lease changes since the end of the turn's history or the last call. They are in the log already.
    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError>;
}

/// The people who decide for the turn.
#[async_trait]
pub trait Decisions: Send + Sync + std::fmt::Debug {
    /// Returns the session's current approval policy.
    async fn policy(&self) -> Result<Policy, TurnLogError>;

    /// Returns the reach of the network of the session's sandbox.
    async fn reach(&self) -> Result<Reach, TurnLogError>;

    /// Returns true if the session's owner wrote everything that the turn works on.
    async fn is_for_owner(&self) -> Result<bool, TurnLogError>;

    /// Asks people. When this returns, the question and the session's waiting state are stored.
    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError>;

    /// Waits until the decision is settled. The session then no longer waits for it. May be dropped and called again.
    async fn settled(&self, id: DecisionId) -> Settled;

    /// Withdraws the question, unless it is settled already.
    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError>;
}

/// The budgets of the session and its owner.
#[async_trait]
pub trait Budgets: Send + Sync + std::fmt::Debug {
    /// Returns the current accounts.
    async fn accounts(&self) -> Result<Accounts, TurnLogError>;

    /// Waits until the accounts may have changed. Changes since the last call count.
    async fn changed(&self);
}

/// The MCP servers whose tools the session offers.
#[async_trait]
pub trait RemoteTools: Send + Sync + std::fmt::Debug {
    /// Calls a tool of a server, and connects to it if necessary. It takes a bounded time, and the server is told if the
    /// caller stops waiting.
    async fn call(&self, server: &str, call: RemoteCall) -> Result<RemoteAnswer, ToolServerError>;
}

/// The settlement of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub decision: DecisionId,
    /// True if a person answered it.
    pub is_answered: bool,
    /// The answer that counts.
    pub reply: Option<Reply>,
    /// The file, if the answer is one.
    pub file: Option<GivenFile>,
}

/// The error for a log, decisions or budgets that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("could not read or write the session's data")]
pub struct TurnLogError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The session's access to its computer.
#[async_trait]
pub trait Desk: Send + Sync + std::fmt::Debug {
    /// Returns the session's computer, and starts it if it is not running.
    async fn computer(&self) -> Result<Arc<dyn Computer>, DeskError>;

    /// Waits while a person has the mouse and keyboard.
    async fn free(&self);

    /// Writes an attached file to the folder for uploads, and starts the computer if it is not running. Returns the path.
    /// Nothing is overwritten, and an existing file with the same content is used as it is.
    async fn place(&self, file: &Attachment) -> Result<String, PlaceError>;
}

/// The reason why a file was not written to the computer.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    NoComputer(DeskError),
    #[error("a person has control")]
    Leased,
    #[error("the computer was lost while the file was written")]
    Lost,
    /// Another attempt would fail too.
    #[error("{0}")]
    Problem(String),
}

/// The error for a session that has no computer and cannot get one.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeskError {
    /// A sentence for people: the problem and the way out.
    pub message: String,
}
