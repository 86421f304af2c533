//! Freezes the programs in the sandbox while a person has control.
//!
//! One signal stops every process at the same moment, so no process can fork past it. Then those that the desktop
//! needs continue. Because a stopped process can arrange to be woken by a signal, processes that have done so are
//! killed, and so is every process that is found awake later, with what it may have started.

mod frozen;
mod spared;
mod waking;

use std::{
    collections::HashSet,
    fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use self::frozen::Frozen;
pub(crate) use self::spared::SparedPrograms;
use crate::processes::{self, Process};

/// The highest process id that a runner can have that was started with its sandbox.
const LAST_EARLY_PID: u32 = 64;

/// Stops and continues the processes of a sandbox.
#[derive(Debug)]
pub(crate) struct Freezer {
    /// True if this process is said to see the processes of its sandbox and no others.
    must_freeze: bool,
    /// True if it does.
    is_alone: bool,
    frozen: Mutex<Option<Frozen>>,
}

/// The result of stopping everything.
#[derive(Debug)]
pub(crate) struct FreezeOutcome {
    /// The ids of the processes that keep running.
    pub(crate) spared: HashSet<u32>,
    /// False if some others could not be stopped.
    pub(crate) is_complete: bool,
}

impl Freezer {
    /// Creates a freezer. Without `is_alone`, it does nothing: it would stop the programs of the whole machine.
    pub(crate) fn new(is_alone: bool) -> Self {
        let is_early = std::process::id() <= LAST_EARLY_PID;
        if is_alone && !is_early {
            tracing::warn!("the agent's programs cannot be frozen: this is not a sandbox");
        }
        Self {
            must_freeze: is_alone,
            is_alone: is_alone && is_early,
            frozen: Mutex::default(),
        }
    }

    /// Returns true if nobody may have control unless everything is stopped.
    pub(crate) fn must_freeze(&self) -> bool {
        self.must_freeze
    }

    /// Stops every process except the spared ones. Blocks for some milliseconds.
    ///
    /// Called again, it also stops processes that were spared or did not exist before. Returns `None` if it cannot
    /// stop anything.
    pub(crate) fn freeze(&self, spare: &SparedPrograms) -> Option<FreezeOutcome> {
        if !self.is_alone {
            return None;
        }
        let mut frozen = self.frozen();
        let is_complete = frozen.get_or_insert_default().freeze(spare);
        let spared = spare.ids(&processes::all());
        let spared = spared.into_iter().filter_map(|pid| pid.try_into().ok());
        Some(FreezeOutcome {
            spared: spared.collect(),
            is_complete,
        })
    }

    /// Kills every frozen process that has a connection, to the X server or elsewhere.
    pub(crate) fn kill_connected(&self) {
        self.kill(&HashSet::new(), true);
    }

    /// Kills frozen processes by id, and those that share a connection with one of them.
    ///
    /// With `has_unknown`, or if a process has ended before, others have its connections. Then all frozen processes
    /// with connections are killed.
    pub(crate) fn kill(&self, ids: &HashSet<u32>, has_unknown: bool) {
        let mut frozen = self.frozen();
        let Some(frozen) = frozen.as_mut().filter(|_| has_unknown || !ids.is_empty()) else {
            return;
        };
        let is_named =
            |process: &&Process| u32::try_from(process.pid).is_ok_and(|pid| ids.contains(&pid));
        let named: Vec<Process> = frozen.all().filter(is_named).copied().collect();
        let has_unknown = has_unknown || named.len() < ids.len();
        let shared: HashSet<PathBuf> = named.iter().flat_map(sockets).collect();
        let is_close = |process: &&Process| {
            let mut sockets = sockets(process).into_iter();
            sockets.any(|socket| has_unknown || shared.contains(&socket))
        };
        let mut all: Vec<Process> = frozen.all().filter(is_close).copied().collect();
        all.extend(named);
        tracing::warn!(
            n_killed = all.len(),
            "killed programs that could have listened to a person"
        );
        frozen.kill(&all);
    }

    /// Kills frozen processes that are awake nevertheless, with everything that they may have started, and continues
    /// those that are spared by now.
    pub(crate) fn check(&self, spare: &SparedPrograms) {
        if let Some(frozen) = self.frozen().as_mut() {
            frozen.check(spare);
        }
    }

    /// Continues exactly those processes that were stopped.
    pub(crate) fn thaw(&self) {
        if let Some(frozen) = self.frozen().take() {
            frozen.thaw();
        }
    }

    fn frozen(&self) -> MutexGuard<'_, Option<Frozen>> {
        // No code under this lock panics halfway.
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the sockets that a process has, by the names that the kernel gives them.
fn sockets(process: &Process) -> Vec<PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", process.pid));
    let links = descriptors
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter(|link| link.to_string_lossy().starts_with("socket:"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_a_sandbox_nothing_is_ever_stopped() {
        let outside = Freezer::new(false);
        assert!(!outside.is_alone && !outside.must_freeze());
        // A runner that cannot stop anything, although it should, lets nobody have control.
        let me = Freezer::new(true);
        assert!(std::process::id() <= LAST_EARLY_PID || !me.is_alone);
        assert!(me.must_freeze());
    }
}
