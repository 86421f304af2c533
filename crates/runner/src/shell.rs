//! The persistent shell: one bash whose directory, variables, functions and jobs survive between commands.
//!
//! Commands run one at a time. Whatever a command does, its end is noticed: bash writes an unguessable word to a
//! private descriptor, and the runner also notices when bash itself ends. On a timeout, the runner ends the command
//! and keeps the shell if it can.

mod bash;
mod capture;
mod leased;
mod output;
mod processes;
mod session;
mod whole_output;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use bytes::Bytes;
use deskhand_core::{
    secret::Secret,
    shell::{LONGEST_TIMEOUT_MS, ShellOutput, ShellRequest},
    tasks::Tasks,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::{
    bash::{program, set_environment},
    leased::Shells,
    processes::kill_sessions,
};
use crate::{
    processes::{ProcessName, ProcessSlot},
    terminals::Transcript,
};

/// The most commands that may wait. Callers wait when there are more.
const LONGEST_QUEUE: usize = 64;

/// The settings of a shell.
#[derive(Debug, Clone)]
pub struct ShellConfig {
    /// The initial working directory, and `HOME`.
    pub home: PathBuf,
    /// The X display for programs started from it. Absent where there is no screen.
    pub display: Option<String>,
    /// The most output of a command that is kept: the first and the last half of this.
    pub output_bytes: usize,
    /// Further environment variables for its programs.
    pub variables: BTreeMap<String, Secret>,
}

/// Receives pieces of a command's output while it runs. Must not block.
pub type OnOutput = Arc<dyn Fn(Bytes) + Send + Sync>;

/// Reasons why a shell request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error("a shell command cannot contain a NUL character")]
    Nul,
    #[error("a command may take 1 to {LONGEST_TIMEOUT_MS} ms, not {0}")]
    BadTimeout(u64),
    #[error("it was cancelled before it began")]
    Cancelled,
    #[error(
        "the shell had ended by itself (exit code {code}), so the command was not run; a new shell is ready"
    )]
    Died { code: i32 },
    #[error("could not start the shell")]
    Start(#[source] std::io::Error),
    #[error("the link to the shell broke")]
    Link(#[source] std::io::Error),
    #[error("the shell is shutting down")]
    Gone,
}

/// A handle to the shell. Clones share the shell.
#[derive(Debug, Clone)]
pub struct Shell {
    orders: mpsc::Sender<Order>,
    /// The process of the current bash.
    process: Arc<ProcessSlot>,
}

/// A message to the shell's task.
#[derive(Debug)]
enum Order {
    Command(QueuedCommand),
    Pause(Pause),
}

/// Keeps the shell's task from using bash until `resumed` is cancelled.
#[derive(Debug)]
struct Pause {
    /// Sent once no command is running any more.
    paused: oneshot::Sender<()>,
    resumed: CancellationToken,
}

/// A request on its way to the shell's task.
struct QueuedCommand {
    request: ShellRequest,
    on_output: OnOutput,
    cancel: CancellationToken,
    reply: oneshot::Sender<Result<ShellOutput, ShellError>>,
}

impl Shell {
    /// Starts the shell. It ends, with everything started from it, when `tasks` end.
    pub fn start(config: ShellConfig, tasks: &Tasks) -> Result<Self, ShellError> {
        Self::start_session(config, None, tasks)
    }

    /// Starts a shell that people can watch.
    fn start_watched(
        config: ShellConfig,
        transcript: Transcript,
        tasks: &Tasks,
    ) -> Result<Self, ShellError> {
        Self::start_session(config, Some(transcript), tasks)
    }

    fn start_session(
        config: ShellConfig,
        transcript: Option<Transcript>,
        tasks: &Tasks,
    ) -> Result<Self, ShellError> {
        let (orders, received) = mpsc::channel(LONGEST_QUEUE);
        let session = session::Session::start(config, transcript)?;
        let process = session.process();
        tasks.spawn("shell", session.serve(received, tasks.shutdown().clone()));
        Ok(Self { orders, process })
    }

    /// Carries out a request, after all earlier ones.
    pub async fn perform(
        &self,
        request: ShellRequest,
        on_output: OnOutput,
        cancel: CancellationToken,
    ) -> Result<ShellOutput, ShellError> {
        if let ShellRequest::Run {
            command,
            timeout_ms,
        } = &request
        {
            if command.contains('\0') {
                return Err(ShellError::Nul);
            }
            if !(1..=LONGEST_TIMEOUT_MS).contains(timeout_ms) {
                return Err(ShellError::BadTimeout(*timeout_ms));
            }
        }
        let (reply, answer) = oneshot::channel();
        let order = QueuedCommand {
            request,
            on_output,
            cancel,
            reply,
        };
        // The channel errors carry no further cause: the shell's task is gone.
        self.orders
            .send(Order::Command(order))
            .await
            .map_err(|_closed| ShellError::Gone)?;
        answer.await.map_err(|_closed| ShellError::Gone)?
    }

    /// Leaves bash alone until the guard is dropped. Waits until the commands before this have ended.
    async fn pause(&self) -> DropGuard {
        let (paused, is_paused) = oneshot::channel();
        let resumed = CancellationToken::new();
        // A caller that stops waiting ends the pause before it begins.
        let guard = resumed.clone().drop_guard();
        let order = Pause { paused, resumed };
        if self.orders.send(Order::Pause(order)).await.is_ok() {
            // A shell that is gone needs no pause.
            let _ = is_paused.await;
        }
        guard
    }

    fn process(&self) -> Option<ProcessName> {
        self.process.get()
    }
}

impl std::fmt::Debug for QueuedCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueuedCommand")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
