//! The arguments for bubblewrap.
//!
//! The sandbox has its own users, processes, network (without any connection), host name and System V objects. It
//! sees the system's programs and an `/etc` of ours, both read-only, and can write to its home and to folders in
//! memory. Nothing else of the host is visible.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::sandbox::SandboxLimits;

use super::{browser::START_PAGE, system::System};

/// The path of the runner's socket to the server.
pub(crate) const SOCKET: &str = "/run/deskhand/runner.sock";
/// The remedy for a kernel that does not let us create namespaces.
pub(crate) const NAMESPACE_REMEDY: &str = "allow user namespaces: \
     `sysctl -w kernel.unprivileged_userns_clone=1`, and on Ubuntu \
     `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; in a container, give it the right to make them";
const RUNNER: &str = "/run/deskhand/bin/deskhand";
const HOME: &str = "/home/agent";

/// Folders of the host's root that are links into `/usr` on most systems.
const ROOT_FOLDERS: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Folders with nothing private in them, which are shared if they exist.
///
/// The font cache saves the browser a second, and Chrome installs itself in `/opt`.
const SHARED_FOLDERS: [&str; 2] = ["/var/cache/fontconfig", "/opt/google"];

const ENVIRONMENT: [(&str, &str); 8] = [
    ("HOME", HOME),
    ("USER", "agent"),
    ("LOGNAME", "agent"),
    ("SHELL", "/bin/bash"),
    ("LANG", "C.UTF-8"),
    ("PATH", "/run/deskhand/bin:/usr/local/bin:/usr/bin:/bin"),
    ("XDG_RUNTIME_DIR", "/run/user/1000"),
    // No process listens there, which programs notice at once. Without this they would start a bus.
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
];

/// The settings that differ between sandboxes, with their paths outside.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) system: &'a System,
    pub(crate) runner: &'a Path,
    pub(crate) home: PathBuf,
    pub(crate) socket: PathBuf,
    pub(crate) limits: &'a SandboxLimits,
    /// The words before the runner's own command line.
    pub(crate) prefix: Vec<String>,
}

impl Layout<'_> {
    /// Returns the arguments for a sandbox that runs our runner.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
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
        line.bind("--ro-bind", &self.system.start_page(), START_PAGE);
        for folder in ["/run", "/var", "/"] {
            line.add(["--remount-ro", folder]);
        }
        line.add(["--clearenv"]);
        for (name, value) in ENVIRONMENT {
            line.add(["--setenv", name, value]);
        }
        line.add(["--chdir", HOME, "--"]);
        line.add(self.prefix.iter().map(String::as_str));
        line.add([RUNNER, "runner"]);
        line.0
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
        line.add(["--proc", "/proc", "--dev", "/dev"]);
    }

    /// Mounts folders in memory. Each has a limit, since not every machine can limit a sandbox's memory.
    fn memory_folders(&self, line: &mut Line) {
        let large = (self.limits.memory_bytes / 2).to_string();
        let small = (self.limits.memory_bytes / 16).to_string();
        for (folder, mode, size) in [
            ("/tmp", "1777", &large),
            ("/dev/shm", "1777", &large),
            ("/run", "0755", &small),
            ("/run/user/1000", "0700", &small),
            ("/var", "0755", &small),
            ("/var/tmp", "1777", &large),
        ] {
            line.add(["--perms", mode, "--size", size, "--tmpfs", folder]);
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
