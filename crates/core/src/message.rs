//! Messages: what people and the agent said to each other.

use jiff::Timestamp;

use crate::id::{MessageId, SessionId, UserId};

/// The longest message a person may send.
pub const LONGEST_MESSAGE_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    pub role: Role,
    pub content: String,
    /// Who wrote it, when a person did.
    pub author: Option<UserId>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A prompt.
    User,
    /// The agent's answer at the end of a turn.
    Assistant,
}
