//! The resources that all sandboxes use together.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deskhand_core::sandbox::SandboxUsage;
use tokio::task::spawn_blocking;

use super::cgroup::Group;

/// Adds up the usage of sandboxes.
///
/// The processor time of a sandbox that has ended stays in the sum, so the sum never decreases.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    ended_cpu: Mutex<Duration>,
}

/// A sandbox as the meter sees it.
#[derive(Debug)]
pub(crate) struct Metered {
    /// A weak reference, so that holders of an ended sandbox do not keep the group alive. Dropping a group removes
    /// its folder, which the next sandbox of the session creates again.
    group: Weak<Group>,
    /// True if its processor time is in the sum of the ended sandboxes.
    has_ended: AtomicBool,
}

impl Metered {
    pub(crate) fn new(group: &Arc<Group>) -> Self {
        Self {
            group: Arc::downgrade(group),
            has_ended: AtomicBool::new(false),
        }
    }
}

impl Meter {
    /// Keeps the usage of a sandbox whose processes are gone, but whose group still exists.
    pub(crate) fn end(&self, sandbox: &Metered) {
        let mut ended_cpu = self.ended_cpu();
        let cpu = sandbox.group.upgrade().and_then(|group| group.cpu());
        *ended_cpu += cpu.unwrap_or_default();
        sandbox.has_ended.store(true, Ordering::Relaxed);
    }

    /// Returns the current usage of these sandboxes, and the processor time of all so far.
    pub(crate) async fn read(self: &Arc<Self>, sandboxes: Vec<Arc<Metered>>) -> SandboxUsage {
        let meter = Arc::clone(self);
        let read = spawn_blocking(move || meter.add_up(&sandboxes));
        // This fails only when the runtime shuts down.
        read.await.unwrap_or_default()
    }

    fn add_up(&self, sandboxes: &[Arc<Metered>]) -> SandboxUsage {
        // Locked while the running ones are read, so that none ends in between.
        let ended_cpu = self.ended_cpu();
        let has_ended = |sandbox: &Metered| sandbox.has_ended.load(Ordering::Relaxed);
        let running: Vec<Arc<Group>> = sandboxes
            .iter()
            .filter(|sandbox| !has_ended(sandbox))
            .filter_map(|sandbox| sandbox.group.upgrade())
            .collect();
        let mut cpus = running.iter().map(|group| group.cpu());
        SandboxUsage {
            n_running: running.len() as u64,
            memory_bytes: running.iter().map(|group| group.memory_bytes()).sum(),
            cpu: cpus.try_fold(*ended_cpu, |sum, cpu| Some(sum + cpu?)),
        }
    }

    fn ended_cpu(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.ended_cpu
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
