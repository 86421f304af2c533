//! VS Code in the browser: code-server, started on demand.
//!
//! It listens on the sandbox's loopback without a password, since a program that can reach it there has the same
//! permissions anyway. It is ended whenever control changes hands, so that the agent's programs cannot keep running
//! through it while a person has control. The next person who opens it starts it again.

use std::{
    collections::BTreeMap,
    io,
    net::Ipv4Addr,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{secret::Secret, tasks::Tasks};
use rustix::process::Pid;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::Mutex,
    time::{Instant, sleep, timeout},
};

use crate::{
    complaints::Complaints,
    processes::{KilledGroup, ProcessName},
};

/// The timeout for the start of VS Code, which usually takes about a second.
const START_TIMEOUT: Duration = Duration::from_secs(25);
/// The interval at which its port is tried while it starts.
const TRY_EVERY: Duration = Duration::from_millis(50);
/// The timeout for an answer while it starts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Reasons why VS Code cannot be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodeServerError {
    #[error("VS Code is not installed")]
    NotInstalled,
    #[error("VS Code could not be started")]
    Start(#[source] io::Error),
    #[error("VS Code ended while it was starting ({0})")]
    Ended(String),
    #[error("VS Code did not start within {} s", START_TIMEOUT.as_secs())]
    Slow,
    #[error("VS Code cannot be reached")]
    Connect(#[source] io::Error),
}

/// The settings of VS Code.
#[derive(Debug)]
pub(crate) struct CodeServerConfig {
    /// The program and its first arguments. Empty if it is not installed.
    pub(crate) command: Vec<String>,
    /// The folder that it shows.
    pub(crate) home: PathBuf,
    /// Absent where there is no screen.
    pub(crate) display: Option<String>,
    pub(crate) variables: BTreeMap<String, Secret>,
}

/// VS Code, running or not. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct CodeServer(Arc<CodeServerParts>);

#[derive(Debug)]
struct CodeServerParts {
    config: CodeServerConfig,
    tasks: Tasks,
    /// Held while it starts, so that it starts only once.
    starting: Mutex<()>,
    running: SyncMutex<Option<RunningCode>>,
}

/// A running VS Code. The group is dropped first: it is found through the parent processes, which must still exist.
#[derive(Debug)]
struct RunningCode {
    group: KilledGroup,
    child: Child,
    port: u16,
    /// True once it has answered a request.
    is_up: bool,
    complaints: Complaints,
}

impl CodeServer {
    pub(crate) fn new(config: CodeServerConfig, tasks: Tasks) -> Self {
        Self(Arc::new(CodeServerParts {
            config,
            tasks,
            starting: Mutex::default(),
            running: SyncMutex::default(),
        }))
    }

    /// Connects to VS Code, and starts it if it is not running.
    pub(crate) async fn connect(&self) -> Result<TcpStream, CodeServerError> {
        let _starting = self.0.starting.lock().await;
        let port = match self.port() {
            Some(port) => port,
            None => self.start().await?,
        };
        let deadline = Instant::now() + START_TIMEOUT;
        while !self.is_up() {
            if serves(port).await {
                self.note_up();
                break;
            }
            self.check()?;
            if Instant::now() >= deadline {
                self.end();
                return Err(CodeServerError::Slow);
            }
            sleep(TRY_EVERY).await;
        }
        let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
        let connected = connected.map_err(CodeServerError::Connect)?;
        connected
            .set_nodelay(true)
            .map_err(CodeServerError::Connect)?;
        Ok(connected)
    }

    /// Returns true if it has answered since it was started.
    fn is_up(&self) -> bool {
        self.running().as_ref().is_some_and(|code| code.is_up)
    }

    fn note_up(&self) {
        if let Some(code) = self.running().as_mut() {
            code.is_up = true;
        }
    }

    /// Kills it, with everything that was started from it.
    pub(crate) fn end(&self) {
        *self.running() = None;
    }

    /// Returns its process if it runs.
    pub(crate) fn process(&self) -> Option<ProcessName> {
        let running = self.running();
        // It has not been waited for while it counts as running, so the id is still its own.
        running
            .as_ref()
            .and_then(|code| ProcessName::of(code.group.0))
    }

    /// Starts it on a free port.
    async fn start(&self) -> Result<u16, CodeServerError> {
        let config = &self.0.config;
        let (program, arguments) = config
            .command
            .split_first()
            .ok_or(CodeServerError::NotInstalled)?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let free = free.and_then(|free| free.local_addr());
        let port = free.map_err(CodeServerError::Start)?.port();
        let variables = config.variables.iter();
        let mut child = command(program)
            .args(arguments)
            .arg("--bind-addr")
            .arg(format!("127.0.0.1:{port}"))
            .args([
                "--auth",
                "none",
                "--disable-telemetry",
                "--disable-update-check",
            ])
            .args([
                "--disable-workspace-trust",
                "--disable-getting-started-override",
                // Ports are opened through the gateway, each on an origin of its own.
                "--disable-proxy",
            ])
            .arg(&config.home)
            .envs(config.display.iter().map(|display| ("DISPLAY", display)))
            .envs(variables.map(|(name, value)| (name, value.expose())))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(CodeServerError::Start)?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or_else(|| CodeServerError::Ended("at once".to_owned()))?;
        let complaints = Complaints::default();
        if let Some(stderr) = child.stderr.take() {
            let keeping = complaints.clone().keep(stderr);
            let shutdown = self.0.tasks.shutdown().clone();
            self.0.tasks.spawn("VS Code's complaints", async move {
                shutdown.run_until_cancelled(keeping).await;
            });
        }
        *self.running() = Some(RunningCode {
            group: KilledGroup(pid),
            child,
            port,
            is_up: false,
            complaints,
        });
        Ok(port)
    }

    /// Returns its port if it runs.
    pub(crate) fn port(&self) -> Option<u16> {
        self.check().ok()?;
        self.running().as_ref().map(|code| code.port)
    }

    /// Returns an error if it is not running, and forgets it if it has exited.
    fn check(&self) -> Result<(), CodeServerError> {
        let mut running = self.running();
        let Some(code) = running.as_mut() else {
            return Err(CodeServerError::Ended("control changed hands".to_owned()));
        };
        let Some(status) = code.child.try_wait().ok().flatten() else {
            return Ok(());
        };
        let ended = format!("{status}{}", code.complaints.last());
        *running = None;
        Err(CodeServerError::Ended(ended))
    }

    fn running(&self) -> MutexGuard<'_, Option<RunningCode>> {
        // No code under this lock panics halfway.
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if VS Code answers at this port. It listens some time before it has pages to show.
async fn serves(port: u16) -> bool {
    let ask = async {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        connection
            .write_all(b"GET /healthz HTTP/1.0\r\n\r\n")
            .await?;
        let mut status = [0; b"HTTP/1.1 200".len()];
        connection.read_exact(&mut status).await?;
        io::Result::Ok(status.ends_with(b" 200"))
    };
    timeout(ANSWER_TIMEOUT, ask)
        .await
        .is_ok_and(|answer| answer.unwrap_or(false))
}

#[expect(
    clippy::disallowed_methods,
    reason = "programs are started in the runner, and only this module starts VS Code"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_start_fails_at_once_when_control_changes_hands() {
        let config = CodeServerConfig {
            // It never listens.
            command: ["sh", "-c", "exec sleep 60"].map(str::to_owned).to_vec(),
            home: std::env::temp_dir(),
            display: None,
            variables: BTreeMap::new(),
        };
        let code = CodeServer::new(config, Tasks::default());
        let ending = async {
            while code.process().is_none() {
                tokio::task::yield_now().await;
            }
            code.end();
        };
        let (connected, ()) = tokio::join!(code.connect(), ending);
        assert!(
            matches!(connected, Err(CodeServerError::Ended(_))),
            "{connected:?}"
        );
    }
}
