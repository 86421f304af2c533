//! Sessions: their states and the legal transitions between them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    budget::{Account, Amount, Budget},
    computer::{ComputerKind, DrivingTools},
    id::{SessionId, UserId},
    lease::{Holder, Lease},
    model::Effort,
    network::policy::NetworkPolicy,
    policy::Policy,
    right::Right,
    tool_server::spec::McpServerSpec,
};

/// The longest instructions of a session.
pub const LONGEST_INSTRUCTIONS_BYTES: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub owner: UserId,
    /// The right of the viewer who asked for it.
    pub right: Right,
    /// Empty until a person names the session or the first prompt does.
    pub title: String,
    /// `vendor/name`.
    pub model: String,
    /// The effort of its models. The server's settings decide without it.
    pub effort: Option<Effort>,
    /// The kind of its computer.
    pub computer: ComputerKind,
    /// The tools by which its models drive the computer.
    pub tools: DrivingTools,
    /// Instructions for its agent, besides those that every agent gets. Empty if there are none.
    pub instructions: String,
    /// The caller's own notes: a JSON object.
    pub metadata: serde_json::Value,
    /// The policy for the actions that the agent must ask about first.
    pub approvals: Policy,
    /// The hosts that its programs may contact.
    pub network: NetworkPolicy,
    /// The MCP servers whose tools its agent is offered besides those of the deployment.
    pub mcp_servers: Vec<McpServerSpec>,
    pub phase: Phase,
    pub sandbox: SandboxState,
    /// The lease of the person who has the mouse and keyboard, if one has.
    pub lease: Option<Lease>,
    /// The number of the newest event.
    pub last_seq: u64,
    /// The data of the newest event of each kind in [`EventBody::STANDING`], by kind.
    pub standing: serde_json::Map<String, serde_json::Value>,
    /// The cost of its models so far, in US dollars.
    pub cost_usd: f64,
    /// The tokens that its models have read and written so far.
    pub tokens: u64,
    /// The limits of what it may use.
    pub budget: Budget,
    /// The amount that people added when they were asked.
    pub granted: Amount,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// One page of a list of sessions, newest first.
#[derive(Debug)]
pub struct SessionPage {
    pub sessions: Vec<Session>,
    /// The beginning of the next page, if there is one.
    pub next: Option<SessionId>,
}

impl Session {
    /// Returns the session's budget and usage.
    pub fn account(&self) -> Account {
        Account {
            budget: self.budget,
            granted: self.granted,
            used: Amount {
                usd: self.cost_usd,
                tokens: self.tokens,
            },
        }
    }

    /// Returns the holder of the mouse and keyboard.
    pub fn holder(&self) -> Holder {
        Holder::of(self.lease.clone(), self.phase)
    }
}

/// The activity of a session. On the wire this is its `state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[schema(as = SessionState)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Its sandbox is being created for the first time.
    Initializing,
    /// Ready for a prompt.
    Idle,
    /// The agent works on a prompt.
    Running,
    /// The agent waits for a person.
    Waiting,
    /// It has no computer and could not get one. The next prompt tries again.
    Error,
    /// Ended for good. Its log stays.
    Terminated,
}

/// A change that moves a session to another phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    SandboxReady,
    SandboxFailed,
    PromptTaken,
    QuestionAsked,
    QuestionAnswered,
    TurnFinished,
    /// The server that worked on it was killed.
    ServerRestarted,
    Terminated,
}

impl Phase {
    pub const ALL: [Self; 6] = [
        Self::Initializing,
        Self::Idle,
        Self::Running,
        Self::Waiting,
        Self::Error,
        Self::Terminated,
    ];

    /// Returns the phase after `signal`, or `None` if the signal means nothing in this phase.
    ///
    /// The result is stored with a compare-and-set on the old phase. If two workers race on one session, only one
    /// continues.
    pub fn after(self, signal: Signal) -> Option<Self> {
        use Phase::{Error, Idle, Initializing, Running, Terminated, Waiting};
        match (self, signal) {
            (Terminated, _) => None,
            (_, Signal::Terminated) => Some(Terminated),
            (Initializing | Error, Signal::SandboxReady) => Some(Idle),
            (Initializing | Idle, Signal::SandboxFailed) => Some(Error),
            (Initializing | Idle | Error, Signal::PromptTaken) => Some(Running),
            (Running, Signal::QuestionAsked) => Some(Waiting),
            (Waiting, Signal::QuestionAnswered) => Some(Running),
            (Running | Waiting, Signal::TurnFinished)
            | (Initializing | Running | Waiting, Signal::ServerRestarted) => Some(Idle),
            (Initializing | Idle | Running | Waiting | Error, _) => None,
        }
    }

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Error => "error",
            Self::Terminated => "terminated",
        }
    }
}

/// The state of a session's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// There is none yet, or it no longer exists.
    None,
    Starting,
    Ready,
    /// Frozen with its memory.
    Paused,
    /// Ended on purpose, its files kept.
    Stopped,
    /// Ended by itself or with the server, its files kept.
    Lost,
}

impl SandboxState {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Lost => "lost",
        }
    }
}

/// The error for a name that no phase or sandbox state has.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a state")]
pub struct UnknownState(pub String);

impl std::str::FromStr for Phase {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|phase| phase.name() == text)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

impl std::str::FromStr for SandboxState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [
            Self::None,
            Self::Starting,
            Self::Ready,
            Self::Paused,
            Self::Stopped,
            Self::Lost,
        ]
        .into_iter()
        .find(|state| state.name() == text)
        .ok_or_else(|| UnknownState(text.to_owned()))
    }
}
