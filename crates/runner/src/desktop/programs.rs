//! Starts the programs of a desktop, notices when they end, and ends them.
//!
//! Each program runs in its own process group. The group is killed when its supervising task ends, in any way: on
//! request, dropped with its runtime, or by a panic.

use std::{
    collections::BTreeMap,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use deskhand_core::{action::ScreenSize, secret::Secret, tasks::Tasks};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::browser::{Browser, BrowserSettings, DEVTOOLS_FLAG};

use super::{
    StartDesktopError,
    program_ids::{ProgramIds, WINDOW_MANAGER},
    screen_socket::ScreenSocket,
};

/// The timeout for the start of the X server, which takes about 30 ms.
const X_START_TIMEOUT: Duration = Duration::from_secs(20);

/// The time to wait for the end of the X server after another program has ended.
///
/// When the X server dies, its clients die too, and sometimes that is noticed first. Only after this time does the
/// program's end count as its own.
const X_END_GRACE: Duration = Duration::from_millis(200);

/// The shortest life of a window manager that is started again.
const WINDOW_MANAGER_MIN_LIFE: Duration = Duration::from_secs(1);

const WINDOW_MANAGER_CONFIG: &str = include_str!("openbox.xml");

/// The state shared by all supervising tasks.
#[derive(Clone)]
pub(crate) struct Supervisor {
    pub(crate) tasks: Tasks,
    /// Ends all programs.
    pub(crate) stop: CancellationToken,
    /// Receives a sentence whenever a program ends.
    pub(crate) notices: mpsc::Sender<String>,
    /// Set to the cause when the X server has ended.
    pub(crate) ended: watch::Sender<Option<String>>,
    /// Environment variables for programs started from the desktop.
    pub(crate) variables: BTreeMap<String, Secret>,
    pub(crate) ids: Arc<ProgramIds>,
}

/// A running program and its process group.
#[derive(Debug)]
struct Program {
    child: Child,
    group: ProcessGroup,
}

/// Kills a process group when dropped.
#[derive(Debug)]
struct ProcessGroup(Pid);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The group may be gone already, which is fine.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Program {
    fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = ProcessGroup(pid.ok_or(io::ErrorKind::NotFound)?);
        Ok(Self { child, group })
    }

    fn pid(&self) -> Pid {
        self.group.0
    }

    /// Waits until the program ends, and kills the rest of its group.
    ///
    /// Returns `None` if the program was ended by `stop`.
    async fn run(mut self, stop: &CancellationToken) -> Option<io::Result<ExitStatus>> {
        let status = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            status = self.child.wait() => Some(status),
        };
        drop(self.group);
        if status.is_none() {
            // The program was just killed, so this only reaps it. After a failure there is nothing left to do.
            let _ = self.child.wait().await;
        }
        status
    }
}

/// A newly started X server.
pub(super) struct XServer {
    /// The display, such as `:1`.
    pub(super) display: String,
    screen: ScreenSocket,
    program: Program,
}

impl XServer {
    /// Starts Xvnc on the first free display and waits until it accepts connections.
    pub(super) async fn start(
        screen: ScreenSize,
        vnc_socket: &Path,
        log: &Path,
    ) -> Result<Self, StartDesktopError> {
        let spawn_error = |source| StartDesktopError::Spawn {
            program: "Xvnc".to_owned(),
            source,
        };
        let log_file = std::fs::File::create(log).map_err(spawn_error)?;
        let mut command = command("sh");
        command
            // Xvnc reports the display number on descriptor 3, which std cannot set up by itself.
            .args(["-c", r#"exec "$0" "$@" 3>&1 >/dev/null"#, "Xvnc"])
            .args(["-displayfd", "3"])
            .arg("-geometry")
            .arg(format!("{}x{}", screen.width, screen.height))
            .args(["-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1"])
            .arg("-rfbunixpath")
            .arg(vnc_socket)
            .args(["-desktop", "Deskhand", "-AlwaysShared"])
            // Watchers come and go, while the screen keeps its size and its clients.
            .args(["-AcceptSetDesktopSize=0", "-noreset", "-nolisten", "tcp"])
            // The clipboard is not for everybody who watches, and programs must not switch off a person's mouse.
            .args(["-SendCutText=0", "-SendPrimary=0", "-AllowOverride="])
            // Never blank the screen. GLX is off: nothing here draws with it, and it doubles the start time.
            .args(["-s", "0", "-extension", "GLX"])
            // Nothing here draws the windows of others elsewhere. RECORD can only be off together with XTEST, by
            // which the agent types.
            .args(["-extension", "Composite"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_file);
        let mut program = Program::start(&mut command).map_err(spawn_error)?;
        let number = tokio::time::timeout(X_START_TIMEOUT, read_line(program.child.stdout.take()))
            .await
            .unwrap_or_default();
        if let Some(number) = number {
            let display = format!(":{number}");
            let screen = ScreenSocket::open(vnc_socket, program.pid()).map_err(spawn_error)?;
            // A program could ask there for pixels, and would get them even while it is frozen.
            std::fs::remove_file(vnc_socket).map_err(spawn_error)?;
            return Ok(Self {
                display,
                screen,
                program,
            });
        }
        Err(why_not_up(program, log).await)
    }

    /// Supervises it until it ends, and returns the socket of its RFB server.
    pub(super) fn supervise(self, supervisor: &Supervisor) -> ScreenSocket {
        supervisor.ids.x_server.set(self.program.pid());
        let Supervisor { tasks, stop, .. } = supervisor;
        let (stop, ended) = (stop.clone(), supervisor.ended.clone());
        let program = self.program;
        tasks.spawn("x_server", async move {
            if let Some(status) = program.run(&stop).await {
                let how = describe(status);
                ended.send_replace(Some(format!("The X server ended ({how}).")));
            }
        });
        self.screen
    }
}

/// Returns the first line of the X server's output, or `None` if there is none.
async fn read_line(stdout: Option<ChildStdout>) -> Option<String> {
    let mut line = String::new();
    BufReader::new(stdout?).read_line(&mut line).await.ok()?;
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

async fn why_not_up(mut program: Program, log: &Path) -> StartDesktopError {
    /// The shell's exit code if there is no such program.
    const NOT_FOUND: i32 = 127;
    // The X server has closed its output, so it is ending or hanging. Not knowing which loses nothing, since its
    // messages are in the log.
    let ending = tokio::time::timeout(X_END_GRACE, program.child.wait()).await;
    let status = ending.ok().and_then(Result::ok);
    if status.and_then(|status| status.code()) == Some(NOT_FOUND) {
        return StartDesktopError::Missing {
            program: "Xvnc".to_owned(),
            package: "tigervnc-standalone-server",
        };
    }
    let said = std::fs::read_to_string(log).unwrap_or_default();
    let last: Vec<&str> = said
        .lines()
        .rev()
        .filter(|line| !line.is_empty())
        .take(5)
        .collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    StartDesktopError::NoServer(last.join("; "))
}

/// Starts the window manager and keeps one running.
pub(super) fn keep_window_manager(
    supervisor: &Supervisor,
    display: &str,
    config: PathBuf,
) -> Result<(), StartDesktopError> {
    let start = {
        let display = display.to_owned();
        let variables = supervisor.variables.clone();
        move || {
            Program::start(
                command(WINDOW_MANAGER)
                    .args(["--sm-disable", "--config-file"])
                    .arg(&config)
                    .env("DISPLAY", &display)
                    .envs(exposed(&variables))
                    // openbox reads all compose sequences again whenever a key gets a new meaning. That takes
                    // longer than typing the key, and openbox has no use for them.
                    .env("XCOMPOSEFILE", "/dev/null")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null()),
            )
        }
    };
    let mut program = start().map_err(|source| {
        let program = WINDOW_MANAGER.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            let package = WINDOW_MANAGER;
            StartDesktopError::Missing { program, package }
        } else {
            StartDesktopError::Spawn { program, source }
        }
    })?;
    // Start it again whenever it ends, unless it ended at once or with the X server.
    let watch = supervisor.clone();
    supervisor.tasks.spawn("window_manager", async move {
        loop {
            let started_at = Instant::now();
            watch.ids.window_manager.set(program.pid());
            let Some(status) = program.run(&watch.stop).await else {
                return;
            };
            if watch.x_server_ended().await {
                return;
            }
            let how = describe(status);
            if started_at.elapsed() < WINDOW_MANAGER_MIN_LIFE {
                watch.notify(format!(
                    "The window manager ended at once ({how}) and was not restarted."
                ));
                return;
            }
            program = match start() {
                Ok(program) => program,
                Err(error) => {
                    watch.notify(format!(
                        "The window manager ended and could not be restarted: {error}."
                    ));
                    return;
                }
            };
            watch.notify(format!(
                "The window manager ended ({how}) and was restarted."
            ));
        }
    });
    Ok(())
}

/// Starts the browser, and returns it if it speaks DevTools.
///
/// People and programs may close the browser. Its end is only reported: it is started again for the next verb.
pub(super) fn start_browser(
    supervisor: &Supervisor,
    variables: &BTreeMap<String, String>,
    argv: &[String],
    settings: &BrowserSettings,
) -> Result<Option<Browser>, StartDesktopError> {
    let Some((name, arguments)) = argv.split_first() else {
        return Ok(None);
    };
    let spawn_error = |source| StartDesktopError::Spawn {
        program: name.clone(),
        source,
    };
    let (program, browser) = if arguments.iter().any(|word| word == DEVTOOLS_FLAG) {
        let (ours, theirs) = UnixStream::pair().map_err(spawn_error)?;
        let program = start_with_devtools(variables, argv, theirs).map_err(spawn_error)?;
        let pid = program.child.id().unwrap_or_default();
        let browser =
            Browser::new(pid, ours, settings.clone(), &supervisor.tasks).map_err(spawn_error)?;
        (program, Some(browser))
    } else {
        let mut command = command(name);
        quiet(command.args(arguments), variables).stdout(Stdio::null());
        let program = Program::start(command.stdin(Stdio::null())).map_err(spawn_error)?;
        (program, None)
    };
    supervisor.ids.browser.set(program.pid());
    let watch = supervisor.clone();
    supervisor.tasks.spawn("browser", async move {
        let Some(status) = program.run(&watch.stop).await else {
            return;
        };
        if watch.x_server_ended().await {
            return;
        }
        let closed = matches!(&status, Ok(status) if status.success());
        watch.notify(if closed {
            "The browser was closed.".to_owned()
        } else {
            format!("The browser ended unexpectedly ({}).", describe(status))
        });
    });
    Ok(browser)
}

/// Starts a browser that reads DevTools messages from descriptor 3 and writes to 4, which std cannot set up.
///
/// Both are one socket instead of pipes, since other processes of the same user can reopen a process's pipes.
fn start_with_devtools(
    variables: &BTreeMap<String, String>,
    argv: &[String],
    socket: UnixStream,
) -> io::Result<Program> {
    let socket = OwnedFd::from(socket);
    let mut command = command("sh");
    command
        .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"])
        .args(argv)
        .stdin(socket.try_clone()?)
        .stdout(socket);
    Program::start(quiet(&mut command, variables))
}

fn quiet<'a>(command: &'a mut Command, variables: &BTreeMap<String, String>) -> &'a mut Command {
    command.envs(variables).stderr(Stdio::null())
}

/// Writes the window manager's configuration into `folder`.
pub(super) fn write_window_manager_config(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join("openbox.xml");
    std::fs::write(&path, WINDOW_MANAGER_CONFIG)?;
    Ok(path)
}

impl Supervisor {
    async fn x_server_ended(&self) -> bool {
        let mut ended = self.ended.subscribe();
        let end = ended.wait_for(Option::is_some);
        tokio::time::timeout(X_END_GRACE, end).await.is_ok()
    }

    fn notify(&self, text: String) {
        if let Err(error) = self.notices.try_send(text) {
            tracing::warn!(%error, "dropped a notice about the desktop");
        }
    }
}

fn exposed(variables: &BTreeMap<String, Secret>) -> impl Iterator<Item = (&str, &str)> {
    let variables = variables.iter();
    variables.map(|(name, value)| (name.as_str(), value.expose()))
}

fn describe(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "only this module starts the programs of the desktop"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}
