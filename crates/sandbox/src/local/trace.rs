//! The traces that a killed server would leave. They are recorded while a sandbox runs, and the next server removes
//! them.
//!
//! The kernel and the keeper end the processes. If the keeper is killed too, an inner bubblewrap that has started
//! nothing may be left. Control groups and sockets have to be removed.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_core::id::SessionId;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use super::cgroup;

/// The traces of one sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// The process id of bubblewrap, outside.
    pid: i32,
    /// Its start time in the kernel's ticks, since another process may have the same id by now.
    started: u64,
    groups: Vec<PathBuf>,
}

impl Trace {
    pub(crate) fn of(pid: Pid, groups: Vec<PathBuf>) -> Self {
        let pid = pid.as_raw_nonzero().get();
        Self {
            pid,
            started: started(pid).unwrap_or(0),
            groups,
        }
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_vec(self)?)
    }

    /// Reads the traces at `path`, if there are any.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Kills the remaining processes and removes their control groups.
    pub(crate) async fn clear(&self) {
        self.end_process();
        for group in &self.groups {
            cgroup::clear(group).await;
        }
    }

    fn end_process(&self) {
        let Some(process) = Pid::from_raw(self.pid)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            .filter(|_| started(self.pid) == Some(self.started))
        else {
            return;
        };
        tracing::info!(
            pid = self.pid,
            "ending a sandbox that an earlier server left running"
        );
        // The process may have ended by itself in the meantime.
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
}

/// Returns the name of a session's bubblewrap in the list of processes.
pub(crate) fn process_name(session: SessionId) -> String {
    format!("deskhand-sandbox-{session}")
}

/// Kills the remaining bubblewrap processes of these sessions, found by their names.
pub(crate) fn end_leftovers(sessions: &[SessionId]) {
    let names: HashSet<String> = sessions.iter().map(|id| process_name(*id)).collect();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in processes {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else {
            continue;
        };
        // A process may end meanwhile, and we may not be allowed to read the command lines of other users.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let name = line.split(|byte| *byte == 0).next().unwrap_or_default();
        if names.contains(&*String::from_utf8_lossy(name)) {
            tracing::info!(
                pid = pid.as_raw_nonzero().get(),
                "ending the remaining processes of a sandbox"
            );
            // The process may have ended by itself in the meantime.
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}

/// Returns the start time of a process, in the kernel's ticks.
fn started(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_the_same_number_and_another_start_is_left_alone() {
        let own = i32::try_from(std::process::id()).unwrap();
        let trace = Trace {
            pid: own,
            started: started(own).unwrap() + 1,
            groups: Vec::new(),
        };
        // If this ended the process, the test would not get any further.
        trace.end_process();
    }
}
