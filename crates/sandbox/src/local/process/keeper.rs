//! A process that outlives a killed server for a moment and ends what it was just starting.
//!
//! Once a sandbox runs the kernel ends it with the server. But bubblewrap's inner process first
//! waits for the outer one, and when the outer one is killed with the server right then, the
//! inner one would wait for ever. Until then both are in the keeper's process group.

use std::{
    ffi::OsStr,
    io,
    os::unix::process::CommandExt,
    process::{Child, Stdio},
};

/// Waits until the server is gone, and ends its own process group.
const SCRIPT: &str = "read -r nothing; kill -s KILL 0";

#[derive(Debug)]
pub(super) struct Keeper(Child);

impl Keeper {
    pub(super) fn start() -> io::Result<Self> {
        let process = super::command(OsStr::new("sh"))
            .args(["-c", SCRIPT])
            .env_clear()
            .current_dir("/")
            .process_group(0)
            // Never written to. The kernel closes it with the server.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(process))
    }

    /// The group for programs that are to end with the server, made anew if somebody ended it.
    pub(super) fn group(&mut self) -> io::Result<i32> {
        if self.0.try_wait()?.is_some() {
            *self = Self::start()?;
        }
        Ok(self.0.id().cast_signed())
    }
}
