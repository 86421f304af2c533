//! The processes of a desktop's programs.

use crate::processes::{ProcessName, ProcessSlot};

/// The program and the package of the window manager.
pub(super) const WINDOW_MANAGER: &str = "openbox";

/// The processes of a desktop's programs, as they are started.
#[derive(Debug, Default)]
pub(crate) struct ProgramIds {
    pub(super) x_server: ProcessSlot,
    pub(super) window_manager: ProcessSlot,
    pub(super) browser: ProcessSlot,
}

impl ProgramIds {
    pub(crate) fn x_server(&self) -> Option<ProcessName> {
        self.x_server.get()
    }

    /// Returns the window manager, as long as the process runs its program: it can be told to run another instead.
    pub(crate) fn window_manager(&self) -> Option<ProcessName> {
        let process = self.window_manager.get()?;
        let program = std::fs::read_link(format!("/proc/{}/exe", process.pid)).ok()?;
        let is_it = program.starts_with("/usr") && program.ends_with(WINDOW_MANAGER);
        is_it.then_some(process)
    }

    pub(crate) fn browser(&self) -> Option<ProcessName> {
        self.browser.get()
    }
}
