//! What the wire shows of sessions and messages.

use deskhand_core::{
    id::{MessageId, SessionId, UserId},
    message::{Delivery, Message, Role},
    session::{Phase, SandboxState, Session},
};
use jiff::Timestamp;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct SessionView {
    id: SessionId,
    title: String,
    model: String,
    state: Phase,
    sandbox: SandboxState,
    metadata: serde_json::Value,
    last_seq: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        Self {
            id: session.id,
            title: session.title,
            model: session.model,
            state: session.phase,
            sandbox: session.sandbox,
            metadata: session.metadata,
            last_seq: session.last_seq,
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct MessageView {
    id: MessageId,
    session_id: SessionId,
    role: Role,
    content: String,
    author: Option<UserId>,
    delivery: Delivery,
    created_at: Timestamp,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            session_id: message.session,
            role: message.role,
            content: message.content,
            author: message.author,
            delivery: message.delivery,
            created_at: message.created_at,
        }
    }
}
