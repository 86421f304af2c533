//! Sessions, and control of their computers.

use deskhand_core::{
    computer::{ComputerKind, DrivingTool},
    id::{SessionId, UserId},
    lease::Holder,
    model::Effort,
    network::policy::NetworkPolicy,
    policy::Policy,
    right::Right,
    session::{Phase, SandboxState, Session},
    tool_server::spec::McpServerSpec,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    budgets::{BudgetBody, BudgetView},
    present,
};

/// A session to create.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = CreateSession)]
#[serde(deny_unknown_fields)]
pub struct CreateSessionBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub title: Option<String>,
    /// The model as `vendor/name`. Without it the server chooses one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort that its models put into thinking. Without it the server's settings decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub effort: Option<Effort>,
    /// The kind of its computer: `desktop`, or `browser` for one without a screen, which is lighter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub computer: Option<ComputerKind>,
    /// The tools by which its models drive the computer. Without it, all that fit the computer: `computer` needs a
    /// screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1)]
    pub tools: Option<Vec<DrivingTool>>,
    /// Instructions for its agent besides those for every agent: at most 16 KiB in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 16384)]
    pub instructions: Option<String>,
    /// The caller's own notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// The approvals that its agent needs. Without it your default applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<Policy>,
    /// The budget after which a person is asked.
    #[serde(default)]
    #[schema(value_type = Option<BudgetBody>, nullable = false)]
    pub budget: BudgetBody,
    /// The hosts that its programs may contact. Without it the server's settings apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub network: Option<NetworkPolicy>,
    /// The MCP servers whose tools its agent is offered besides those of the deployment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 16)]
    pub mcp_servers: Vec<McpServerSpec>,
}

/// A change to a session. At least one field is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeSession)]
#[serde(deny_unknown_fields)]
pub struct ChangeSessionBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200, nullable = false)]
    pub title: Option<String>,
    /// The approvals that its agent needs, from its next action on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approvals: Option<Policy>,
    /// `vendor/name`, from its next turn on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub model: Option<String>,
    /// The effort that its models put into thinking, from its next turn on. Null if the server's settings decide.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Effort>)]
    pub effort: Option<Option<Effort>>,
    /// Instructions for its agent besides those for every agent, from its next turn on: at most 16 KiB in UTF-8.
    /// Empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 16384, nullable = false)]
    pub instructions: Option<String>,
    /// The whole budget after which a person is asked. It replaces the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub budget: Option<BudgetBody>,
    /// The hosts that its programs may contact, from now on. Other connections end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub network: Option<NetworkPolicy>,
    /// All MCP servers of the session. After its first turn has begun, they can be changed and removed, but none can
    /// be added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_items = 16)]
    pub mcp_servers: Option<Vec<McpServerSpec>>,
}

/// A request for control of the mouse and keyboard.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = TakeControl)]
#[serde(deny_unknown_fields)]
pub struct TakeControlBody {
    /// The duration of the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 10, maximum = 3600, default = 300)]
    pub seconds: Option<u32>,
    /// True to take control from its current holder. Only the owner can.
    #[serde(default)]
    pub force: bool,
}

/// A conversation with an agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView {
    #[schema(value_type = Uuid)]
    pub id: SessionId,
    /// The user who owns it.
    #[schema(value_type = Uuid)]
    pub owner: UserId,
    /// Your right in it.
    pub right: Right,
    /// Empty until a person names the session or the first message does.
    #[schema(max_length = 200)]
    pub title: String,
    /// `vendor/name`.
    pub model: String,
    /// The effort that its models put into thinking. Null if the server's settings decide.
    #[serde(default)]
    #[schema(required)]
    pub effort: Option<Effort>,
    /// The kind of its computer.
    #[serde(default)]
    #[schema(required)]
    pub computer: ComputerKind,
    /// The tools by which its models drive the computer.
    #[serde(default)]
    #[schema(required)]
    pub tools: Vec<DrivingTool>,
    /// Instructions for its agent besides those for every agent. May be empty.
    pub instructions: String,
    pub state: Phase,
    pub sandbox: SandboxState,
    /// The holder of the mouse and keyboard.
    pub lease: LeaseView,
    /// The caller's own notes.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub metadata: serde_json::Value,
    /// The approvals that its agent needs.
    pub approvals: Policy,
    /// The hosts that its programs may contact.
    #[serde(default)]
    #[schema(required)]
    pub network: NetworkPolicy,
    /// The MCP servers whose tools its agent is offered besides those of the deployment.
    #[serde(default)]
    pub mcp_servers: Vec<McpServerSpec>,
    /// The cost of its models so far, in US dollars.
    pub cost_usd: f64,
    /// The tokens that its models have read and written so far.
    pub tokens: u64,
    /// Its budget and usage.
    pub budget: BudgetView,
    /// The number of its newest event.
    pub last_seq: u64,
    /// Facts that hold until the next event of their kind: the data of the newest event, by its `type`.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub standing: serde_json::Map<String, serde_json::Value>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The holder of the mouse and keyboard of a session's computer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Lease)]
#[serde(tag = "holder", rename_all = "lowercase")]
pub enum LeaseView {
    /// The agent, which is working.
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

/// A page of sessions, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SessionsPage)]
pub struct SessionsView {
    pub sessions: Vec<SessionView>,
    /// The `before` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<SessionId>,
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
            effort: session.effort,
            computer: session.computer,
            tools: session.tools.all().to_vec(),
            instructions: session.instructions,
            state: session.phase,
            sandbox: session.sandbox,
            lease: lease.into(),
            metadata: session.metadata,
            approvals: session.approvals,
            network: session.network,
            mcp_servers: session.mcp_servers,
            cost_usd: session.cost_usd,
            tokens: session.tokens,
            budget,
            last_seq: session.last_seq,
            standing: session.standing,
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}
