//! Finds the processes below a shell, and ends them.

use std::{collections::HashSet, fs};

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{self, Process};

/// Returns the direct children of a single-threaded process. Reads only one file, so it is cheap.
pub(super) fn children(pid: Pid) -> HashSet<i32> {
    let pid = pid.as_raw_nonzero();
    // If the kernel was built without this file, every child counts as the command's own.
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_ascii_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Returns the processes that the shell waits for.
///
/// These are all its descendants except `spared` and those that ignore SIGINT, because a bash without job control
/// starts background jobs that way.
pub(super) fn foreground(shell: Pid, spared: &HashSet<i32>) -> Vec<Pid> {
    let all = living();
    let mut found = Vec::new();
    let mut parents = vec![shell.as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|process| process.parent == parent) {
            if !spared.contains(&child.pid) && !ignores_interrupt(child.pid) {
                parents.push(child.pid);
                found.extend(Pid::from_raw(child.pid));
            }
        }
    }
    found
}

/// Returns the sessions that have a living process.
pub(super) fn living_sessions(sessions: &[Pid]) -> Vec<Pid> {
    let living: HashSet<i32> = living().iter().map(|process| process.session).collect();
    let lives = |session: &&Pid| living.contains(&session.as_raw_nonzero().get());
    sessions.iter().filter(lives).copied().collect()
}

/// Kills everything in these sessions, including processes started meanwhile.
pub(crate) fn kill_sessions(sessions: &[Pid]) {
    // The first pass that finds no process is the last. The limit keeps a fork bomb from holding us here.
    for _ in 0..100 {
        let members: Vec<Pid> = living()
            .iter()
            .filter(|process| {
                Pid::from_raw(process.session).is_some_and(|session| sessions.contains(&session))
            })
            .filter_map(|process| Pid::from_raw(process.pid))
            .collect();
        if members.is_empty() {
            return;
        }
        for member in members {
            // The process may have ended by itself in the meantime.
            let _ = kill_process(member, Signal::KILL);
        }
    }
}

/// Returns all visible processes that are alive.
fn living() -> Vec<Process> {
    let mut all = processes::all();
    all.retain(Process::is_alive);
    all
}

fn ignores_interrupt(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}
