//! What sandboxes use together.

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

/// Adds up what sandboxes use. The processor time of one that has ended stays in the sum, which
/// therefore never goes down.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    ended_cpu: Mutex<Duration>,
}

/// A sandbox as the meter sees it.
#[derive(Debug)]
pub(crate) struct Metered {
    /// Not kept alive by whoever holds a sandbox that has ended: a group's end removes its folder,
    /// which the next sandbox of the session makes again.
    group: Weak<Group>,
    /// Whether its processor time is in the sum of the ended ones.
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
    /// Keeps what a sandbox has used. Its processes are gone, its group is still there.
    pub(crate) fn end(&self, sandbox: &Metered) {
        let mut ended_cpu = self.ended_cpu();
        let cpu = sandbox.group.upgrade().and_then(|group| group.cpu());
        *ended_cpu += cpu.unwrap_or_default();
        sandbox.has_ended.store(true, Ordering::Relaxed);
    }

    /// What these sandboxes use now, and what all have used.
    pub(crate) async fn read(self: &Arc<Self>, sandboxes: Vec<Arc<Metered>>) -> SandboxUsage {
        let meter = Arc::clone(self);
        let read = spawn_blocking(move || meter.add_up(&sandboxes));
        // It fails only when the runtime ends.
        read.await.unwrap_or_default()
    }

    fn add_up(&self, sandboxes: &[Arc<Metered>]) -> SandboxUsage {
        // Held while the running ones are read, so that none ends in between.
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
