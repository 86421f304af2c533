//! Asks systemd for a control group of the server's own, in which it may limit its sandboxes.
//!
//! A server that was started from a terminal shares its group with the shell, and may not divide it. systemd moves a
//! process into a new scope when asked over D-Bus, also for ordinary users, and hands that scope over to it. Where
//! there is no systemd, nothing happens.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::geteuid;

use crate::local::{find_program, identity::Identity, process::output};

/// The folder that exists where systemd runs the machine.
const SYSTEMD: &str = "/run/systemd/system";
/// The timeout for the move, which systemd makes after it has answered.
const MOVE_TIMEOUT: Duration = Duration::from_secs(2);
const MOVE_PAUSE: Duration = Duration::from_millis(5);

/// Moves this process into a scope of its own. Returns false if that was not possible.
pub(super) fn enter() -> bool {
    let Some(program) = busctl() else {
        return false;
    };
    let name = format!("deskhand-{}.scope", process::id());
    let arguments = request(&name, process::id(), geteuid().is_root());
    let problem = match output(&program, arguments, Identity::Same) {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        tracing::info!(problem, "systemd gave the server no control group");
        return false;
    }
    let deadline = Instant::now() + MOVE_TIMEOUT;
    while !is_member(&own_groups(), &name) {
        if Instant::now() > deadline {
            tracing::info!(scope = name, "systemd did not move the server in time");
            return false;
        }
        sleep(MOVE_PAUSE);
    }
    tracing::info!(scope = name, "the server has a control group of its own");
    true
}

/// Returns true if systemd can be asked.
pub(super) fn is_available() -> bool {
    let has_bus = || {
        let folder = std::env::var_os("XDG_RUNTIME_DIR");
        folder.is_some_and(|folder| Path::new(&folder).join("bus").exists())
    };
    busctl().is_some() && (geteuid().is_root() || has_bus())
}

/// Returns the program that speaks D-Bus, if systemd runs this machine.
fn busctl() -> Option<PathBuf> {
    if !Path::new(SYSTEMD).is_dir() {
        return None;
    }
    find_program(Path::new("busctl"))
}

/// Returns the arguments with which `busctl` asks systemd for a scope with this process in it.
fn request(name: &str, pid: u32, is_root: bool) -> Vec<String> {
    let manager = if is_root { "--system" } else { "--user" };
    let pid = pid.to_string();
    let words = [
        manager,
        "call",
        "org.freedesktop.systemd1",
        "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager",
        "StartTransientUnit",
        // A name, a mode, properties, and no further units.
        "ssa(sv)a(sa(sv))",
        name,
        "fail",
        "2",
        "PIDs",
        "au",
        "1",
        &pid,
        "Delegate",
        "b",
        "true",
        "0",
    ];
    words.map(str::to_owned).to_vec()
}

fn own_groups() -> String {
    fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

fn is_member(groups: &str, scope: &str) -> bool {
    groups
        .lines()
        .any(|line| line.starts_with("0::") && line.ends_with(scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_user_asks_their_own_manager() {
        let words = request("deskhand-7.scope", 7, false);
        assert_eq!(words[0], "--user");
        assert_eq!(
            words[7..].join(" "),
            "deskhand-7.scope fail 2 PIDs au 1 7 Delegate b true 0"
        );
        assert_eq!(request("deskhand-7.scope", 7, true)[0], "--system");
    }

    #[test]
    fn the_server_notices_that_it_was_moved() {
        let before = "0::/user.slice/user-1000.slice/session-2.scope\n";
        let after = "1:cpu:/\n0::/user.slice/user@1000.service/app.slice/deskhand-7.scope\n";
        assert!(!is_member(before, "deskhand-7.scope"));
        assert!(is_member(after, "deskhand-7.scope"));
    }

    #[test]
    fn without_systemd_nothing_is_asked() {
        if !Path::new(SYSTEMD).is_dir() {
            assert!(!enter());
        }
    }
}
