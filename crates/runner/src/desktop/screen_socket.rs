//! The unix socket of the RFB server.
//!
//! Programs in the sandbox must not connect to it, or put another socket in its place. So the socket is opened once,
//! before any other program runs, its file is removed, and the process at the other end is checked.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{Mode, OFlags},
    process::Pid,
};
use tokio::net::UnixStream;

/// A handle to the socket, which stays valid without its file.
#[derive(Debug)]
pub(super) struct ScreenSocket {
    handle: OwnedFd,
    /// The process that listens.
    server: Pid,
}

impl ScreenSocket {
    /// Opens the socket at `path`, on which `server` already listens.
    pub(super) fn open(path: &Path, server: Pid) -> io::Result<Self> {
        let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { handle, server })
    }

    /// Connects to the RFB server.
    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        // A socket is connected to by path only. This path means the socket itself and not the name it had.
        let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        let stream = UnixStream::connect(path).await?;
        if stream.peer_cred()?.pid() == Some(self.server.as_raw_pid()) {
            Ok(stream)
        } else {
            Err(io::Error::other(
                "another program than the X server listens there",
            ))
        }
    }
}
