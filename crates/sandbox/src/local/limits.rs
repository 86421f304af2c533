//! Putting limits on a sandbox that has just been started.
//!
//! The runner waits for its settings before it does anything, so there is time: every process
//! that is there gets its limits, again and again until a pass finds none without. From then on
//! each new process has a parent that is limited, and inherits it.

use std::{collections::HashSet, fs, io};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::{
    Limits,
    cgroup::{Controller, Group},
};

/// Limits every process from `first` down.
pub(crate) fn apply(limits: &Limits, group: &Group, first: Pid) -> io::Result<()> {
    let mut limited = HashSet::new();
    loop {
        let mut found = vec![first];
        add_descendants(first, &mut found);
        found.retain(|pid| limited.insert(*pid));
        if found.is_empty() {
            return Ok(());
        }
        for pid in found {
            match limit(limits, group, pid) {
                // It has ended.
                Err(error)
                    if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
                result => result?,
            }
        }
    }
}

fn limit(limits: &Limits, group: &Group, pid: Pid) -> io::Result<()> {
    group.attach(pid)?;
    set(pid, Resource::Fsize, limits.file_size_bytes)?;
    // Where the host hands core dumps to a program, that program should not be fed from here.
    set(pid, Resource::Core, 0)?;
    if !group.limits(Controller::Processes) {
        // Counted in the sandbox's own user namespace since Linux 5.14.
        set(pid, Resource::Nproc, u64::from(limits.processes))?;
    }
    Ok(())
}

/// An ordinary user may lower a limit and not raise it.
fn set(pid: Pid, resource: Resource, wanted: u64) -> io::Result<()> {
    let ceiling = rustix::process::getrlimit(resource).maximum;
    let value = Some(ceiling.map_or(wanted, |ceiling| ceiling.min(wanted)));
    let limit = Rlimit {
        current: value,
        maximum: value,
    };
    prlimit(Some(pid), resource, limit)?;
    Ok(())
}

fn add_descendants(pid: Pid, found: &mut Vec<Pid>) {
    let number = pid.as_raw_nonzero();
    // Both programs that can be here have a single thread.
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
            found.push(child);
            add_descendants(child, found);
        }
    }
}
