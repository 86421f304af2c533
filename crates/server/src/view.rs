//! What the wire shows of sessions and messages.

pub(crate) mod budget;

use deskhand_core::{
    id::{MessageId, SessionId, UserId},
    lease::Holder,
    message::{Delivery, Message, Role},
    policy::Policy,
    right::Right,
    session::{Phase, SandboxState, Session},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::schema;
use budget::BudgetView;

/// A conversation with an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionView {
    #[schema(value_type = Uuid)]
    id: SessionId,
    /// Who made it.
    #[schema(value_type = Uuid)]
    owner: UserId,
    /// What you may do with it.
    #[schema(value_type = schema::Right)]
    right: Right,
    /// Empty until somebody names it or the first message does.
    #[schema(max_length = 200)]
    title: String,
    /// `vendor/name`.
    model: String,
    /// What its agent is told besides what every agent is told. Empty: nothing.
    instructions: String,
    #[schema(value_type = schema::SessionState)]
    state: Phase,
    #[schema(value_type = schema::SandboxState)]
    sandbox: SandboxState,
    /// Who has mouse and keyboard.
    lease: LeaseView,
    /// The caller's own notes.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    metadata: serde_json::Value,
    /// What the agent must ask before it does it.
    #[schema(value_type = schema::decision::Policy)]
    approvals: Policy,
    /// What its models have cost so far, in US dollars.
    cost_usd: f64,
    /// What its models have read and written so far.
    tokens: u64,
    /// What it may use, and what it has used.
    budget: BudgetView,
    /// The number of its newest event.
    last_seq: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Who has mouse and keyboard of a session's computer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lease)]
#[serde(tag = "holder", rename_all = "lowercase")]
pub(crate) enum LeaseView {
    /// The agent, which works.
    Agent,
    /// A person, until a time.
    Person {
        #[schema(value_type = Uuid)]
        user: UserId,
        name: String,
        until: Timestamp,
    },
    Nobody,
}

impl From<Holder> for LeaseView {
    fn from(holder: Holder) -> Self {
        match holder {
            Holder::Agent => Self::Agent,
            Holder::Person(lease) => Self::Person {
                user: lease.user,
                name: lease.name,
                until: lease.until,
            },
            Holder::Nobody => Self::Nobody,
        }
    }
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        let lease = session.holder();
        let budget = session.account().into();
        Self {
            id: session.id,
            owner: session.owner,
            right: session.right,
            title: session.title,
            model: session.model,
            instructions: session.instructions,
            state: session.phase,
            sandbox: session.sandbox,
            lease: lease.into(),
            metadata: session.metadata,
            approvals: session.approvals,
            cost_usd: session.cost_usd,
            tokens: session.tokens,
            budget,
            last_seq: session.last_seq,
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}

/// What a person or the agent said.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageView {
    #[schema(value_type = Uuid)]
    id: MessageId,
    #[schema(value_type = Uuid)]
    session_id: SessionId,
    #[schema(value_type = schema::Role)]
    role: Role,
    content: String,
    /// Who wrote it, when a person did.
    #[schema(required, value_type = Option<Uuid>)]
    author: Option<UserId>,
    /// Their name, also when they have left.
    #[schema(required)]
    author_name: Option<String>,
    #[schema(value_type = schema::Delivery)]
    delivery: Delivery,
    /// Which model works on it, when it is not the session's.
    #[schema(required)]
    model: Option<String>,
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
            author_name: message.author_name,
            delivery: message.delivery,
            model: message.model,
            created_at: message.created_at,
        }
    }
}
