//! The processes that this one can see, as the kernel lists them in `/proc`.

use std::{
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// The state of its first thread: `S` asleep, `R` running, `T` stopped, `Z` ended, and others.
    pub(crate) state: char,
    /// Zero for a process that the kernel has forgotten in part.
    pub(crate) n_threads: u32,
    /// In clock ticks since the machine started. Together with the id, it names a process for good.
    pub(crate) started_at: u64,
}

/// Names a process for good, unlike its id, which another process can get once it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ProcessName {
    pub(crate) pid: i32,
    started_at: u64,
}

/// The process of a program that may end and be started again.
#[derive(Debug, Default)]
pub(crate) struct ProcessSlot(Mutex<Option<ProcessName>>);

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

impl ProcessName {
    /// Returns the name of the process that has this id now.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Some(find(pid.as_raw_pid())?.name())
    }

    fn is_alive(self) -> bool {
        find(self.pid).is_some_and(|now| now.name() == self && now.is_alive())
    }
}

impl ProcessSlot {
    /// Remembers a process. It must not have been waited for, so that its id is still its own.
    pub(crate) fn set(&self, pid: Pid) {
        *self.slot() = ProcessName::of(pid);
    }

    pub(crate) fn clear(&self) {
        *self.slot() = None;
    }

    /// Returns the process while it runs.
    pub(crate) fn get(&self) -> Option<ProcessName> {
        let name = *self.slot();
        name.filter(|name| name.is_alive())
    }

    fn slot(&self) -> MutexGuard<'_, Option<ProcessName>> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    pub(crate) fn name(&self) -> ProcessName {
        ProcessName {
            pid: self.pid,
            started_at: self.started_at,
        }
    }

    /// Returns true if it has not ended. Its first thread may have ended while others go on.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X') || self.n_threads > 1
    }

    /// Returns true if somebody stopped it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state == 'T'
    }

    pub(crate) fn id(&self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    /// Returns how often each of its threads was given a processor. It grows whenever one of them runs. `None` if the
    /// process has ended.
    pub(crate) fn runs(&self) -> Option<Vec<(String, u64)>> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).ok()?;
        let mut runs: Vec<(String, u64)> = threads
            .flatten()
            .filter_map(|thread| {
                let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
                let n_runs = times.split_ascii_whitespace().nth(2)?.parse().ok()?;
                Some((thread.file_name().into_string().ok()?, n_runs))
            })
            .collect();
        runs.sort_unstable();
        Some(runs)
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
    let n_threads = fields.nth(13)?.parse().ok()?;
    let started_at = fields.nth(1)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        session,
        state,
        n_threads,
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
        assert!(process.is_alive());
        let ended = |n_threads: u32| Process {
            state: 'Z',
            n_threads,
            ..process
        };
        // Others of its threads may go on.
        assert!(!ended(1).is_alive() && ended(2).is_alive());
    }

    #[test]
    fn a_process_that_runs_is_told_from_one_that_rests() {
        let rests = std::process::id().cast_signed();
        let me = find(rests).unwrap();
        let before = me.runs().unwrap();
        std::thread::yield_now();
        std::thread::park_timeout(std::time::Duration::from_millis(1));
        // The kernel may not count.
        let counts = before.iter().any(|(_, n_runs)| *n_runs > 0);
        assert_eq!(me.runs().unwrap() != before, counts);
    }

    #[test]
    fn a_process_that_has_ended_is_forgotten() {
        let slot = ProcessSlot::default();
        let me = Pid::from_raw(std::process::id().cast_signed()).unwrap();
        slot.set(me);
        assert_eq!(slot.get().map(|name| name.pid), Some(me.as_raw_pid()));
        // Another process with the same id.
        let later = slot.get().map(|name| ProcessName {
            started_at: name.started_at + 1,
            ..name
        });
        *slot.slot() = later;
        assert_eq!(slot.get(), None);
    }

    #[test]
    fn this_process_is_found_and_awake() {
        let me = i32::try_from(std::process::id()).unwrap();
        let me = all().into_iter().find(|process| process.pid == me);
        assert!(me.unwrap().is_awake());
    }
}
