//! The control group of one sandbox.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use super::{Controller, Groups, Version};
use deskhand_core::sandbox::SandboxLimits;

/// The timeout for removing a group whose processes were killed.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(5);
const REMOVAL_PAUSE: Duration = Duration::from_millis(2);
/// The period for which shares of processors are counted, in microseconds.
const CPU_PERIOD_US: u32 = 100_000;

/// The groups of one sandbox: one in version 2, one for each controller in version 1.
#[derive(Debug)]
pub(crate) struct Group {
    parts: Vec<Part>,
    /// The controllers without a group, with the reasons.
    missing: Vec<(Controller, String)>,
}

#[derive(Debug)]
struct Part {
    dir: PathBuf,
    version: Version,
    controllers: Vec<Controller>,
}

impl Group {
    /// Creates the groups and sets their limits.
    ///
    /// A group that cannot be created is left out, see [`Group::unlimited`]. `doctor` shows people which limits apply.
    pub(crate) async fn create(groups: &Groups, name: &str, limits: &SandboxLimits) -> Self {
        let mut group = Self {
            parts: Vec::new(),
            missing: groups.missing.clone(),
        };
        for place in &groups.places {
            let part = Part {
                dir: place.parent.join(name),
                version: place.version,
                controllers: place.controllers.clone(),
            };
            match make_empty(&part.dir).await.and_then(|()| part.set(limits)) {
                Ok(()) => group.parts.push(part),
                Err(error) => {
                    tracing::warn!(%error, group = %part.dir.display(), "could not set a limit of a sandbox");
                    // The folder is empty, or was never created.
                    let _ = fs::remove_dir(&part.dir);
                    let problem = format!("{}: {error}", part.dir.display());
                    let missing = part.controllers.iter().map(|it| (*it, problem.clone()));
                    group.missing.extend(missing);
                }
            }
        }
        group
    }

    /// Returns the reason why the sandbox could use all memory or all processors of the machine, if it could.
    pub(crate) fn unlimited(&self) -> Option<&str> {
        // Processes have another limit without a group.
        let counts = |controller: Controller| controller != Controller::Processes;
        let mut missing = self.missing.iter();
        let found = missing.find(|(controller, _)| counts(*controller));
        found.map(|(_, reason)| reason.as_str())
    }

    /// Adds a process. The processes that it starts from now on belong to the group as well.
    pub(crate) fn attach(&self, pid: Pid) -> io::Result<()> {
        for part in &self.parts {
            let pid = pid.as_raw_nonzero().to_string();
            fs::write(part.dir.join("cgroup.procs"), pid)?;
        }
        Ok(())
    }

    pub(crate) fn limits(&self, controller: Controller) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| part.controllers.contains(&controller))
    }

    /// Returns the number of processes that the kernel killed because the memory was used up.
    pub(crate) fn n_out_of_memory(&self) -> u64 {
        let text = self.read(Controller::Memory, |version| match version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        });
        text.as_deref().and_then(oom_kills).unwrap_or(0)
    }

    /// Returns the memory in use, if a group counts it.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.read(Controller::Memory, |version| match version {
            Version::One => "memory.usage_in_bytes",
            Version::Two => "memory.current",
        })
        .and_then(|text| text.trim().parse().ok())
    }

    /// Returns the processor time used so far, if a group counts it.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let in_part = |part: &Part| match part.version {
            Version::One => {
                let nanos = fs::read_to_string(part.dir.join("cpuacct.usage")).ok()?;
                Some(Duration::from_nanos(nanos.trim().parse().ok()?))
            }
            Version::Two => {
                let stat = fs::read_to_string(part.dir.join("cpu.stat")).ok()?;
                let mut lines = stat.lines();
                let micros = lines.find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(Duration::from_micros(micros.parse().ok()?))
            }
        };
        self.parts.iter().find_map(in_part)
    }

    /// Reads a file of the group that has this controller.
    fn read(
        &self,
        controller: Controller,
        file: impl Fn(Version) -> &'static str,
    ) -> Option<String> {
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.controllers.contains(&controller))?;
        fs::read_to_string(part.dir.join(file(part.version))).ok()
    }

    pub(crate) fn dirs(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.dir.clone()).collect()
    }

    /// Removes the groups once they are empty.
    pub(crate) async fn remove(&self) {
        for part in &self.parts {
            remove(&part.dir).await;
        }
    }
}

impl Drop for Group {
    /// Cleans up after a start that was cancelled. After [`Group::remove`] there is nothing left to do.
    fn drop(&mut self) {
        for part in &self.parts {
            let _ = fs::remove_dir(&part.dir);
        }
    }
}

impl Part {
    fn set(&self, limits: &SandboxLimits) -> io::Result<()> {
        let write = |file: &str, value: String| fs::write(self.dir.join(file), value);
        // Without swap accounting these files do not exist, and swap is not limited.
        let write_if_there = |file: &str, value: String| {
            let is_there = self.dir.join(file).exists();
            if is_there { write(file, value) } else { Ok(()) }
        };
        let cpu_quota_us = f64::from(limits.cpus) * f64::from(CPU_PERIOD_US);
        for controller in &self.controllers {
            match (controller, self.version) {
                (Controller::Memory, Version::One) => {
                    let bytes = limits.memory_bytes.to_string();
                    write("memory.limit_in_bytes", bytes.clone())?;
                    write_if_there("memory.memsw.limit_in_bytes", bytes)?;
                }
                (Controller::Memory, Version::Two) => {
                    write("memory.max", limits.memory_bytes.to_string())?;
                    write_if_there("memory.swap.max", "0".to_owned())?;
                }
                (Controller::Cpu, Version::One) => {
                    write("cpu.cfs_period_us", CPU_PERIOD_US.to_string())?;
                    write("cpu.cfs_quota_us", format!("{cpu_quota_us:.0}"))?;
                }
                (Controller::Cpu, Version::Two) => {
                    write("cpu.max", format!("{cpu_quota_us:.0} {CPU_PERIOD_US}"))?;
                }
                (Controller::Processes, _) => write("pids.max", limits.processes.to_string())?,
            }
        }
        Ok(())
    }
}

/// Creates a group without processes. One that is left over from an earlier sandbox is cleared first.
async fn make_empty(dir: &Path) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result,
    }
    clear(dir).await;
    match fs::create_dir(dir) {
        // Its processes were killed, so the group limits the new sandbox as well as another would.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Kills the remaining processes in the group of an earlier server, and removes the group.
pub(crate) async fn clear(dir: &Path) {
    let members = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    for pid in members.lines().filter_map(|line| line.parse().ok()) {
        if let Some(pid) = Pid::from_raw(pid) {
            tracing::info!(
                pid = pid.as_raw_nonzero(),
                "ending processes that an earlier server left running"
            );
            // The process may have ended by itself in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    remove(dir).await;
}

async fn remove(dir: &Path) {
    let deadline = Instant::now() + REMOVAL_TIMEOUT;
    loop {
        match fs::remove_dir(dir) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) if Instant::now() > deadline => {
                tracing::warn!(%error, group = %dir.display(), "could not remove a control group");
                return;
            }
            // Its last processes are still ending.
            Err(_) => sleep(REMOVAL_PAUSE).await,
        }
    }
}

fn oom_kills(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{super::Place, *};

    #[test]
    fn kills_are_counted_in_both_versions() {
        let one = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        let two = "low 0\nhigh 0\nmax 12\noom 4\noom_kill 2\noom_group_kill 0\n";
        assert_eq!(oom_kills(one), Some(3));
        assert_eq!(oom_kills(two), Some(2));
        assert_eq!(oom_kills(""), None);
    }

    #[test]
    fn version_two_is_told_its_limits() {
        let dir = tempfile::tempdir().unwrap();
        let part = Part {
            dir: dir.path().to_owned(),
            version: Version::Two,
            controllers: Controller::ALL.to_vec(),
        };
        fs::write(dir.path().join("memory.swap.max"), "max").unwrap();
        part.set(&SandboxLimits {
            memory_bytes: 1024,
            cpus: 1.5,
            processes: 7,
            ..SandboxLimits::default()
        })
        .unwrap();
        let read = |file| fs::read_to_string(dir.path().join(file)).unwrap();
        assert_eq!(read("memory.max"), "1024");
        assert_eq!(read("memory.swap.max"), "0");
        assert_eq!(read("cpu.max"), "150000 100000");
        assert_eq!(read("pids.max"), "7");
    }

    #[tokio::test]
    async fn a_folder_that_was_left_over_is_limited_again() {
        let dir = tempfile::tempdir().unwrap();
        let groups = Groups {
            places: vec![Place {
                version: Version::Two,
                parent: dir.path().to_owned(),
                controllers: vec![Controller::Memory, Controller::Cpu],
            }],
            missing: Vec::new(),
        };
        fs::create_dir(dir.path().join("sandbox")).unwrap();
        let group = Group::create(&groups, "sandbox", &SandboxLimits::default()).await;
        assert!(group.limits(Controller::Memory));
        assert_eq!(group.unlimited(), None);
        let file = dir.path().join("sandbox/memory.max");
        let bytes = SandboxLimits::default().memory_bytes.to_string();
        assert_eq!(fs::read_to_string(file).unwrap(), bytes);
    }

    #[tokio::test]
    async fn a_limit_that_cannot_be_set_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("nowhere");
        let groups = Groups {
            places: vec![Place {
                version: Version::One,
                parent: parent.clone(),
                controllers: vec![Controller::Memory],
            }],
            missing: vec![(Controller::Processes, "not here".to_owned())],
        };
        let group = Group::create(&groups, "sandbox", &SandboxLimits::default()).await;
        let reason = group.unlimited().unwrap();
        let named = format!("{}: ", parent.join("sandbox").display());
        assert!(reason.starts_with(&named), "{reason}");
    }

    #[test]
    fn what_is_used_is_read_in_both_versions() {
        for (version, files) in [
            (
                Version::One,
                [
                    ("memory.usage_in_bytes", "4096\n"),
                    ("cpuacct.usage", "1500000\n"),
                ],
            ),
            (
                Version::Two,
                [
                    ("memory.current", "4096\n"),
                    ("cpu.stat", "usage_usec 1500\nuser_usec 1\n"),
                ],
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs::write(dir.path().join(name), text).unwrap();
            }
            let part = Part {
                dir: dir.path().to_owned(),
                version,
                controllers: Controller::ALL.to_vec(),
            };
            let group = Group {
                parts: vec![part],
                missing: Vec::new(),
            };
            assert_eq!(group.memory_bytes(), Some(4096));
            assert_eq!(group.cpu(), Some(Duration::from_micros(1500)));
        }
    }
}
