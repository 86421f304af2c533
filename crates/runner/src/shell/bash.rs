//! One running bash, and the private way to tell it what to do.

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
/// Programs that ship with Deskhand, before all others.
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

/// What a bash says when a command is over.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) status: i32,
    pub(super) directory: String,
}

/// What happens next in a bash.
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
        let mut child = command()
            // A server that was started in the background ignores SIGINT, and so would
            // everything below it: the first step puts that right, the second makes a session.
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
            .env("HOME", &config.home)
            .env("DISPLAY", &config.display)
            .env("TERM", "dumb")
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/bash")
            .env("PATH", search_path())
            .envs(variables(config))
            .env_remove("LC_ALL")
            .env_remove("BASH_ENV")
            .env_remove("OLDPWD")
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

    /// How it ended, if it has.
    pub(super) fn exited(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Hands over a command. It must not hold a NUL.
    ///
    /// The nonce is behind the command in the pipe, where bash comes to it after the command.
    pub(super) async fn send(&mut self, command: &str, nonce: &str) -> io::Result<()> {
        let mut order = Vec::with_capacity(command.len() + nonce.len() + 2);
        order.extend_from_slice(command.as_bytes());
        order.push(0);
        order.extend_from_slice(nonce.as_bytes());
        order.push(0);
        self.orders.write_all(&order).await
    }

    /// Waits until the command with this nonce is over or bash is. May be given up and resumed.
    pub(super) async fn sign(&mut self, nonce: &str) -> io::Result<Sign> {
        loop {
            if let Some(report) = self.take_report(nonce) {
                return Ok(Sign::Finished(report));
            }
            tokio::select! {
                // A report that came before the end of bash counts.
                biased;
                n_read = self.reports.read_buf(&mut self.unread) => if n_read? == 0 {
                    return Ok(Sign::Exited(self.child.wait().await?));
                },
                // Jobs may hold copies of the descriptor, so its end is not awaited alone.
                status = self.child.wait() => return Ok(Sign::Exited(status?)),
            }
        }
    }

    /// The next report with the right nonce. Others are nobody's.
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

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the runner starts its shell"
)]
fn command() -> Command {
    Command::new("env")
}

/// The driver as the single line that it has to be.
fn driver() -> String {
    let lines: Vec<&str> = DRIVER
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    lines.join(" ")
}

/// Each of them is for every program that the shell starts.
fn variables(config: &ShellConfig) -> impl Iterator<Item = (&str, &str)> {
    let variables = config.variables.iter();
    variables.map(|(name, value)| (name.as_str(), value.expose()))
}

fn search_path() -> String {
    let inherited = std::env::var("PATH").unwrap_or_else(|_| SYSTEM_PATH.to_owned());
    format!("{OWN_PROGRAMS}:{inherited}")
}
