//! Access to the browser over DevTools: to its focused field, to secrets shown on its pages, and to pending input.

mod devtools;
mod field;
mod frames;
mod pace;
mod sight;
mod snapshot;

use std::{io, os::unix::net::UnixStream};

use deskhand_core::tasks::Tasks;

use self::devtools::DevTools;
pub(super) use self::sight::{Sight, Unclear, Until};
pub use self::{devtools::DevToolsError, field::FillError};

/// The flag that makes the browser speak DevTools with its parent over the descriptors 3 and 4.
pub(super) const DEVTOOLS_FLAG: &str = "--remote-debugging-pipe";

/// A browser that was started with [`DEVTOOLS_FLAG`].
#[derive(Debug, Clone)]
pub(super) struct Browser {
    devtools: DevTools,
    /// The id of its main process.
    pub(super) pid: u32,
}

impl Browser {
    /// Connects to the browser that holds the other end of `socket`.
    pub(super) fn new(pid: u32, socket: UnixStream, tasks: &Tasks) -> io::Result<Self> {
        let devtools = DevTools::open(socket, tasks)?;
        Ok(Self { devtools, pid })
    }

    /// Returns true if the browser no longer answers.
    pub(super) fn is_gone(&self) -> bool {
        self.devtools.is_closed()
    }
}
