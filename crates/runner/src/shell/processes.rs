//! Finds the processes below a shell, and ends them.

use std::{collections::HashSet, fs};

use rustix::process::{Pid, Signal, kill_process};

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    session: i32,
}

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
    let all = processes();
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
    let living: HashSet<i32> = processes().iter().map(|process| process.session).collect();
    let lives = |session: &&Pid| living.contains(&session.as_raw_nonzero().get());
    sessions.iter().filter(lives).copied().collect()
}

/// Kills everything in these sessions, including processes started meanwhile.
pub(super) fn kill_sessions(sessions: &[Pid]) {
    // The first pass that finds no process is the last. The limit keeps a fork bomb from holding us here.
    for _ in 0..100 {
        let members: Vec<Pid> = processes()
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

/// Returns all visible processes that are alive, so no zombies.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
        })
        .collect()
}

/// Parses `pid (name) state parent group session …`, in which the name may contain anything.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(Process {
        pid,
        parent,
        session,
    })
}

fn ignores_interrupt(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let process = parse_stat(7, "7 (a) S 1) R 12 13 14 0 -1").unwrap();
        assert_eq!((process.parent, process.session), (12, 14));
        assert!(parse_stat(7, "7 (a) Z 12 13 14").is_none());
    }

    #[test]
    fn this_process_is_found() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(processes().iter().any(|process| process.pid == me));
    }
}
