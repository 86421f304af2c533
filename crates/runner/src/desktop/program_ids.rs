//! The processes of a desktop's programs.

use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Pid;

/// The program and the package of the window manager.
pub(super) const WINDOW_MANAGER: &str = "openbox";

/// The process ids of a desktop's programs, as they are started.
#[derive(Debug, Default)]
pub(crate) struct ProgramIds {
    pub(super) x_server: ProgramId,
    pub(super) window_manager: ProgramId,
    pub(super) browser: ProgramId,
}

/// The process id of one program. Zero stands for none.
#[derive(Debug, Default)]
pub(super) struct ProgramId(AtomicI32);

impl ProgramId {
    pub(super) fn set(&self, pid: Pid) {
        self.0.store(pid.as_raw_pid(), Ordering::Relaxed);
    }

    fn get(&self) -> Option<i32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }
}

impl ProgramIds {
    pub(crate) fn x_server(&self) -> Option<i32> {
        self.x_server.get()
    }

    /// Returns the window manager, as long as the process runs its program: it can be told to run another instead.
    pub(crate) fn window_manager(&self) -> Option<i32> {
        let pid = self.window_manager.get()?;
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let is_it = program.starts_with("/usr") && program.ends_with(WINDOW_MANAGER);
        is_it.then_some(pid)
    }

    pub(crate) fn browser(&self) -> Option<i32> {
        self.browser.get()
    }
}
