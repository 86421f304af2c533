//! Creating sessions.

use deskhand_core::{
    budget::{Amount, BadBudget, ChangeBudget},
    computer::{BadDrivingTools, ComputerKind, DrivingTool, DrivingTools},
    id::{SessionId, UserId},
    model::{Effort, UnknownModel},
    network::policy::NetworkPolicy,
    policy::{BadPolicy, Policy},
    right::Right,
    session::{Phase, SandboxState, Session},
    tool_server::spec::McpServerSpec,
    viewer::Viewer,
};
use deskhand_store::{NewSession, StoreError};

use super::{BadInstructions, BadTitle, Sessions, change};
use crate::{
    BadMcpServers, BadNetwork, InternalError, Notice, WakeError,
    people::limits::DAY,
    refusal::{FreesAt, refusals},
};

/// The longest metadata, as JSON. It is part of every list of sessions.
const LONGEST_METADATA_BYTES: usize = 16 * 1024;

/// The settings of a new session.
#[derive(Debug, Default)]
pub struct CreateSession {
    pub title: Option<String>,
    pub model: Option<String>,
    /// The effort of its models. Without it the server's settings decide.
    pub effort: Option<Effort>,
    pub computer: ComputerKind,
    /// The tools by which its models drive the computer. Without them, all that fit it.
    pub tools: Option<Vec<DrivingTool>>,
    /// Instructions for its agent besides those for every agent.
    pub instructions: Option<String>,
    /// The metadata, a JSON object.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// The approval policy. Without it the owner's default applies.
    pub approvals: Option<Policy>,
    /// The budget. The server's settings apply to every absent part.
    pub budget: ChangeBudget,
    /// The network policy. Without it the server's settings apply.
    pub network: Option<NetworkPolicy>,
    /// The MCP servers whose tools its agent is offered besides those of the deployment.
    pub mcp_servers: Vec<McpServerSpec>,
    /// True if it does not count for the daily limit of its owner. Only streams set this, and no request can.
    pub is_uncounted: bool,
}

/// The reason why a session was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateSessionError {
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error(transparent)]
    BadTools(#[from] BadDrivingTools),
    #[error(transparent)]
    BadTitle(#[from] BadTitle),
    #[error(transparent)]
    BadInstructions(#[from] BadInstructions),
    #[error(
        "metadata has at most {LONGEST_METADATA_BYTES} bytes as JSON, not {0}; keep what is longer elsewhere, and its \
         address here"
    )]
    LongMetadata(usize),
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error(
        "{used} sessions were created in the last 24 hours, and the limit is {limit}; wait, or ask an administrator for a higher limit"
    )]
    TooManyToday {
        used: u64,
        limit: u32,
        /// The time from which there is room for another. It never comes if the limit allows none.
        frees: Option<FreesAt>,
    },
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error(transparent)]
    BadNetwork(#[from] BadNetwork),
    #[error(transparent)]
    BadMcpServers(#[from] BadMcpServers),
    #[error("could not create the session")]
    Internal(#[source] InternalError),
}

refusals! {
    CreateSessionError passes on UnknownModel, BadTitle, BadInstructions, BadNetwork, BadMcpServers, Wake, Internal;
    Self::BadTools(_) => Invalid("bad_tools"),
    Self::LongMetadata(_) => Invalid("long_metadata"),
    Self::TooManyToday { used, limit, frees } => TooMany(
        "too_many_today",
        { "used": used, "limit": limit, "frees_at": frees.map(|frees| frees.at) };
        retry frees.map(|frees| frees.wait)
    ),
    Self::BadPolicy(_) => Invalid("bad_policy"),
    Self::BadBudget(_) => Invalid("bad_budget"),
}

impl Sessions {
    /// Creates a session. Its sandbox starts in the background.
    pub async fn create(
        &self,
        owner: UserId,
        wanted: CreateSession,
    ) -> Result<Session, CreateSessionError> {
        let is_counted = !wanted.is_uncounted;
        let session = self.plan(owner, wanted).await?;
        // The place comes first: a session that cannot have one is not created.
        let guard = self.0.live.wake(&session).await?;
        if let Err(error) = self.insert(&session, is_counted).await {
            self.0.live.forget(guard).await;
            return Err(error);
        }
        let viewer = Viewer::User(owner);
        let created = self.0.store.session(viewer, session.id).await?;
        self.0.live.start_sandbox(guard);
        created.ok_or_else(|| StoreError::Gone(format!("session {}", session.id)).into())
    }

    /// Checks the settings and fills in the defaults.
    async fn plan(
        &self,
        owner: UserId,
        wanted: CreateSession,
    ) -> Result<Session, CreateSessionError> {
        let parts = &self.0;
        let model = wanted
            .model
            .unwrap_or_else(|| parts.catalog.default_model());
        parts.catalog.check(&model)?;
        let computer = wanted.computer;
        let tools = match wanted.tools {
            Some(tools) => DrivingTools::choose(computer, tools)?,
            None => DrivingTools::of(computer),
        };
        let instructions = wanted.instructions.unwrap_or_default();
        change::check_instructions(&instructions)?;
        let title = wanted.title.unwrap_or_default();
        change::check_title(&title)?;
        let metadata = serde_json::Value::Object(wanted.metadata.unwrap_or_default());
        let n_bytes = metadata.to_string().len();
        if n_bytes > LONGEST_METADATA_BYTES {
            return Err(CreateSessionError::LongMetadata(n_bytes));
        }
        let approvals = match wanted.approvals {
            Some(policy) => policy,
            None => {
                let default = parts.store.default_approvals(owner).await?;
                default.unwrap_or_default()
            }
        };
        approvals.check()?;
        wanted.budget.check()?;
        let network = match wanted.network {
            Some(network) => network,
            None => parts.network.default_for(&model),
        };
        parts.network.check(&network)?;
        parts.tool_servers.check(&wanted.mcp_servers)?;
        let now = parts.clock.now();
        Ok(Session {
            id: SessionId::new(),
            owner,
            right: Right::Owner,
            title: title.trim().to_owned(),
            model,
            effort: wanted.effort,
            computer,
            tools,
            instructions,
            metadata,
            approvals,
            network,
            mcp_servers: wanted.mcp_servers,
            phase: Phase::Initializing,
            sandbox: SandboxState::None,
            lease: None,
            cost_usd: 0.0,
            tokens: 0,
            budget: parts.budget.with(wanted.budget),
            granted: Amount::default(),
            last_seq: 1,
            standing: serde_json::Map::new(),
            created_at: now,
            updated_at: now,
        })
    }

    async fn insert(&self, session: &Session, is_counted: bool) -> Result<(), CreateSessionError> {
        let new = NewSession {
            id: session.id,
            owner: session.owner,
            title: &session.title,
            model: &session.model,
            effort: session.effort,
            computer: session.computer,
            tools: &session.tools,
            instructions: &session.instructions,
            metadata: &session.metadata,
            approvals: &session.approvals,
            network: &session.network,
            mcp_servers: &session.mcp_servers,
            budget: session.budget,
            is_counted,
            created_at: session.created_at,
        };
        if !is_counted {
            self.0.store.insert_session(new).await?;
            self.0.bus.changed(session.id);
            return Ok(());
        }
        let limits = self.0.limits.of(session.owner).await?;
        let since = session.created_at - DAY;
        let inserted = self.0.store.insert_session_within(new, limits, since);
        match inserted.await? {
            Ok(_) => {
                self.0.bus.changed(session.id);
                Ok(())
            }
            Err(made) => {
                let frees_at = made.in_the_way.and_then(|at| at.checked_add(DAY).ok());
                let error = CreateSessionError::TooManyToday {
                    used: made.n_sessions,
                    limit: limits.sessions_per_day,
                    frees: frees_at.map(|at| FreesAt::new(at, self.0.clock.now())),
                };
                self.0.bus.notify(session.owner, &Notice::of(&error));
                Err(error)
            }
        }
    }
}
