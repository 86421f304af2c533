//! The processes of a running sandbox: bubblewrap outside, and everything inside.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, ExitStatus},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt, unix::AsyncFd},
    net::unix::pipe,
    time::timeout,
};

use super::Spawned;

/// The longest report of bubblewrap about a sandbox that is read. Real ones are shorter.
const LONGEST_INFO_BYTES: u64 = 4096;
/// The timeout for that report, which bubblewrap writes as soon as it has created the namespaces.
const INFO_TIMEOUT: Duration = Duration::from_secs(5);

/// A sandbox's processes. Dropping it ends them; [`Tree::kill`] also waits.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Mutex<Child>,
    /// Bubblewrap, outside. It ends when the runner does.
    outer: AsyncFd<OwnedFd>,
    outer_pid: Pid,
    /// The first process inside. When it ends, so does everything else inside.
    ///
    /// `None` if bubblewrap failed before it got that far.
    inner: Option<Inner>,
}

#[derive(Debug)]
struct Inner {
    pid: Pid,
    descriptor: AsyncFd<OwnedFd>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Info {
    child_pid: i32,
}

impl Tree {
    /// Takes over a newly started bubblewrap.
    ///
    /// Also returns our ends of the runner's standard input and standard error.
    pub(crate) async fn adopt(spawned: Spawned) -> io::Result<(Self, UnixStream, UnixStream)> {
        let Spawned {
            child,
            stdin,
            stderr,
            info,
        } = spawned;
        let outer_pid = Pid::from_child(&child);
        let mut tree = Self {
            child: Mutex::new(child),
            outer: watched(outer_pid)?,
            outer_pid,
            inner: None,
        };
        tree.inner = match timeout(INFO_TIMEOUT, reported_pid(info)).await {
            Ok(Some(pid)) => watched(pid)
                .ok()
                .map(|descriptor| Inner { pid, descriptor }),
            Ok(None) | Err(_) => None,
        };
        Ok((tree, stdin, stderr))
    }

    pub(crate) fn outer_pid(&self) -> Pid {
        self.outer_pid
    }

    /// Returns the first process inside.
    pub(crate) fn inner_pid(&self) -> Option<Pid> {
        self.inner.as_ref().map(|inner| inner.pid)
    }

    /// Waits until bubblewrap ends by itself, which it does when the runner has ended.
    pub(crate) async fn ended(&self) -> io::Result<ExitStatus> {
        // Readable means ended. The descriptor never becomes unreadable again.
        let _ = self.outer.readable().await?;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.wait()
    }

    /// Kills everything and waits until it is gone.
    pub(crate) async fn kill(&self) -> io::Result<()> {
        if let Some(inner) = &self.inner {
            kill(&inner.descriptor)?;
            let _ = inner.descriptor.readable().await?;
        }
        kill(&self.outer)?;
        self.ended().await?;
        Ok(())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Both calls fail only if the process has ended. The processes inside end with their parent. Bubblewrap is
        // killed at once, so this waits only for the kernel.
        let _ = kill(&self.outer);
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.wait();
    }
}

fn watched(pid: Pid) -> io::Result<AsyncFd<OwnedFd>> {
    let descriptor = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
    #[expect(
        unsafe_code,
        reason = "tokio marks every registration of a descriptor as unsafe"
    )]
    // SAFETY: the watcher owns the descriptor, which stays the same and open as long as the watcher lives.
    let watched = unsafe { AsyncFd::register(descriptor) };
    watched.map_err(io::Error::from)
}

fn kill(process: &AsyncFd<OwnedFd>) -> io::Result<()> {
    match pidfd_send_signal(process.get_ref(), Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn reported_pid(info: OwnedFd) -> Option<Pid> {
    let mut text = Vec::new();
    let info = pipe::Receiver::from_owned_fd(info).ok()?;
    info.take(LONGEST_INFO_BYTES)
        .read_to_end(&mut text)
        .await
        .ok()?;
    let info: Info = serde_json::from_slice(&text).ok()?;
    Pid::from_raw(info.child_pid)
}
