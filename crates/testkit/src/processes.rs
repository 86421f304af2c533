//! Inspects this machine's processes.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// The longest wait for a condition.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a condition holds.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the processes that have a mount whose source or target contains `mark`: those in a sandbox with a folder
/// of that name bound into it. Each comes with its command line.
pub fn processes_with_mount(mark: &str) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        // A process may end while it is inspected.
        let Ok(mounts) = fs::read_to_string(entry.path().join("mountinfo")) else {
            continue;
        };
        if mounts.contains(mark) {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// Kills a process with `SIGKILL`. Returns false if it no longer existed.
pub fn kill(pid: i32) -> bool {
    let pid = Pid::from_raw(pid).unwrap();
    kill_process(pid, Signal::KILL).is_ok()
}

/// Returns the resident memory of a process.
pub fn rss_bytes(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .trim()
        .parse::<u64>()
        .unwrap()
        * 1024
}
