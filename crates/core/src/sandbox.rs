//! The port to sandboxes: starting one, using the computer in it, watching its screen.

use std::{pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{Sink, Stream};
use serde::{Deserialize, Serialize};

use crate::{
    action::{Action, Point, ScreenSize},
    blob::BlobFormat,
    edit::EditCommand,
    id::{RequestId, SessionId, UserId},
    secret::Secret,
    shell::{ShellOutput, ShellRequest},
    vault::{Filling, SecretName},
};

/// What a sandbox should be like.
#[derive(Debug, Clone, Copy)]
pub struct SandboxSpec {
    pub session: SessionId,
    pub screen: ScreenSize,
}

/// On whose behalf a computer is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    Agent,
    Person(UserId),
}

/// Whom a computer obeys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    #[default]
    Anybody,
    /// Only this person. What others ask is refused, and what they have under way is ended.
    Only(UserId),
}

impl Driver {
    pub fn obeys(self, actor: Actor) -> bool {
        match self {
            Self::Anybody => true,
            Self::Only(user) => actor == Actor::Person(user),
        }
    }
}

/// Something asked of the computer in a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputerRequest {
    Act {
        action: Action,
        /// Whether to wait for the screen to settle and send a picture with the reply.
        /// `Screenshot` and `Zoom` send one in any case.
        look: bool,
        /// How big a picture of the whole screen is made; absent, as big as the screen. A `Zoom`
        /// is as big as fits into it.
        shown: Option<ScreenSize>,
    },
    /// A picture of the screen as it is now, without waiting for it to settle.
    Look {
        format: BlobFormat,
        /// How big the picture is made; absent, as big as the screen.
        shown: Option<ScreenSize>,
    },
    Shell(ShellRequest),
    Edit(EditCommand),
    /// Puts a file into the home folder.
    Keep(KeptFile),
    /// Types a secret into the field that has the focus, if that is on an allowed origin.
    Fill {
        name: SecretName,
        /// Added by the session's desk: whoever asks knows only the name.
        filling: Option<Filling>,
    },
    /// These may be on the screen and must not be in any picture from now on.
    Guard {
        values: Vec<Secret>,
    },
}

/// A file for the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// The folder in the home folder, made if need be.
    pub folder: String,
    /// A plain name, without slashes.
    pub name: String,
    pub base64: String,
}

/// What the computer answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputerReply {
    /// The action was carried out. `text` says so in a few words.
    Acted {
        text: String,
        frame: Option<Frame>,
    },
    Shell(ShellOutput),
    /// The edit was made, or the file is shown in `text`, which for a kept file is its path.
    Edited {
        text: String,
    },
}

/// A picture of the screen, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub bytes: Bytes,
    pub format: BlobFormat,
    /// How big the picture is, which need not be the size of the screen.
    pub size: ScreenSize,
    /// Where the pointer was on the screen.
    pub pointer: Point,
}

/// Why a request was not carried out, or not surely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComputerError {
    /// It was tried, or refused, inside the sandbox. The text is for the model.
    #[error("{0}")]
    Failed(String),
    /// A person has mouse and keyboard. What was begun before that may have been done.
    #[error("{}", refusal(*.was_begun))]
    Refused { was_begun: bool },
    /// It was cancelled before it was done.
    #[error("the request was cancelled")]
    Cancelled,
    /// The sandbox died or the link broke after the request was sent: it may have been done.
    #[error("the sandbox was lost during the action, so it is not known whether it was done")]
    FateUnknown,
    /// There is no running sandbox.
    #[error("the sandbox is not running")]
    Gone,
    /// It was ended on purpose, before the request or during it. The text, which says which, is for the model.
    #[error("{0}")]
    Ended(String),
}

fn refusal(was_begun: bool) -> &'static str {
    if was_begun {
        "Cut off: a person took over mouse and keyboard during this action. It is not known \
         whether it was done."
    } else {
        "Not executed: a person has mouse and keyboard."
    }
}

/// Why a sandbox could not be started. The texts name what is missing and the way out.
#[derive(Debug, thiserror::Error)]
pub enum StartSandboxError {
    /// The machine lacks something.
    #[error("{what}: {remedy}")]
    Missing { what: String, remedy: String },
    /// It was started and did not come up.
    #[error("the sandbox did not come up: {0}")]
    Failed(String),
    #[error("the sandbox could not be prepared")]
    Io(#[from] std::io::Error),
}

/// How a sandbox came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxEnd {
    /// Somebody asked for it.
    Stopped,
    /// It died. The text says how, for people.
    Died(String),
}

/// Pieces of a shell command's output on their way. Bounded; what does not fit is not sent,
/// since the reply has it all.
pub type Progress = futures::channel::mpsc::Sender<Bytes>;

/// Bytes in both directions, in whatever pieces they came. Ends when either side does.
pub struct ByteStream {
    pub incoming: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    pub outgoing: Pin<Box<dyn Sink<Bytes, Error = std::io::Error> + Send>>,
}

/// What all sandboxes of a server use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxUsage {
    pub n_running: u64,
    /// Memory of those that run, where the machine can tell.
    pub memory_bytes: Option<u64>,
    /// Processor time of all since the server started, ended ones included, where the machine can tell.
    pub cpu: Option<Duration>,
}

/// Makes sandboxes.
#[async_trait]
pub trait Sandboxes: Send + Sync + std::fmt::Debug {
    /// Starts a sandbox and waits until its desktop answers. The files of an earlier sandbox of
    /// the same session are there again.
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError>;

    /// Removes the files that sandboxes of this session left.
    async fn remove_files(&self, session: SessionId) -> std::io::Result<()>;

    /// Sessions that have files here.
    async fn sessions_with_files(&self) -> std::io::Result<Vec<SessionId>>;

    /// Whether a sandbox could be started, as far as that can be told without starting one.
    async fn check(&self) -> Result<(), StartSandboxError>;

    /// What all sandboxes use together.
    async fn usage(&self) -> SandboxUsage;
}

/// A running sandbox.
#[async_trait]
pub trait Sandbox: Send + Sync + std::fmt::Debug {
    fn screen(&self) -> ScreenSize;

    /// Carries out a request. An id that was used before is answered from memory.
    async fn perform(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> Result<ComputerReply, ComputerError>;

    /// Says whom the computer obeys from now on, and waits until it knows. From the call on, no
    /// reply and no progress reaches anybody it does not obey.
    async fn set_driver(&self, driver: Driver);

    /// Ends a request early: its `perform` answers soon, with `Cancelled` or what was done.
    async fn cancel(&self, id: RequestId);

    /// The screen as an RFB server speaks it.
    async fn open_screen(&self) -> Result<ByteStream, ComputerError>;

    /// Waits for the end, however it comes about.
    async fn ended(&self) -> SandboxEnd;

    /// Ends it and everything in it, and returns when it is gone. Files stay.
    async fn stop(&self);
}
