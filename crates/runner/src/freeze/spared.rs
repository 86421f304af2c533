//! The processes that go on while everything else is frozen.

use std::{collections::HashSet, fs};

use crate::processes::{Process, ProcessName};

/// The programs to spare, by process id.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparedPrograms {
    pub(crate) x_server: Option<ProcessName>,
    pub(crate) window_manager: Option<ProcessName>,
    /// Spared with the processes that it consists of, but not with other programs that it started.
    pub(crate) browser: Option<ProcessName>,
    /// The shells of the person who has control, spared with everything started from them.
    pub(crate) shells: Vec<ProcessName>,
    /// VS Code of the person who has control, spared with everything started from it.
    pub(crate) code: Option<ProcessName>,
    /// PulseAudio, without which the browser's sound would get stuck.
    pub(crate) sound: Option<ProcessName>,
}

impl SparedPrograms {
    /// Returns the ids of the processes to spare. This process and those above it are always among them.
    pub(super) fn ids(&self, all: &[Process]) -> HashSet<i32> {
        let me = i32::try_from(std::process::id()).unwrap_or_default();
        self.ids_around(me, all, is_same_program)
    }

    fn ids_around(
        &self,
        me: i32,
        all: &[Process],
        is_same_program: impl Fn(i32, i32) -> bool,
    ) -> HashSet<i32> {
        // Another process may have the id of one that has ended.
        let running = |name: &ProcessName| all.iter().any(|process| process.name() == *name);
        let pids = |names: &[Option<ProcessName>]| {
            let names = names.iter().flatten().filter(|name| running(name));
            names.map(|name| name.pid).collect::<Vec<i32>>()
        };
        let mut spared: HashSet<i32> = pids(&[self.x_server, self.window_manager, self.sound])
            .into_iter()
            .collect();
        let mut above = Some(me);
        while let Some(pid) = above.filter(|pid| *pid > 0 && spared.insert(*pid)) {
            let process = all.iter().find(|process| process.pid == pid);
            above = process.map(|process| process.parent);
        }
        for browser in pids(&[self.browser]) {
            add_tree(&mut spared, browser, all, &is_same_program);
        }
        let shells: Vec<_> = self.shells.iter().copied().map(Some).collect();
        for shell in pids(&shells).into_iter().chain(pids(&[self.code])) {
            add_tree(&mut spared, shell, all, &|_, _| true);
        }
        spared
    }
}

/// Adds a process and those of its descendants that are connected to it by parts of it.
fn add_tree(
    spared: &mut HashSet<i32>,
    root: i32,
    all: &[Process],
    is_part: &dyn Fn(i32, i32) -> bool,
) {
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        if !spared.insert(parent) {
            continue;
        }
        let children = all.iter().filter(|process| process.parent == parent);
        let parts = children.filter(|child| is_part(root, child.pid));
        parents.extend(parts.map(|child| child.pid));
    }
}

/// Returns true if a process runs the same program as another, or does not tell which program it runs.
///
/// The browser's own processes for pages do not tell. Programs that the browser started for a page do, since these
/// begin with a shell script of the system.
fn is_same_program(one: i32, other: i32) -> bool {
    let program = |pid: i32| fs::read_link(format!("/proc/{pid}/exe"));
    match (program(one), program(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), _) | (_, Err(_)) => true,
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
            state: 'T',
            n_threads: 1,
            started_at: 0,
        }
    }

    #[test]
    fn the_desktop_goes_on_and_what_others_started_does_not() {
        let tree = [
            (1, 0),
            (2, 1),   // the runner
            (10, 2),  // the X server
            (11, 2),  // the window manager
            (12, 11), // started by it
            (20, 2),  // the browser
            (21, 20), // its zygote
            (22, 21), // a page
            (23, 20), // a script that opens a link
            (24, 23), // the program for the link, a browser too
            (30, 2),  // the agent's shell
            (31, 30),
            (40, 2), // the person's shell
            (41, 40),
            (50, 1), // a daemon
            (60, 2), // the sound card
            (70, 2), // it has the id that a terminal of the person had
        ];
        let all: Vec<Process> = tree.map(|(pid, parent)| process(pid, parent)).to_vec();
        let name = |pid: i32| process(pid, 2).name();
        let ended = Process {
            started_at: 1,
            ..process(70, 2)
        };
        let spare = SparedPrograms {
            x_server: Some(name(10)),
            window_manager: Some(name(11)),
            browser: Some(name(20)),
            shells: vec![name(40), ended.name()],
            code: None,
            sound: Some(name(60)),
        };
        let mut spared: Vec<i32> = spare
            .ids_around(2, &all, |_, other| other != 23)
            .into_iter()
            .collect();
        spared.sort_unstable();
        assert_eq!(spared, [1, 2, 10, 11, 20, 21, 22, 40, 41, 60]);
    }

    #[test]
    fn without_programs_only_the_runner_goes_on() {
        let all = [process(1, 0), process(2, 1), process(3, 2)];
        let spared = SparedPrograms::default().ids_around(2, &all, |_, _| true);
        assert_eq!(spared, HashSet::from([1, 2]));
    }
}
