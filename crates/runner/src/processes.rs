//! The processes that this one can see, as the kernel lists them in `/proc`.

use std::fs;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// The state of its first thread: `S` asleep, `R` running, `T` stopped, `Z` ended, and others.
    pub(crate) state: char,
    /// In clock ticks since the machine started. Together with the id, it names a process for good.
    pub(crate) started_at: u64,
}

/// Returns all visible processes, including those that have ended and wait for their parent.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| find(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Returns the process with this id, if there is one.
pub(crate) fn find(pid: i32) -> Option<Process> {
    parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns a process with all its descendants.
pub(crate) fn tree(root: i32, all: &[Process]) -> Vec<Process> {
    let mut found: Vec<Process> = all.iter().filter(|one| one.pid == root).copied().collect();
    let mut n_done = 0;
    while let Some(parent) = found.get(n_done).map(|one| one.pid) {
        found.extend(
            all.iter()
                .filter(|one| one.parent == parent && one.pid != parent),
        );
        n_done += 1;
    }
    found
}

/// Kills a process group and everything that was started from its first process when dropped.
#[derive(Debug)]
pub(crate) struct KilledGroup(pub(crate) Pid);

impl Drop for KilledGroup {
    fn drop(&mut self) {
        // Some programs have their own process groups. One that detached from its parent is not found.
        let started = tree(self.0.as_raw_pid(), &all());
        for process in started.iter().filter_map(Process::id) {
            // Each may be gone already, which is fine.
            let _ = kill_process(process, Signal::KILL);
        }
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Process {
    /// Returns true if it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// Returns true if somebody stopped it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state == 'T'
    }

    pub(crate) fn id(&self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    /// Returns true if one of its threads runs its program, or would as soon as something happens.
    ///
    /// The first thread of a process may have ended while others go on, so all of them count.
    pub(crate) fn is_awake(&self) -> bool {
        if find(self.pid).is_none_or(|now| now.started_at != self.started_at) {
            return false;
        }
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.pid)) else {
            return false;
        };
        threads.flatten().any(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).ok();
            let thread = stat.and_then(|stat| parse_stat(self.pid, &stat));
            thread.is_some_and(|thread| matches!(thread.state, 'R' | 'S' | 'I'))
        })
    }
}

/// Parses `pid (name) state parent group session …`, in which the name may contain anything.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let started_at = fields.nth(15)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        session,
        state,
        started_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "7 (a) S 1) R 12 13 14 0 -1 4194304 1 0 0 0 2 1 0 0 20 0 1 0 4711 9 9";
        let process = parse_stat(7, stat).unwrap();
        assert_eq!((process.parent, process.session), (12, 14));
        assert_eq!((process.state, process.started_at), ('R', 4711));
    }

    #[test]
    fn this_process_is_found_and_awake() {
        let me = i32::try_from(std::process::id()).unwrap();
        let me = all().into_iter().find(|process| process.pid == me);
        assert!(me.unwrap().is_awake());
    }
}
