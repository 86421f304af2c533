//! A process that outlives a killed server for a moment and kills the sandboxes that were just being started.
//!
//! Once a sandbox runs, the kernel ends it with the server. But bubblewrap's inner process first waits for the
//! outer one. If the outer one is killed with the server at that moment, the inner one would wait forever. Until
//! then both are in the keeper's process group.

use std::{
    ffi::OsStr,
    io,
    os::unix::process::CommandExt,
    process::{Child, Stdio},
};

/// Waits until the server is gone, and kills its own process group.
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

    /// Returns the process group for programs that should end with the server. Starts a new keeper if the old one
    /// ended.
    pub(super) fn group(&mut self) -> io::Result<i32> {
        if self.0.try_wait()?.is_some() {
            *self = Self::start()?;
        }
        Ok(self.0.id().cast_signed())
    }
}
