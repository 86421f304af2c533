//! The runner: the program inside a sandbox that carries out the server's requests. The only secret it holds is its
//! own token.

mod barrier;
mod browser;
mod capture_clock;
mod code_server;
mod complaints;
pub mod desktop;
pub mod editor;
mod files;
mod freeze;
mod gateway;
mod handlers;
pub mod headless;
mod link;
mod network;
mod ports;
mod pour;
mod processes;
mod programs;
mod put_file;
mod requests;
pub mod shell;
mod sound;
mod surface;
mod takeover;
mod terminals;
mod video;

use std::{
    collections::BTreeMap,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use deskhand_core::{secret::Secret, tasks::Tasks};
use deskhand_runner_protocol::{FromRunner, RunnerConfig, descriptor};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::{sync::mpsc, time::timeout};

pub use self::link::Dialler;

use self::{
    barrier::Barrier,
    code_server::{CodeServer, CodeServerConfig},
    desktop::StartDesktopError,
    handlers::Parts,
    link::{Link, LinkParts, Outbox, Server, UnixDialler},
    programs::Programs,
    requests::work::Work,
    shell::{ShellConfig, ShellError, Shells},
    sound::SoundCard,
    surface::Surface,
    takeover::TakeOver,
    terminals::{Terminals, Transcript},
};

/// The longest configuration line, which holds a token, some numbers and the browser's arguments.
const LONGEST_CONFIG_BYTES: usize = 1024 * 1024;
const CONFIG_PIECE_BYTES: usize = 64 * 1024;
/// The timeout for reporting a failed start to the server.
const REPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for telling the server why the desktop ended.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);
/// The time that tasks get to end when the runner ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The most notices that may wait for the link.
const MOST_NOTICES: usize = 64;

/// Reasons why the configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadConfigError {
    #[error("could not read standard input")]
    Read(#[from] io::Error),
    #[error(
        "the first line on standard input is not a runner's configuration: the runner is started by Deskhand, not by hand"
    )]
    Json(#[from] serde_json::Error),
}

/// Reasons why the runner ended.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("could not protect this process from others")]
    Hide(#[source] io::Error),
    #[error("there is no home folder: HOME is not set")]
    NoHome,
    #[error("the desktop did not start")]
    Desktop(#[from] StartDesktopError),
    #[error("the shell did not start")]
    Shell(#[from] ShellError),
    #[error("the desktop has ended: {0}")]
    DesktopEnded(String),
}

/// Reasons why the runner of a sandbox ended.
#[derive(Debug, thiserror::Error)]
pub enum RunForServerError {
    #[error(transparent)]
    Config(#[from] ReadConfigError),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The resources that a run cleans up, however it ends.
struct Traces {
    tasks: Tasks,
    runtime_dir: PathBuf,
}

/// Reads the configuration: one line of JSON on standard input, which is a socket, with the sandbox's interface if it
/// has one.
fn read_config() -> Result<(RunnerConfig, Option<OwnedFd>), ReadConfigError> {
    let mut line = Vec::new();
    let mut interface = None;
    let mut piece = vec![0; CONFIG_PIECE_BYTES];
    while line.last() != Some(&b'\n') && line.len() < LONGEST_CONFIG_BYTES {
        let (n_received, descriptor) = descriptor::receive(io::stdin(), &mut piece)?;
        line.extend_from_slice(&piece[..n_received]);
        interface = interface.or(descriptor);
        if n_received == 0 {
            break;
        }
    }
    Ok((serde_json::from_slice(&line)?, interface))
}

/// Reads the configuration from standard input and serves until the desktop ends or the server is gone.
///
/// This is `deskhand runner`. The server keeps the other end of standard input open as long as it lives. However
/// the server dies, the kernel closes that end, and the sandbox ends with its runner.
pub async fn run_for_server() -> Result<(), RunForServerError> {
    let (config, interface) = read_config()?;
    tokio::select! {
        result = run(config, interface) => Ok(result?),
        () = server_gone() => Ok(()),
    }
}

/// Waits until standard input ends. The thread that reads it ends with the process.
async fn server_gone() {
    use io::Read;
    let (gone, noticed) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _gone = gone;
        let mut rest = [0; 64];
        loop {
            match io::stdin().lock().read(&mut rest) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
                Ok(_) | Err(_) => {}
            }
        }
    });
    // Nothing is ever sent: the channel closes when the thread returns.
    let _ = noticed.await;
}

/// Serves the desktop, the shell and the editor to the server at `config.socket` until the desktop ends.
pub async fn run(config: RunnerConfig, interface: Option<OwnedFd>) -> Result<(), RunError> {
    let dialler = UnixDialler {
        path: config.socket.clone().into(),
    };
    run_over(config, interface, Arc::new(dialler)).await
}

/// Serves the desktop, the shell and the editor to the server that `dialler` reaches, until the desktop ends.
///
/// Programs reach other hosts through `interface`, if there is one.
pub async fn run_over(
    config: RunnerConfig,
    interface: Option<OwnedFd>,
    dialler: Arc<dyn Dialler>,
) -> Result<(), RunError> {
    // Other programs in the sandbox run as the same user and could otherwise read the token from this process's
    // memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| RunError::Hide(error.into()))?;
    let traces = Traces {
        tasks: Tasks::default(),
        runtime_dir: std::env::temp_dir().join(format!(".deskhand-{}", std::process::id())),
    };
    let server = Server::new(dialler, config.token.clone());
    let result = run_with(config, interface, server, &traces).await;
    if !traces.tasks.end(SHUTDOWN_TIMEOUT).await {
        tracing::warn!("some tasks did not end in time");
    }
    result
}

async fn run_with(
    config: RunnerConfig,
    interface: Option<OwnedFd>,
    server: Server,
    Traces { tasks, runtime_dir }: &Traces,
) -> Result<(), RunError> {
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .ok_or(RunError::NoHome)?;
    let (notice, mut notices) = mpsc::channel(MOST_NOTICES);
    let mut variables = config.variables.clone();
    variables.extend(gateway::open(&config, &server, &notice, tasks).await);
    variables.extend(network::open(&config, interface, &server, &notice, tasks));
    let sound = SoundCard::open(config.computer, runtime_dir, tasks, notice.clone());
    for (name, value) in sound.iter().flat_map(SoundCard::variables) {
        variables.insert(name, Secret::new(value));
    }
    let surface = Surface::start(
        &config,
        &home,
        runtime_dir,
        (variables.clone(), sound.as_ref()),
        tasks.clone(),
        notice,
    );
    let mut dialling = std::pin::pin!(server.dial_until_up());
    // The desktop starts while the server is being dialled. Either may be ready first.
    let mut surface = std::pin::pin!(surface);
    let (surface, early_link) = tokio::select! {
        surface = &mut surface => (surface, None),
        socket = &mut dialling => (surface.await, Some(socket)),
    };
    let first_link = async {
        match early_link {
            Some(socket) => socket,
            None => dialling.await,
        }
    };
    let surface = match surface {
        Ok(surface) => surface,
        Err(error) => {
            say_why(first_link, whole_story(&error)).await;
            return Err(error.into());
        }
    };
    let code = code_server(&config, &home, &surface, &variables, tasks.clone());
    let shell = shell_config(&config, &home, &surface, variables);
    let programs = Programs::new(shell.clone());
    let transcript = Transcript::default();
    let terminals = Terminals::new(shell.clone(), &transcript, tasks.clone());
    let shells = match Shells::start(shell, transcript, tasks) {
        Ok(shells) => shells,
        Err(error) => {
            say_why(first_link, whole_story(&error)).await;
            return Err(error.into());
        }
    };
    // Serve requests until the desktop ends.
    let outbox = Outbox::default();
    let parts = Parts::new(surface.clone(), shells, terminals);
    let parts = (parts, code, programs, sound.clone());
    let link = link(&server, parts, &outbox, config.is_alone, tasks);
    let notify = async {
        while let Some(text) = notices.recv().await {
            outbox.tell(FromRunner::Notice { text });
        }
        std::future::pending::<()>().await;
    };
    let mut serving = std::pin::pin!(async { link.serve(first_link.await).await });
    let reason = tokio::select! {
        reason = surface.ended() => reason,
        () = &mut serving => return Ok(()),
        () = notify => return Ok(()),
    };
    say_last_words(&outbox, &reason, serving).await;
    Err(RunError::DesktopEnded(reason))
}

/// Makes the control link, with everything that carries out its requests.
fn link(
    server: &Server,
    (parts, code, programs, sound): (Parts, CodeServer, Programs, Option<SoundCard>),
    outbox: &Outbox,
    is_alone: bool,
    tasks: &Tasks,
) -> Link {
    let (surface, terminals) = (parts.surface.clone(), parts.terminals.clone());
    let takeover = TakeOver::new(
        surface.clone(),
        parts.shells.clone(),
        terminals.clone(),
        code.clone(),
        sound.clone(),
        is_alone,
        tasks.clone(),
    );
    let barrier = Barrier::default();
    let work = Work::new(parts, outbox.clone(), barrier.clone(), tasks);
    let parts = LinkParts {
        surface,
        terminals,
        code,
        programs,
        sound,
        work,
        takeover,
        barrier,
    };
    Link::new(server.clone(), outbox.clone(), parts, tasks.clone())
}

/// Tells the server why the desktop ended, over the link that only the runner has.
async fn say_last_words(outbox: &Outbox, reason: &str, serving: impl Future<Output = ()>) {
    let text = reason.to_owned();
    outbox.close(FromRunner::LastWords { text });
    if timeout(LAST_WORDS_TIMEOUT, serving).await.is_err() {
        tracing::warn!("could not tell the server why the desktop ended");
    }
}

/// Tells the server why the start failed, if the server can be reached.
async fn say_why(first_link: impl Future<Output = link::Socket>, problem: String) {
    let report = async { link::give_up(first_link.await, problem).await };
    match timeout(REPORT_TIMEOUT, report).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not tell the server that the start failed");
        }
        Err(_) => tracing::warn!("could not reach the server to tell it that the start failed"),
    }
}

/// Writes an error with all its causes as one line.
fn whole_story(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}

fn code_server(
    config: &RunnerConfig,
    home: &Path,
    surface: &Surface,
    variables: &BTreeMap<String, Secret>,
    tasks: Tasks,
) -> CodeServer {
    let config = CodeServerConfig {
        command: config.code.clone(),
        home: home.to_owned(),
        display: surface.display(),
        variables: variables.clone(),
    };
    CodeServer::new(config, tasks)
}

fn shell_config(
    config: &RunnerConfig,
    home: &Path,
    surface: &Surface,
    variables: BTreeMap<String, Secret>,
) -> ShellConfig {
    ShellConfig {
        home: home.to_owned(),
        display: surface.display(),
        output_bytes: config.shell_output_bytes,
        variables,
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
        // The folder does not exist if the desktop failed early.
        let _ = std::fs::remove_dir_all(&self.runtime_dir);
    }
}
