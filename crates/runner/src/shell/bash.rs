//! A running bash, and the private channel for commands to it.

use std::{
    io,
    os::fd::OwnedFd,
    path::Path,
    process::{ExitStatus, Stdio},
};

use bytes::{Buf, BytesMut};
use rustix::process::Pid;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::ShellConfig;

const DRIVER: &str = include_str!("driver.bash");
/// The folder of programs that ship with Deskhand. It comes first in `PATH`.
const OWN_PROGRAMS: &str = "/run/deskhand/bin";
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A bash that runs the driver. Its process id is also its session and process group.
#[derive(Debug)]
pub(super) struct Bash {
    pub(super) pid: Pid,
    child: Child,
    orders: ChildStdin,
    reports: ChildStdout,
    unread: BytesMut,
}

/// The report that bash sends when a command has finished.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) status: i32,
    pub(super) directory: String,
}

/// The next event in a bash.
#[derive(Debug)]
pub(super) enum Sign {
    Finished(Report),
    Exited(ExitStatus),
}

impl Bash {
    pub(super) fn start(
        config: &ShellConfig,
        directory: &Path,
        output: OwnedFd,
    ) -> io::Result<Self> {
        let mut child = program(config)
            // A server started in the background ignores SIGINT, and everything below it would inherit that. The
            // first program (`env`) resets it, the second (`setsid`) starts a session.
            .args([
                "--default-signal",
                "setsid",
                "bash",
                "--norc",
                "--noprofile",
                "-c",
            ])
            .arg(driver())
            .arg("bash")
            .current_dir(directory)
            .env("TERM", "dumb")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(output)
            .kill_on_drop(true)
            .spawn()?;
        let parts = (
            child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(Pid::from_raw),
            child.stdin.take(),
            child.stdout.take(),
        );
        let (Some(pid), Some(orders), Some(reports)) = parts else {
            return Err(io::Error::other("bash was started without its descriptors"));
        };
        Ok(Self {
            pid,
            child,
            orders,
            reports,
            unread: BytesMut::new(),
        })
    }

    /// Returns the exit status, if bash has ended.
    pub(super) fn exited(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Sends a command, which must not contain a NUL.
    ///
    /// The nonce follows the command in the pipe, so bash reads it only after the command.
    pub(super) async fn send(&mut self, command: &str, nonce: &str) -> io::Result<()> {
        let mut order = Vec::with_capacity(command.len() + nonce.len() + 2);
        order.extend_from_slice(command.as_bytes());
        order.push(0);
        order.extend_from_slice(nonce.as_bytes());
        order.push(0);
        self.orders.write_all(&order).await
    }

    /// Waits until the command with this nonce finishes or bash ends. Cancel safe.
    pub(super) async fn sign(&mut self, nonce: &str) -> io::Result<Sign> {
        loop {
            if let Some(report) = self.take_report(nonce) {
                return Ok(Sign::Finished(report));
            }
            tokio::select! {
                // A report that was written before bash ended counts.
                biased;
                n_read = self.reports.read_buf(&mut self.unread) => if n_read? == 0 {
                    return Ok(Sign::Exited(self.child.wait().await?));
                },
                // Background jobs may hold copies of the descriptor, so its end is not the only sign.
                status = self.child.wait() => return Ok(Sign::Exited(status?)),
            }
        }
    }

    /// Returns the next report with the right nonce, and drops all others.
    fn take_report(&mut self, nonce: &str) -> Option<Report> {
        loop {
            let end = self.unread.iter().position(|byte| *byte == 0)?;
            let report = self.unread.split_to(end);
            self.unread.advance(1);
            if let Some(report) = parse_report(&String::from_utf8_lossy(&report), nonce) {
                return Some(report);
            }
        }
    }
}

fn parse_report(report: &str, nonce: &str) -> Option<Report> {
    let (status, directory) = report
        .strip_prefix(nonce)?
        .strip_prefix(' ')?
        .split_once(' ')?;
    Some(Report {
        status: status.parse().ok()?,
        directory: directory.to_owned(),
    })
}

/// Returns the program `env`, in the environment of every shell.
#[expect(
    clippy::disallowed_methods,
    reason = "only this function starts shells"
)]
pub(crate) fn program(config: &ShellConfig) -> Command {
    let mut command = Command::new("env");
    command
        .env("HOME", &config.home)
        .env_remove("DISPLAY")
        .envs(config.display.iter().map(|display| ("DISPLAY", display)))
        .env("LANG", "C.UTF-8")
        .env("SHELL", "/bin/bash")
        .env("PATH", search_path())
        .envs(variables(config))
        .env_remove("LC_ALL")
        .env_remove("BASH_ENV")
        .env_remove("OLDPWD");
    command
}

/// Returns the driver as a single line, without comments.
fn driver() -> String {
    let lines: Vec<&str> = DRIVER
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    lines.join(" ")
}

/// Returns the variables that every program started from the shell gets.
fn variables(config: &ShellConfig) -> impl Iterator<Item = (&str, &str)> {
    let variables = config.variables.iter();
    variables.map(|(name, value)| (name.as_str(), value.expose()))
}

fn search_path() -> String {
    let inherited = std::env::var("PATH").unwrap_or_else(|_| SYSTEM_PATH.to_owned());
    format!("{OWN_PROGRAMS}:{inherited}")
}
