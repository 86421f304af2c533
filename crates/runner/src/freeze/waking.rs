//! Finds processes that have asked the kernel for a signal that would wake them up.

use std::{fs, path::Path};

use rustix::process::Signal;

use crate::processes::{self, Process};

/// The flag of a file descriptor that sends a signal when something happens on it.
const O_ASYNC: u32 = 0o20000;

/// Returns true if a process has asked the kernel for a signal that continues it, or that ends it and so wakes
/// another.
///
/// A process whose timers cannot be read counts as one. The filter of system calls refuses the ways that leave no trace
/// here.
pub(super) fn can_wake(process: &Process) -> bool {
    let timers = fs::read_to_string(format!("/proc/{}/timers", process.pid));
    let has_timer = match timers {
        Ok(timers) => has_waking_timer(&timers),
        // It may have ended meanwhile.
        Err(_) => processes::find(process.pid)
            .is_some_and(|now| now.name() == process.name() && now.is_alive()),
    };
    // A process that hides its descriptors is not killed for it: browsers do. It is found when it wakes up.
    has_timer || has_async_descriptor(Path::new(&format!("/proc/{}/fdinfo", process.pid)))
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
