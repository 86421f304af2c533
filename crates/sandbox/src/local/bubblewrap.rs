//! The arguments for bubblewrap.
//!
//! The sandbox has its own users, processes, network (without a connection to the host's), host name and System V
//! objects. It sees the system's programs and an `/etc` of ours, both read-only, and can write to its home and to
//! folders in memory. Nothing else of the host is visible.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::sandbox::{Network, SandboxLimits};

use super::{
    browser::START_PAGE,
    system::{System, X_SERVER},
};
use crate::code_server;

/// The path of the runner's socket to the server.
pub(crate) const SOCKET: &str = "/run/deskhand/runner.sock";
/// The remedy for a kernel that does not let us create namespaces.
pub(crate) const NAMESPACE_REMEDY: &str = "allow user namespaces: \
     `sysctl -w kernel.unprivileged_userns_clone=1`; on Ubuntu, give /usr/bin/bwrap an AppArmor profile with `userns,` \
     (docs/operate/sandboxes.md has one); in a container, give it the right to make them";
/// The folder of our programs, which comes first in PATH.
const PROGRAMS: &str = "/run/deskhand/bin";
const RUNNER: &str = "/run/deskhand/bin/deskhand";
const HOME: &str = "/home/agent";

/// Folders of the host's root that are links into `/usr` on most systems.
const ROOT_FOLDERS: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Folders with nothing private in them, which are shared if they exist.
///
/// The font cache saves the browser a second, and Chrome installs itself in `/opt`.
const SHARED_FOLDERS: [&str; 2] = ["/var/cache/fontconfig", "/opt/google"];

/// Folders of the host's `/usr` that are not programs of the system, and are covered if they exist.
const COVERED_FOLDERS: [&str; 2] = ["/usr/local/etc", "/usr/src"];

/// Files in which `/proc` names the host's disks, drivers and boot options. Covered if they exist.
///
/// Each cover costs a start some tenths of a millisecond. Files that only root may read need none.
const COVERED_FILES: [&str; 4] = [
    "/proc/cmdline",
    "/proc/diskstats",
    "/proc/modules",
    "/proc/partitions",
];

/// Folders in memory, with their modes and their shares of the sandbox's memory.
///
/// Each has a limit, since not every machine can limit a sandbox's memory. Together they leave room for programs.
const MEMORY_FOLDERS: [(&str, &str, Share); 6] = [
    ("/tmp", "1777", Share(24)),
    ("/dev/shm", "1777", Share(16)),
    ("/run", "0755", Share(1)),
    ("/run/user/1000", "0700", Share(1)),
    ("/var", "0755", Share(1)),
    ("/var/tmp", "1777", Share(8)),
];

const ENVIRONMENT: [(&str, &str); 9] = [
    ("HOME", HOME),
    ("USER", "agent"),
    ("LOGNAME", "agent"),
    ("SHELL", "/bin/bash"),
    ("LANG", "C.UTF-8"),
    ("PATH", "/run/deskhand/bin:/usr/local/bin:/usr/bin:/bin"),
    ("XDG_RUNTIME_DIR", "/run/user/1000"),
    // No process listens there, which programs notice at once. Without this they would start a bus.
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
    // Firefox detects that it may create user namespaces, but then needs other namespaces that the filter refuses, and
    // its pages do not start. With this setting it relies on its own filter alone.
    ("MOZ_ASSUME_USER_NS", "0"),
];

/// A part of a sandbox's memory, in 64ths.
#[derive(Debug, Clone, Copy)]
struct Share(u64);

impl Share {
    fn of(self, bytes: u64) -> u64 {
        bytes / 64 * self.0
    }
}

/// The settings that differ between sandboxes, with their paths outside.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) system: &'a System,
    pub(crate) runner: &'a Path,
    pub(crate) home: PathBuf,
    pub(crate) socket: PathBuf,
    pub(crate) limits: &'a SandboxLimits,
    /// The folder of VS Code, if it is installed.
    pub(crate) code_server: Option<&'a Path>,
    /// The words before the runner's own command line.
    pub(crate) prefix: Vec<String>,
    pub(crate) network: Network,
}

impl Layout<'_> {
    /// Returns bubblewrap's options for a sandbox.
    pub(crate) fn options(&self) -> Vec<OsString> {
        let mut line = isolation();
        line.add(["--hostname", "desk"]);
        self.system_folders(&mut line);
        self.memory_folders(&mut line);
        for folder in SHARED_FOLDERS {
            line.add(["--ro-bind-try", folder, folder]);
        }
        line.bind("--bind", &self.home, HOME);
        line.bind("--ro-bind", &self.socket, SOCKET);
        line.bind("--ro-bind", self.runner, RUNNER);
        if let Some(program) = self.system.x_server() {
            line.bind("--ro-bind", program, &format!("{PROGRAMS}/{X_SERVER}"));
        }
        line.bind("--ro-bind", &self.system.start_page(), START_PAGE);
        if let Some(folder) = self.code_server {
            line.bind("--ro-bind", folder, code_server::INSIDE);
        }
        for folder in ["/run", "/var", "/dev", "/"] {
            line.add(["--remount-ro", folder]);
        }
        line.add(["--clearenv"]);
        for (name, value) in ENVIRONMENT {
            line.add(["--setenv", name, value]);
        }
        line.add(["--chdir", HOME]);
        line.0
    }

    /// Returns the command that runs our runner in the sandbox.
    pub(crate) fn command(&self) -> Vec<OsString> {
        let words = self.prefix.iter().map(String::as_str);
        words
            .chain([RUNNER, "runner"])
            .map(OsString::from)
            .collect()
    }

    fn system_folders(&self, line: &mut Line) {
        line.add(["--ro-bind", "/usr", "/usr"]);
        for folder in ROOT_FOLDERS {
            if let Ok(target) = fs::read_link(folder) {
                line.bind("--symlink", &target, folder);
            } else if Path::new(folder).is_dir() {
                line.add(["--ro-bind", folder, folder]);
            }
        }
        line.bind("--ro-bind", &self.system.etc(), "/etc");
        for folder in self.system.etc_folders() {
            line.add(["--ro-bind", folder, folder]);
        }
        if self.network == Network::Connected {
            for (file, name) in self.system.network_files() {
                line.bind("--ro-bind", &file, &format!("/etc/{name}"));
            }
        }
        line.add(["--proc", "/proc", "--dev", "/dev"]);
        let exists = |path: &&str| Path::new(path).exists();
        for folder in COVERED_FOLDERS.into_iter().filter(exists) {
            line.bind("--ro-bind", &self.system.empty(), folder);
        }
        for file in COVERED_FILES.into_iter().filter(exists) {
            line.add(["--dev-bind", "/dev/null", file]);
        }
    }

    fn memory_folders(&self, line: &mut Line) {
        for (folder, mode, share) in MEMORY_FOLDERS {
            let size = share.of(self.limits.memory_bytes).to_string();
            line.add(["--perms", mode, "--size", &size, "--tmpfs", folder]);
        }
    }
}

/// Returns arguments that only test if this machine lets us isolate anything.
pub(crate) fn trial() -> Vec<OsString> {
    let mut line = isolation();
    line.add(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]);
    line.add(["--perms", "1777", "--size", "1048576", "--tmpfs", "/tmp"]);
    line.add(["--", "/usr/bin/env", "true"]);
    line.0
}

fn isolation() -> Line {
    let mut line = Line(Vec::new());
    line.add([
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]);
    line.add(["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]);
    line.add(["--die-with-parent", "--new-session"]);
    line
}

/// A command line under construction.
struct Line(Vec<OsString>);

impl Line {
    fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(OsString::from));
    }

    fn bind(&mut self, how: &str, from: &Path, to: &str) {
        self.0
            .extend([OsStr::new(how), from.as_os_str(), OsStr::new(to)].map(OsStr::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_memory_fit_into_the_limit_together() {
        let memory_bytes = 4 * 1024 * 1024 * 1024;
        let sizes = MEMORY_FOLDERS.map(|(_, _, share)| share.of(memory_bytes));
        let sum: u64 = sizes.iter().sum();
        assert!(sum <= memory_bytes / 5 * 4, "{sizes:?}");
    }
}
