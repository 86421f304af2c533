//! Puts limits on a sandbox.
//!
//! The limits of the whole sandbox are those of its control group. The runner waits for its configuration before it
//! does anything, so there is time to add it to the group: every existing process is added, again and again until a
//! pass finds no new one. From then on each new process has a parent in the group, and starts in it.
//!
//! The limits of single processes are set by `prlimit` inside, on itself, before it becomes the runner. From
//! outside, only a root with all its capabilities could do that, which a root in a container rarely is.
//!
//! When the whole machine runs out of memory, the kernel ends a process of a sandbox rather than the server or its
//! database.

use std::{collections::HashSet, fs, io};

use rustix::{
    io::Errno,
    process::{Pid, Resource, getrlimit},
};

use deskhand_core::sandbox::SandboxLimits;

use super::cgroup::{Controller, Group};

/// The preference for the processes of sandboxes when memory runs out. The server has 0, and 1000 is the most.
const OOM_SCORE: &str = "500";

/// Returns the command that limits the one that follows it.
pub(crate) fn prefix(limits: &SandboxLimits, group: &Group) -> Vec<String> {
    let mut prefix = vec![
        "prlimit".to_owned(),
        option("fsize", Resource::Fsize, limits.file_size_bytes),
        // If the host pipes core dumps to a program, sandboxes should not feed that program.
        option("core", Resource::Core, 0),
    ];
    if !group.limits(Controller::Processes) {
        // Since Linux 5.14, these are counted in the sandbox's own user namespace.
        prefix.push(option("nproc", Resource::Nproc, limits.processes.into()));
    }
    prefix.push("--".to_owned());
    prefix
}

/// Formats an option of `prlimit`.
///
/// A limit can be lowered but not raised, so the server's own limit is the maximum.
fn option(name: &str, resource: Resource, wanted: u64) -> String {
    let most = getrlimit(resource).maximum;
    let value = most.map_or(wanted, |most| most.min(wanted));
    format!("--{name}={value}:{value}")
}

/// Adds `first` and all its descendants to the group, and makes the kernel prefer them when memory runs out.
pub(crate) fn attach(group: &Group, first: Pid) -> io::Result<()> {
    let mut attached = HashSet::new();
    loop {
        let mut found = vec![first];
        add_descendants(first, &mut found);
        found.retain(|pid| attached.insert(*pid));
        if found.is_empty() {
            return Ok(());
        }
        for pid in found {
            unless_ended(group.attach(pid))?;
            let adjustment = format!("/proc/{}/oom_score_adj", pid.as_raw_nonzero());
            match fs::write(adjustment, OOM_SCORE) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => unless_ended(result)?,
            }
        }
    }
}

/// Ignores that a process has ended meanwhile.
fn unless_ended(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(()),
        result => result,
    }
}

fn add_descendants(pid: Pid, found: &mut Vec<Pid>) {
    let number = pid.as_raw_nonzero();
    // The programs that can run before the runner has its configuration have a single thread.
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
            found.push(child);
            add_descendants(child, found);
        }
    }
}
