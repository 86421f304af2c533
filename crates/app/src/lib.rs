//! The operations of Deskhand, by subject. Every interface uses them: the page, the terminal and HTTP.

mod apps;
mod attachments;
mod catalog;
mod computers;
mod control;
mod database_retry;
mod decisions;
mod evals;
mod feed;
mod files;
mod health;
mod jobs;
mod live;
pub mod metrics;
mod money;
mod network;
mod people;
mod queue;
mod redactor;
mod refusal;
mod session_computer;
mod sessions;
mod signals;
mod start;
mod terminals;
mod tool_servers;
mod turns;
mod vault;

use std::{sync::Arc, time::Duration};

use deskhand_agent::{Harness, PromptTemplate, TurnLimits};
use deskhand_core::{
    action::ScreenSize,
    blob::Blobs,
    budget::Budget,
    clock::Clock,
    computer::ComputerKind,
    gateway::ModelGateway,
    limits::Limits,
    model::{Effort, Models},
    network::{NetworkEntrance, stand_in::CertificateIssuer},
    sandbox::Lifecycle,
    tasks::Tasks,
    tool_server::{ToolServers, spec::McpServerSpec},
};
use deskhand_store::{KeyFile, Store};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{live::LiveSessions, signals::Signals, turns::Turns};

pub use apps::{
    AppPass, Apps, IssuePassError, IssuedPass, PassKind, ReachServiceError, SessionPorts, Waking,
};
pub use attachments::{AttachedFile, AttachmentError, Attachments};
pub use catalog::{Catalog, CheckModelError, CheckedModel, ModelChoice};
pub use computers::{
    ActByHand, ActByHandError, ByHand, ClipboardError, Computers, KeptComputer, ListenError,
    NoScreen, OpenScreenError, Picture, PlayerError, PlayerSight, ScreenshotError, WatchVideoError,
};
pub use control::{Control, ControlError, TakeControl};
pub use decisions::{AnswerError, Decisions, GivenReply, ListDecisions};
pub use evals::{
    DeleteEvalError, EvalResults, EvalRun, EvalRuns, Evals, FindEvalError, ModelFigures, StartEval,
    StartEvalError, TaskResults,
};
pub use feed::{
    bus::{BusSession, News, Notice, SessionsFeed},
    hub::Feed,
};
pub use files::{
    ArtifactError, BodyError, FileDownload, FileError, FileLimits, FileUser, Files, SharedFile,
    WriteFile,
};
pub use health::{Health, HealthChecks};
pub use jobs::{JobRun, JobStatus};
pub use live::{
    WakeError,
    attendance::Connection,
    presence::{PresenceChange, Present},
};
pub use money::{
    gateway::{Admitted, Gateway},
    spending::{Spending, UserUse},
};
pub use network::{
    BadNetwork, NetworkAccess, NetworkOverview, NetworkSettings, SetNetworkListError,
};
pub use people::{
    ChangeUser, ChangeUserError, CreateUserError, EndSignInError, MadeToken, MakeToken,
    MakeTokenError, RevokeTokenError, SetApprovalsError, SetLayoutError, SignIn, SignInError,
    SignInRequest, SignedInBrowser,
    access::{Admission, AdmitError, Guest},
    limits::{LimitsInUse, Quotas, SetLimitsError},
    offers::OfferError,
    sharing::{Grant, JoinError, MadeShare, PersonError, ShareError, ShareSession, Sharing},
    users::{Credential, EnsureAdminError, Users},
    watch_links::{WatchAccess, WatchError, WatchLinkError, WatchLinks, WatchState, watch_path},
    watched::{WatchedSound, WatchedVideo},
};
pub use queue::{
    ChangeMessage, ChangeMessageError, Choice, Place, Queue, SendPrompt, SendPromptError,
};
pub use refusal::{Code, FreesAt, InternalError, Refusal, RefusalFacts, RefusalKind, codes};
pub use session_computer::{RequireLimits, SoundListener, VideoViewer};
pub use sessions::{
    BadInstructions, BadTitle, ChangeSession, ChangeSessionError, CreateSession,
    CreateSessionError, FindError, Sessions, StopTurnError,
};
pub use terminals::{
    NewTerminal, TerminalError, TerminalStream, TerminalTypist, TerminalUpdates, Terminals,
};
pub use tool_servers::BadMcpServers;
pub use vault::{LockedError, PutSecretError, RemoveSecretError, StoreSecret, Vault};

/// The timeout of the shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

/// The parts that the app is made of.
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    /// Encrypts stored secrets.
    pub key: KeyFile,
    pub blobs: Arc<dyn Blobs>,
    pub models: Arc<dyn Models>,
    /// Runs turns.
    pub harness: Arc<dyn Harness>,
    /// The models that programs in sandboxes may call. `None` if they may call none.
    pub gateway: Option<Arc<dyn ModelGateway>>,
    pub sandboxes: Arc<dyn Lifecycle>,
    /// Makes certificates for the hosts of secrets.
    pub certificates: Arc<dyn CertificateIssuer>,
    /// Connects to MCP servers.
    pub tool_servers: Arc<dyn ToolServers>,
    /// The way to the hosts of MCP servers.
    pub network: NetworkEntrance,
    pub clock: Arc<dyn Clock>,
    pub tasks: Tasks,
    pub settings: Settings,
}

/// The settings of a deployment.
#[derive(Debug, Clone)]
pub struct Settings {
    pub screen: ScreenSize,
    /// The size of a page on a computer without a screen.
    pub viewport: ScreenSize,
    pub turn: TurnLimits,
    /// The limits of users for whom no others were set.
    pub limits: Limits,
    /// The budget of a session for which no other was chosen.
    pub session_budget: Budget,
    /// The model to use if a session's own is unavailable.
    pub fallback_model: Option<String>,
    /// The effort that models put into thinking. Each model's own default without it.
    pub effort: Option<Effort>,
    /// The system prompt of every model.
    pub prompt: PromptTemplate,
    /// The time for which sessions are kept after their end. `None` for ever.
    pub keep_ended: Option<Duration>,
    /// The maximum number of waiting prompts of one session.
    pub queue_length: u64,
    pub require_limits: RequireLimits,
    pub network: NetworkSettings,
    pub files: FileLimits,
    /// True if sandboxes have VS Code.
    pub has_code: bool,
    /// True if models are offered scripts in pages.
    pub browser_scripts: bool,
    /// The MCP servers that every session has.
    pub mcp_servers: Vec<McpServerSpec>,
}

impl Settings {
    /// Returns the size of the screen, or of a page where there is none.
    pub(crate) fn size_of(&self, computer: ComputerKind) -> ScreenSize {
        match computer {
            ComputerKind::Desktop => self.screen,
            ComputerKind::Browser => self.viewport,
        }
    }
}

/// The running app: one accessor per subject. Clones share it.
#[derive(Debug, Clone)]
pub struct App(Arc<Subjects>);

#[derive(Debug)]
struct Subjects {
    apps: Apps,
    sessions: Sessions,
    queue: Queue,
    control: Control,
    computers: Computers,
    terminals: Terminals,
    files: Files,
    attachments: Attachments,
    decisions: Decisions,
    evals: Evals,
    sharing: Sharing,
    watch_links: WatchLinks,
    limits: Quotas,
    spending: Spending,
    catalog: Catalog,
    health: HealthChecks,
    users: Users,
    vault: Vault,
    gateway: Option<Gateway>,
    network: NetworkAccess,
    live: LiveSessions,
    turns: Turns,
    signals: Signals,
    clock: Arc<dyn Clock>,
    tasks: Tasks,
}

impl App {
    pub fn apps(&self) -> &Apps {
        &self.0.apps
    }

    pub fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    pub fn queue(&self) -> &Queue {
        &self.0.queue
    }

    pub fn control(&self) -> &Control {
        &self.0.control
    }

    pub fn computers(&self) -> &Computers {
        &self.0.computers
    }

    pub fn terminals(&self) -> &Terminals {
        &self.0.terminals
    }

    pub fn files(&self) -> &Files {
        &self.0.files
    }

    pub fn attachments(&self) -> &Attachments {
        &self.0.attachments
    }

    pub fn decisions(&self) -> &Decisions {
        &self.0.decisions
    }

    pub fn evals(&self) -> &Evals {
        &self.0.evals
    }

    pub fn sharing(&self) -> &Sharing {
        &self.0.sharing
    }

    pub fn watch_links(&self) -> &WatchLinks {
        &self.0.watch_links
    }

    pub fn limits(&self) -> &Quotas {
        &self.0.limits
    }

    pub fn spending(&self) -> &Spending {
        &self.0.spending
    }

    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    pub fn health(&self) -> &HealthChecks {
        &self.0.health
    }

    pub fn users(&self) -> &Users {
        &self.0.users
    }

    pub fn vault(&self) -> &Vault {
        &self.0.vault
    }

    pub fn gateway(&self) -> Option<&Gateway> {
        self.0.gateway.as_ref()
    }

    pub fn network(&self) -> &NetworkAccess {
        &self.0.network
    }

    pub(crate) fn signals(&self) -> &Signals {
        &self.0.signals
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Returns the token that fires when the app starts to shut down.
    pub fn ending(&self) -> &CancellationToken {
        self.0.tasks.shutdown()
    }

    /// Ends running turns with a note in their log, then the sandboxes. Returns `false` if something did not end in
    /// time.
    pub async fn shut_down(&self) -> bool {
        self.0.turns.park();
        self.0.tasks.shutdown().cancel();
        let closed = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.0.live.close_all())
            .await
            .is_ok();
        self.0.tasks.end(Duration::from_secs(1)).await && closed
    }
}
