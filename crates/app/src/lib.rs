//! What each operation of Deskhand means, whoever asks: the page, the terminal, HTTP.

mod access;
mod awake;
mod budgets;
mod bus;
mod control;
mod decisions;
mod desk;
pub mod figures;
mod gateway;
mod health;
mod history;
mod hub;
mod in_use;
mod keeper;
mod limits;
mod live;
mod log;
mod model_choice;
mod patience;
mod presence;
mod redactor;
mod session_computer;
mod sessions;
mod turn_log;
mod users;
mod vault;

use std::{sync::Arc, time::Duration};

use deskhand_agent::{PromptTemplate, TurnLimits};
use deskhand_core::{
    action::ScreenSize, blob::Blobs, budget::Budget, clock::Clock, gateway::ModelGateway,
    limits::Limits, model::Models, sandbox::Lifecycle, tasks::Tasks,
};
use deskhand_store::{KeyFile, Store, StoreError};

use tokio_util::sync::CancellationToken;

use crate::access::AccessChanges;

pub use access::{Admission, AdmitError, Guest};
pub use awake::WakeError;
pub use budgets::UserUse;
pub use bus::{BusSession, News, Notice, SessionsFeed};
pub use control::Seat;
pub use gateway::{Admitted, Gateway};
pub use health::Health;
pub use hub::Feed;
pub use limits::{LimitsInUse, SetLimitsError};
pub use model_choice::ModelChoice;
pub use presence::{PresenceChange, Present};
pub use sessions::{
    ActByHand, ActByHandError, AnswerError, BadInstructions, ByHand, ChangeMessage,
    ChangeMessageError, ChangeSession, ChangeSessionError, Choice, ControlError, CreateSession,
    CreateSessionError, FindError, GivenReply, JoinError, ListDecisions, MadeShare,
    OpenScreenError, PersonError, Picture, Place, ScreenshotError, SendPrompt, SendPromptError,
    Sessions, ShareError, ShareSession, StopTurnError, TakeControl,
};
pub use users::{
    ChangeUser, ChangeUserError, CreateUserError, Credential, EnsureAdminError, MadeToken,
    MakeToken, MakeTokenError, SetApprovalsError, SignIn, SignInError, Users,
};
pub use vault::{LockedError, PutSecretError, Vault};

/// How long everything has to come to its end at shutdown.
const SHUTDOWN: Duration = Duration::from_secs(4);

/// What the app is made of.
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    /// What stored secrets are encrypted with.
    pub key: KeyFile,
    pub blobs: Arc<dyn Blobs>,
    pub models: Arc<dyn Models>,
    /// What programs in sandboxes may ask; `None` when they may ask nobody.
    pub gateway: Option<Arc<dyn ModelGateway>>,
    pub sandboxes: Arc<dyn Lifecycle>,
    pub clock: Arc<dyn Clock>,
    pub tasks: Tasks,
    pub settings: Settings,
}

/// What a deployment may decide.
#[derive(Debug, Clone)]
pub struct Settings {
    pub screen: ScreenSize,
    pub turn: TurnLimits,
    /// What holds for people for whom nothing else was decided.
    pub limits: Limits,
    /// What a session may use for which nobody said otherwise.
    pub session_budget: Budget,
    /// The model that is asked when a session's own cannot be reached.
    pub fallback_model: Option<String>,
    /// What every model is told before the conversation.
    pub prompt: PromptTemplate,
    /// How many prompts of one session may wait.
    pub queue_length: u64,
}

/// The running app. Clones share it.
#[derive(Debug, Clone)]
pub struct App {
    users: Users,
    sessions: Sessions,
    gateway: Option<Gateway>,
    vault: Vault,
    access: AccessChanges,
    clock: Arc<dyn Clock>,
    tasks: Tasks,
}

impl App {
    /// Starts the app: what an earlier server left unfinished is closed honestly, and prompts
    /// that were waiting are taken up.
    pub async fn start(parts: Parts) -> Result<Self, StoreError> {
        let tasks = parts.tasks.clone();
        let clock = Arc::clone(&parts.clock);
        let access = AccessChanges::new();
        let users = Users::new(
            parts.store.clone(),
            Arc::clone(&clock),
            access.clone(),
            &tasks,
        );
        let vendors = parts.gateway.clone();
        let vault = Vault::new(parts.store.clone(), parts.key.clone(), Arc::clone(&clock));
        let sessions = Sessions::new(parts, vault.clone(), access.clone());
        let gateway = vendors.map(|vendors| Gateway::new(sessions.clone(), vendors));
        sessions.settle_expired().await?;
        sessions.reconcile().await?;
        let (bus, store) = (
            Arc::clone(&sessions.shared.bus),
            sessions.shared.store.clone(),
        );
        tasks.spawn("bus", bus::spread(bus, store, tasks.shutdown().clone()));
        tasks.spawn("keeper", keeper::keep(sessions.clone()));
        Ok(Self {
            users,
            sessions,
            gateway,
            vault,
            access,
            clock,
            tasks,
        })
    }

    pub fn users(&self) -> &Users {
        &self.users
    }

    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub fn gateway(&self) -> Option<&Gateway> {
        self.gateway.as_ref()
    }

    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Fires when the app begins to end.
    pub fn ending(&self) -> &CancellationToken {
        self.tasks.shutdown()
    }

    /// Ends running turns with a word in their log, then the sandboxes. Tells whether everything
    /// came to its end in time.
    pub async fn shut_down(&self) -> bool {
        self.sessions.park();
        self.tasks.shutdown().cancel();
        let closed = tokio::time::timeout(SHUTDOWN, self.sessions.close_all())
            .await
            .is_ok();
        self.tasks.end(Duration::from_secs(1)).await && closed
    }
}
