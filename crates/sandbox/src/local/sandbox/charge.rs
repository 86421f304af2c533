//! The owner of a running sandbox, which notices its end and cleans up after it.

use std::{
    io,
    os::unix::{net::UnixStream, process::ExitStatusExt},
    process::ExitStatus,
    sync::Arc,
};

use deskhand_core::sandbox::SandboxEnd;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    link::Link,
    local::{
        cgroup::Group,
        disk::DiskWatch,
        files::SessionFiles,
        process::Tree,
        tail::Tail,
        usage::{Meter, Metered},
    },
};

/// The server's parts of a running sandbox.
#[derive(Debug)]
pub(super) struct Charge {
    pub(super) tree: Tree,
    pub(super) group: Arc<Group>,
    pub(super) files: SessionFiles,
    pub(super) link: Arc<Link>,
    pub(super) tail: Tail,
    /// Held open as long as the sandbox may live. When it closes, the runner knows that this server is gone.
    pub(super) _stdin: Arc<UnixStream>,
    /// The memory limit, for the report of a death.
    pub(super) memory_bytes: u64,
    pub(super) disk: DiskWatch,
    pub(super) meter: Arc<Meter>,
    pub(super) metered: Arc<Metered>,
}

/// The way in which a sandbox came to its end.
enum Ending {
    Stopped,
    Ended(io::Result<ExitStatus>),
    /// It had to be stopped because of the disk. The text gives the reason, for people.
    DiskFull(String),
}

impl Charge {
    /// Waits for the end, cleans up, and reports the end.
    pub(super) async fn carry(
        mut self,
        stop: CancellationToken,
        shutdown: CancellationToken,
        end: watch::Sender<Option<SandboxEnd>>,
    ) {
        let ending = tokio::select! {
            biased;
            () = stop.cancelled() => Ending::Stopped,
            () = shutdown.cancelled() => Ending::Stopped,
            status = self.tree.ended() => Ending::Ended(status),
            reason = self.disk.passed() => Ending::DiskFull(reason),
        };
        let last_words = match &ending {
            Ending::Ended(_) => self.link.last_words().await,
            Ending::Stopped | Ending::DiskFull(_) => None,
        };
        self.link.end();
        if let Err(error) = self.tree.kill().await {
            tracing::error!(%error, "could not end a sandbox");
        }
        let how = match ending {
            Ending::Stopped => SandboxEnd::Stopped,
            Ending::Ended(status) => SandboxEnd::Died(self.cause(status, last_words).await),
            Ending::DiskFull(reason) => SandboxEnd::Died(reason),
        };
        self.meter.end(&self.metered);
        self.group.remove().await;
        self.disk.close().await;
        if let Err(error) = self.files.remove_run() {
            tracing::warn!(%error, "could not remove the socket of a sandbox");
        }
        end.send_replace(Some(how));
    }

    /// Returns the cause of death, for people.
    ///
    /// Once the runner is ready, only its own words count. Before that no other program runs, and standard error says
    /// what bubblewrap or the runner met.
    async fn cause(
        &mut self,
        status: io::Result<ExitStatus>,
        last_words: Option<String>,
    ) -> String {
        if self.group.n_out_of_memory() > 0 && status.as_ref().is_ok_and(was_killed) {
            let mib = self.memory_bytes / (1024 * 1024);
            return format!("the sandbox ran out of memory (its limit is {mib} MiB)");
        }
        let how = match status {
            Ok(status) => describe(status),
            Err(error) => format!("the runner ended ({error})"),
        };
        let detail = if self.link.was_ready() {
            last_words
        } else {
            self.tail.last_line().await
        };
        match detail.or_else(|| self.link.last_notice()) {
            Some(detail) => format!("{how}: {detail}"),
            None => how,
        }
    }
}

/// Returns true if SIGKILL ended the runner. Bubblewrap reports that as 128 plus the signal's number.
fn was_killed(status: &ExitStatus) -> bool {
    status.code() == Some(128 + 9) || status.signal() == Some(9)
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code @ 129..=192), _) => format!("the runner was ended by signal {}", code - 128),
        (Some(code), _) => format!("the runner ended with exit status {code}"),
        (None, Some(signal)) => format!("the sandbox was ended by signal {signal}"),
        (None, None) => "the sandbox ended".to_owned(),
    }
}
