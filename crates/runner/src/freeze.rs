//! Freezes the programs in the sandbox while a person has control.
//!
//! One signal stops every process at the same moment, so no process can fork past it. Then those that the desktop
//! needs continue. Because a stopped process can arrange to be woken by a signal, processes that have done so are
//! killed, and so is every process that is found awake later.

mod spared;

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, kill_process, kill_process_group, prlimit,
};

pub(crate) use self::spared::SparedPrograms;
use crate::processes::{self, Process};

/// The most rounds of stopping everything and killing those that could wake up.
const MOST_ROUNDS: usize = 10;
/// The time that stopped processes get to come to rest. It takes microseconds, unless the machine is very busy: a
/// process has to be scheduled to notice that it is stopped. It does nothing else meanwhile, so waiting is harmless,
/// while killing a program that only waits for its turn would lose somebody's work.
const REST_TIMEOUT: Duration = Duration::from_secs(3);
const REST_POLL: Duration = Duration::from_millis(1);
/// The highest process id that a runner can have that was started with its sandbox.
const LAST_EARLY_PID: u32 = 64;
/// The flag of a file descriptor that sends a signal when something happens on it.
const O_ASYNC: u32 = 0o20000;

/// Stops and continues the processes of a sandbox.
#[derive(Debug)]
pub(crate) struct Freezer {
    /// True if this process sees the processes of its sandbox and no others.
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

/// The processes that were stopped, and what has to be undone besides.
#[derive(Debug, Default)]
struct Frozen {
    stopped: Vec<Process>,
    /// Processes that were stopped before, by themselves or by each other. They must stay so, and stay so afterwards.
    stopped_before: Vec<Process>,
    /// The names of all processes that were stopped when the first signal was sent.
    asleep: Option<HashSet<(i32, u64)>>,
    /// The window manager, with its former limit of processes.
    held_back: Option<(Pid, Rlimit)>,
}

impl Freezer {
    /// Creates a freezer. Without `is_alone`, it does nothing: it would stop the programs of the whole machine.
    pub(crate) fn new(is_alone: bool) -> Self {
        let is_early = std::process::id() <= LAST_EARLY_PID;
        if is_alone && !is_early {
            tracing::warn!("the agent's programs cannot be frozen: this is not a sandbox");
        }
        Self {
            is_alone: is_alone && is_early,
            frozen: Mutex::default(),
        }
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

    /// Kills frozen processes that are awake nevertheless, and freezes everything again if there were any.
    pub(crate) fn check(&self, spare: &SparedPrograms) {
        let mut frozen = self.frozen();
        let Some(frozen) = frozen.as_mut() else {
            return;
        };
        let awake = frozen.awake();
        if !awake.is_empty() {
            tracing::warn!(
                n_awake = awake.len(),
                "frozen programs woke up and are killed"
            );
            frozen.kill(&awake);
            frozen.freeze(spare);
        }
    }

    /// Continues exactly those processes that were stopped.
    pub(crate) fn thaw(&self) {
        let Some(frozen) = self.frozen().take() else {
            return;
        };
        if let Some((window_manager, limit)) = frozen.held_back {
            // It may have ended meanwhile.
            let _ = prlimit(Some(window_manager), Resource::Nproc, limit);
        }
        // The youngest first: a shell that resumes before its foreground program would consider the program suspended,
        // and take the terminal back.
        let mut stopped = frozen.stopped;
        stopped.sort_by_key(|process| std::cmp::Reverse((process.started_at, process.pid)));
        for process in &stopped {
            signal(process, Signal::CONT);
        }
    }

    fn frozen(&self) -> MutexGuard<'_, Option<Frozen>> {
        // No code under this lock panics halfway.
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Frozen {
    /// Stops everything that is not spared, and kills processes that cannot be kept stopped. Returns false if some
    /// could be neither stopped nor killed.
    fn freeze(&mut self, spare: &SparedPrograms) -> bool {
        self.hold_back(spare.window_manager);
        for _ in 0..MOST_ROUNDS {
            self.stop_all(spare);
            let wakers: Vec<Process> = self.all().copied().filter(can_wake).collect();
            // A process that was in the middle of a fork is at rest when its child exists.
            if wakers.is_empty() && self.come_to_rest() && !self.take_in(spare) {
                return true;
            }
            // The end of one process can wake others, so everything is stopped again.
            self.kill(&wakers);
        }
        tracing::error!("some programs could not be frozen");
        false
    }

    fn stop_all(&mut self, spare: &SparedPrograms) {
        self.asleep.get_or_insert_with(|| {
            let stopped = processes::all().into_iter().filter(Process::is_stopped);
            stopped.map(|process| name(&process)).collect()
        });
        // The process group with the number 1 means all processes that this one may signal, besides itself and the
        // first. The kernel does it in one step. Without any other process it fails, which is fine.
        let _ = kill_process_group(Pid::INIT, Signal::STOP);
        self.take_in(spare);
    }

    /// Adds the stopped processes that are not known yet, and continues those to spare. Returns true if there were new
    /// ones.
    fn take_in(&mut self, spare: &SparedPrograms) -> bool {
        let n_known = self.all().count();
        let all = processes::all();
        let spared = spare.ids(&all);
        let known: HashSet<(i32, u64)> = self.all().map(name).collect();
        for process in all {
            let is_first = process.pid == Pid::INIT.as_raw_pid();
            if is_first || !process.is_alive() || known.contains(&name(&process)) {
                continue;
            }
            if spared.contains(&process.pid) {
                signal(&process, Signal::CONT);
            } else if self
                .asleep
                .as_ref()
                .is_some_and(|asleep| asleep.contains(&name(&process)))
            {
                self.stopped_before.push(process);
            } else {
                self.stopped.push(process);
            }
        }
        self.all().count() > n_known
    }

    fn all(&self) -> impl Iterator<Item = &Process> {
        self.stopped.iter().chain(&self.stopped_before)
    }

    /// Waits until all are at rest, and kills those that do not come to it. Returns true if there were none.
    fn come_to_rest(&mut self) -> bool {
        let give_up_at = Instant::now() + REST_TIMEOUT;
        loop {
            let awake = self.awake();
            if awake.is_empty() {
                return true;
            }
            if Instant::now() > give_up_at {
                self.kill(&awake);
                return false;
            }
            sleep(REST_POLL);
        }
    }

    fn awake(&self) -> Vec<Process> {
        let awake = self.all().filter(|process| process.is_awake());
        awake.copied().collect()
    }

    fn kill(&mut self, processes: &[Process]) {
        for process in processes {
            signal(process, Signal::KILL);
        }
        self.stopped.retain(|process| !processes.contains(process));
        self.stopped_before
            .retain(|process| !processes.contains(process));
    }

    /// Keeps the window manager from starting programs: an earlier program may have given it another configuration.
    fn hold_back(&mut self, window_manager: Option<i32>) {
        let window_manager = window_manager.and_then(Pid::from_raw);
        if self.held_back.as_ref().map(|(pid, _)| *pid) == window_manager {
            return;
        }
        let none = Rlimit {
            current: Some(0),
            maximum: getrlimit(Resource::Nproc).maximum,
        };
        self.held_back = window_manager.and_then(|pid| {
            let former = prlimit(Some(pid), Resource::Nproc, none).ok()?;
            Some((pid, former))
        });
    }
}

fn name(process: &Process) -> (i32, u64) {
    (process.pid, process.started_at)
}

fn signal(process: &Process, signal: Signal) {
    let is_same = processes::find(process.pid).is_some_and(|now| name(&now) == name(process));
    if let Some(pid) = process.id().filter(|_| is_same)
        && let Err(error) = kill_process(pid, signal)
        && error != rustix::io::Errno::SRCH
    {
        tracing::warn!(pid = process.pid, %error, "could not signal a program");
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

/// Returns true if a process has asked the kernel for a signal that continues it, or that ends it and so wakes
/// another.
fn can_wake(process: &Process) -> bool {
    let timers = fs::read_to_string(format!("/proc/{}/timers", process.pid));
    // A process that hides its descriptors is not killed for it: browsers do. It is found when it wakes up.
    timers.is_ok_and(|timers| has_waking_timer(&timers))
        || has_async_descriptor(Path::new(&format!("/proc/{}/fdinfo", process.pid)))
}

fn has_waking_timer(timers: &str) -> bool {
    let waking = [Signal::CONT.as_raw(), Signal::KILL.as_raw()];
    timers
        .lines()
        .filter_map(|line| line.strip_prefix("signal:")?.trim().split_once('/'))
        .any(|(number, _)| number.parse().is_ok_and(|number| waking.contains(&number)))
}

fn has_async_descriptor(folder: &Path) -> bool {
    let descriptors = fs::read_dir(folder).into_iter().flatten().flatten();
    descriptors
        .filter_map(|entry| fs::read_to_string(entry.path()).ok())
        .any(|info| {
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            flags
                .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
                .is_some_and(|flags| flags & O_ASYNC != 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_a_sandbox_nothing_is_ever_stopped() {
        assert!(!Freezer::new(false).is_alone);
        let me = Freezer::new(true);
        assert!(std::process::id() <= LAST_EARLY_PID || !me.is_alone);
    }

    #[test]
    fn timers_that_would_wake_a_process_are_recognised() {
        let timer = |signal: i32| {
            format!("ID: 0\nsignal: {signal}/00007fff\nnotify: signal/pid.7\nClockID: 0\n")
        };
        assert!(has_waking_timer(&timer(18)) && has_waking_timer(&timer(9)));
        assert!(has_waking_timer(&(timer(14) + &timer(18))));
        assert!(!has_waking_timer(&timer(14)) && !has_waking_timer(""));
    }

    #[test]
    fn descriptors_that_send_signals_are_recognised() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("3"), "pos:\t0\nflags:\t0100002\n").unwrap();
        assert!(!has_async_descriptor(folder.path()));
        fs::write(folder.path().join("4"), "pos:\t0\nflags:\t0120002\n").unwrap();
        assert!(has_async_descriptor(folder.path()));
    }
}
