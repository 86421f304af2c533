//! Why something was not done with a session. The texts are for the caller.

use deskhand_core::{
    blob::{BlobError, BlobName},
    budget::BadBudget,
    id::{MessageId, SessionId},
    message::LONGEST_MESSAGE_BYTES,
    model::UnknownModel,
    policy::BadPolicy,
    right::Right,
    session::LONGEST_INSTRUCTIONS_BYTES,
};
use deskhand_store::StoreError;
use jiff::Timestamp;

use super::LONGEST_TITLE;
use crate::WakeError;

/// Why a session's agent is not told this.
#[derive(Debug, thiserror::Error)]
pub enum BadInstructions {
    #[error("instructions have at most {LONGEST_INSTRUCTIONS_BYTES} bytes, not {0}")]
    Long(usize),
    #[error("instructions cannot hold the character U+0000")]
    Nul,
}

/// Why no session was made.
#[derive(Debug, thiserror::Error)]
pub enum CreateSessionError {
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("a title has at most {LONGEST_TITLE} characters")]
    LongTitle,
    #[error(transparent)]
    BadInstructions(#[from] BadInstructions),
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error("{used} sessions were made in the last 24 hours, and {limit} may be")]
    TooManyToday {
        used: u64,
        limit: u32,
        /// When there is room for another. Never, when none may be made.
        frees_at: Option<Timestamp>,
    },
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error("could not make the session")]
    Store(#[from] StoreError),
}

/// Why a session, or something of it, was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// They may see it, but not do this.
    #[error("in session {session} you may {}; this needs the right to {}, which its owner can give", .has.name(), .needed.name())]
    NotAllowed {
        session: SessionId,
        has: Right,
        needed: Right,
    },
    #[error("event {after} does not exist yet: the newest is {newest}")]
    AfterNewest { after: u64, newest: u64 },
    #[error("could not read the session")]
    Store(#[from] StoreError),
}

/// Why a session was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeSessionError {
    #[error("say what to change: title, model, instructions, approvals or budget")]
    Nothing,
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error(transparent)]
    BadInstructions(#[from] BadInstructions),
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error("a title has at most {LONGEST_TITLE} characters")]
    LongTitle,
    #[error("session {0} has ended; there is no next turn for another model")]
    Ended(SessionId),
    #[error(transparent)]
    Find(#[from] FindError),
}

/// Why a prompt was turned away.
#[derive(Debug, thiserror::Error)]
pub enum SendPromptError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("a message needs some text")]
    Empty,
    #[error("a message has at most {LONGEST_MESSAGE_BYTES} bytes, not {0}")]
    Long(usize),
    #[error("a message cannot hold the character U+0000")]
    Nul,
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("session {session} already has {n_waiting} messages waiting")]
    QueueFull { session: SessionId, n_waiting: u64 },
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error("could not queue the message")]
    Store(#[from] StoreError),
}

/// Why a message was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeMessageError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Content(#[from] SendPromptError),
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("say what to change: content, delivery, model or before")]
    Nothing,
    #[error("a message cannot stand before itself")]
    BeforeItself,
    #[error("the agent has taken message {0} up already")]
    Taken(MessageId),
    #[error("no message {0} waits in this session")]
    NotWaiting(MessageId),
    #[error("could not change the message")]
    Store(#[from] StoreError),
}

/// Why no turn was stopped.
#[derive(Debug, thiserror::Error)]
pub enum StopTurnError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the agent is not working in session {0}")]
    NotRunning(SessionId),
}

/// Why the screen cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum OpenScreenError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {0} has no running sandbox; it starts with the next message")]
    NoSandbox(SessionId),
    #[error(transparent)]
    Wake(#[from] WakeError),
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ScreenshotError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {0} has no picture yet")]
    None(SessionId),
    #[error("there is no blob {}", .0.as_str())]
    NoBlob(BlobName),
    #[error("the picture could not be read")]
    Blob(#[from] BlobError),
    #[error("the picture could not be found")]
    Store(#[from] StoreError),
}
