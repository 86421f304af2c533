//! The browser from the inside: the focused field, the places of secrets on its pages, and their pace.

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

/// With this the browser speaks on its descriptors 3 and 4 with whoever started it.
pub(super) const DEVTOOLS_FLAG: &str = "--remote-debugging-pipe";

/// A browser that was started with [`DEVTOOLS_FLAG`].
#[derive(Debug, Clone)]
pub(super) struct Browser {
    devtools: DevTools,
    /// Its main process.
    pub(super) pid: u32,
}

impl Browser {
    /// A browser that has the other end of `socket`.
    pub(super) fn new(pid: u32, socket: UnixStream, tasks: &Tasks) -> io::Result<Self> {
        let devtools = DevTools::open(socket, tasks)?;
        Ok(Self { devtools, pid })
    }

    /// Whether it can be asked nothing any more.
    pub(super) fn is_gone(&self) -> bool {
        self.devtools.is_closed()
    }
}
