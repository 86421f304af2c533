//! The processes that were stopped, and the watch over them.

use std::{
    collections::{HashMap, HashSet},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, kill_process, kill_process_group, prlimit,
};

use super::{SparedPrograms, waking::can_wake};
use crate::processes::{self, Process, ProcessName};

/// The most rounds of stopping everything and killing those that could wake up.
const MOST_ROUNDS: usize = 10;
/// The time that stopped processes get to come to rest. It takes microseconds, unless the machine is very busy: a
/// process has to be scheduled to notice that it is stopped. It does nothing else meanwhile, so waiting is harmless,
/// while killing a program that only waits for its turn would lose somebody's work.
const REST_TIMEOUT: Duration = Duration::from_secs(3);
const REST_POLL: Duration = Duration::from_millis(1);

/// The processes that were stopped, and what has to be undone besides.
#[derive(Debug, Default)]
pub(super) struct Frozen {
    stopped: Vec<Process>,
    /// Processes that were stopped before, by themselves or by each other. They must stay so, and stay so afterwards.
    stopped_before: Vec<Process>,
    /// The names of all processes that were stopped when the first signal was sent.
    asleep: Option<HashSet<ProcessName>>,
    /// The processes that run by right: those of the desktop, and those of the person. A program that detached itself
    /// from the person's shell is among them.
    free: HashSet<ProcessName>,
    /// How often the threads of frozen processes had run at the last look.
    runs: HashMap<ProcessName, Option<Vec<(String, u64)>>>,
    /// Those that had run between the last two looks.
    ran: HashSet<ProcessName>,
    /// The window manager, with its former limit of processes.
    held_back: Option<(Pid, Rlimit)>,
}

impl Frozen {
    /// Stops everything that is not spared, and kills processes that cannot be kept stopped. Returns false if some
    /// could be neither stopped nor killed.
    pub(super) fn freeze(&mut self, spare: &SparedPrograms) -> bool {
        // Programs of a person who had control before are stopped like others.
        self.free.clear();
        let is_complete = self.stop_until_at_rest(spare);
        self.note_runs();
        self.ran.clear();
        is_complete
    }

    fn stop_until_at_rest(&mut self, spare: &SparedPrograms) -> bool {
        self.hold_back(spare.window_manager.map(|process| process.pid));
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
            stopped.map(|process| process.name()).collect()
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
        let known = self.names();
        for process in all {
            let is_first = process.pid == Pid::INIT.as_raw_pid();
            if is_first || !process.is_alive() || known.contains(&process.name()) {
                continue;
            }
            if spared.contains(&process.pid) || self.free.contains(&process.name()) {
                signal(&process, Signal::CONT);
            } else if self
                .asleep
                .as_ref()
                .is_some_and(|asleep| asleep.contains(&process.name()))
            {
                self.stopped_before.push(process);
            } else {
                self.stopped.push(process);
            }
        }
        self.all().count() > n_known
    }

    /// Kills frozen processes that are awake nevertheless, with everything that they may have started, and freezes
    /// everything again if there were any.
    pub(super) fn check(&mut self, spare: &SparedPrograms) {
        let all = processes::all();
        let spared = spare.ids(&all);
        self.release(&spared);
        // Read after the processes: a child that is not among them yet is found at the next look, with its parent's.
        let mut ran = self.note_runs();
        let ran_before = std::mem::replace(&mut self.ran, ran.clone());
        ran.extend(ran_before);
        let mut awake = self.strangers(&all, &spared, !ran.is_empty());
        if !awake.is_empty() {
            // One of these has started them, and stopped itself again.
            awake.extend(self.all().filter(|process| ran.contains(&process.name())));
        }
        awake.extend(self.awake());
        if awake.is_empty() {
            return;
        }
        let n_awake = awake.len();
        tracing::warn!(n_awake, "frozen programs woke up and are killed");
        self.kill(&awake);
        let known = self.names();
        self.stop_until_at_rest(spare);
        self.judge_late(&known);
        self.note_runs();
    }

    /// Kills what programs that were awake have started in the last moment, and continues what others have.
    fn judge_late(&mut self, known: &HashSet<ProcessName>) {
        let all = processes::all();
        let late: Vec<Process> = self
            .all()
            .filter(|process| !known.contains(&process.name()))
            .copied()
            .collect();
        let late_names: HashSet<ProcessName> = late.iter().map(Process::name).collect();
        let is_late = |process: &Process| late_names.contains(&process.name());
        let (by_right, others): (Vec<Process>, Vec<Process>) = late
            .into_iter()
            .partition(|process| Origin::of(process, known, is_late, &all) == Origin::Running);
        self.kill(&others);
        for process in &by_right {
            self.free.insert(process.name());
            signal(process, Signal::CONT);
        }
        self.stopped.retain(|process| !by_right.contains(process));
    }

    /// Continues processes that are spared by now: a program of the person that was starting when all were stopped.
    fn release(&mut self, spared: &HashSet<i32>) {
        let is_spared = |process: &Process| spared.contains(&process.pid);
        for process in self.stopped.iter().filter(|process| is_spared(process)) {
            signal(process, Signal::CONT);
        }
        self.stopped.retain(|process| !is_spared(process));
    }

    /// Returns the processes that a frozen one may have started while it was awake, and remembers all others as free.
    ///
    /// One whose parents are gone could be of either kind. It is the person's if no frozen process has run.
    fn strangers(
        &mut self,
        all: &[Process],
        spared: &HashSet<i32>,
        have_run: bool,
    ) -> Vec<Process> {
        let known = self.names();
        let is_new = |process: &Process| {
            !spared.contains(&process.pid) && !self.free.contains(&process.name())
        };
        let (mut strangers, mut free) = (Vec::new(), Vec::new());
        for process in all.iter().filter(|process| process.is_alive()) {
            let is_first = process.pid == Pid::INIT.as_raw_pid();
            if is_first || known.contains(&process.name()) {
                continue;
            }
            let is_strange = is_new(process)
                && match Origin::of(process, &known, is_new, all) {
                    Origin::Frozen => true,
                    Origin::Running => false,
                    Origin::Unknown => have_run,
                };
            if is_strange {
                strangers.push(*process);
            } else {
                free.push(process.name());
            }
        }
        self.free.extend(free);
        strangers
    }

    /// Notes how often frozen processes have run. Returns those that have since the last time.
    fn note_runs(&mut self) -> HashSet<ProcessName> {
        let now: HashMap<_, _> = self
            .all()
            .map(|process| (process.name(), process.runs()))
            .collect();
        let before = std::mem::replace(&mut self.runs, now);
        // One that has ended has run as well.
        let has_run = |name: &ProcessName| self.runs.get(name) != before.get(name);
        self.names().into_iter().filter(has_run).collect()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Process> {
        self.stopped.iter().chain(&self.stopped_before)
    }

    fn names(&self) -> HashSet<ProcessName> {
        self.all().map(Process::name).collect()
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

    pub(super) fn kill(&mut self, processes: &[Process]) {
        for process in processes {
            signal(process, Signal::KILL);
        }
        self.stopped.retain(|process| !processes.contains(process));
        self.stopped_before
            .retain(|process| !processes.contains(process));
    }

    /// Continues exactly those processes that were stopped.
    pub(super) fn thaw(mut self) {
        if let Some((window_manager, limit)) = self.held_back {
            // It may have ended meanwhile.
            let _ = prlimit(Some(window_manager), Resource::Nproc, limit);
        }
        // The youngest first: a shell that resumes before its foreground program would consider the program suspended,
        // and take the terminal back.
        self.stopped
            .sort_by_key(|process| std::cmp::Reverse((process.started_at, process.pid)));
        for process in &self.stopped {
            signal(process, Signal::CONT);
        }
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

/// The kind of process that has started another, or one above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Frozen,
    Running,
    /// Its parents are gone.
    Unknown,
}

impl Origin {
    /// Finds the next process above that is not new itself.
    fn of(
        process: &Process,
        frozen: &HashSet<ProcessName>,
        is_new: impl Fn(&Process) -> bool,
        all: &[Process],
    ) -> Self {
        let mut child = *process;
        for _ in all {
            // The first process is the parent of all that have lost theirs.
            let has_parent = child.parent > Pid::INIT.as_raw_pid();
            let parent = all.iter().find(|it| has_parent && it.pid == child.parent);
            match parent {
                None => return Self::Unknown,
                Some(parent) if frozen.contains(&parent.name()) => return Self::Frozen,
                Some(parent) if is_new(parent) => child = *parent,
                Some(_) => return Self::Running,
            }
        }
        Self::Unknown
    }
}

fn signal(process: &Process, signal: Signal) {
    let is_same = processes::find(process.pid).is_some_and(|now| now.name() == process.name());
    if let Some(pid) = process.id().filter(|_| is_same)
        && let Err(error) = kill_process(pid, signal)
        && error != rustix::io::Errno::SRCH
    {
        tracing::warn!(pid = process.pid, %error, "could not signal a program");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process {
            pid,
            parent,
            session: pid,
            state: 'S',
            n_threads: 1,
            started_at: 7,
        }
    }

    /// A runner with a frozen shell, a person's shell, and programs that were started since.
    fn all() -> Vec<Process> {
        let tree = [
            (1, 0),
            (2, 1),   // the runner
            (10, 2),  // a frozen shell
            (11, 10), // started by it
            (12, 11),
            (20, 2),  // a person's shell
            (21, 20), // started by it
            (30, 1),  // detached
        ];
        tree.map(|(pid, parent)| process(pid, parent)).to_vec()
    }

    fn strangers(frozen: &mut Frozen, have_run: bool) -> Vec<i32> {
        let spared = HashSet::from([1, 2, 20, 21]);
        let strangers = frozen.strangers(&all(), &spared, have_run);
        strangers.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn programs_of_a_frozen_one_are_strangers_and_those_of_a_person_are_not() {
        let mut frozen = Frozen {
            stopped: vec![process(10, 2)],
            ..Frozen::default()
        };
        assert_eq!(strangers(&mut frozen, false), [11, 12]);
        // The one that detached itself was seen while all frozen programs were at rest.
        assert_eq!(strangers(&mut frozen, true), [11, 12]);
    }

    #[test]
    fn a_program_of_unknown_parents_is_a_stranger_if_a_frozen_one_has_run() {
        let mut frozen = Frozen {
            stopped: vec![process(10, 2)],
            ..Frozen::default()
        };
        assert_eq!(strangers(&mut frozen, true), [11, 12, 30]);
        frozen.free.insert(process(30, 1).name());
        assert_eq!(strangers(&mut frozen, true), [11, 12]);
    }
}
