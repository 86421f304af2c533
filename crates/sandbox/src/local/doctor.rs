//! Checks what this machine has and lacks for sandboxes, and suggests fixes.

use std::{fs, io, path::Path};

use deskhand_core::{id::SessionId, sandbox::DoctorCheck};
use tokio::task::spawn_blocking;

use super::{
    browser, bubblewrap,
    cgroup::{Controller, Groups, Version},
    disk, find_program,
    identity::{FIRST_UID, Identity},
    images, interface, process,
    sandbox::LIMITS_REMEDY,
    seccomp,
};
use crate::providers::{DiskQuota, ProviderSettings};

/// The free space below which the disk counts as nearly full. A browser's profile alone takes some 100 MB.
const LITTLE_SPACE_BYTES: u64 = 2 * GIB;
const GIB: u64 = 1024 * 1024 * 1024;

/// Checks everything that sandboxes need. Changes nothing.
pub(super) async fn checks(settings: &ProviderSettings) -> Vec<DoctorCheck> {
    let settings = settings.clone();
    spawn_blocking(move || look(&settings))
        .await
        .unwrap_or_default()
}

fn look(settings: &ProviderSettings) -> Vec<DoctorCheck> {
    let mut checks = vec![
        check_bubblewrap(settings),
        check_isolation(settings),
        check_filter(),
        check_program("X server", "Xvnc", "tigervnc-standalone-server"),
        check_program("window manager", "openbox", "openbox"),
        check_browser(),
        check_fonts(),
        check_sound(),
        check_network(),
    ];
    checks.extend(check_limits(settings));
    checks.push(check_space(settings));
    checks
}

fn install(package: &str) -> String {
    format!("apt-get install {package}")
}

fn check_bubblewrap(settings: &ProviderSettings) -> DoctorCheck {
    const NAME: &str = "bubblewrap";
    let Some(program) = find_program(&settings.bubblewrap) else {
        return DoctorCheck::missing(NAME, "not installed", install("bubblewrap"));
    };
    match process::output(&program, ["--version"], Identity::Same) {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            DoctorCheck::ok(NAME, format!("{} ({})", version.trim(), program.display()))
        }
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            DoctorCheck::missing(NAME, problem.trim(), install("--reinstall bubblewrap"))
        }
        Err(error) => DoctorCheck::missing(NAME, error.to_string(), install("bubblewrap")),
    }
}

fn check_isolation(settings: &ProviderSettings) -> DoctorCheck {
    const NAME: &str = "isolation";
    let Some(program) = find_program(&settings.bubblewrap) else {
        return DoctorCheck::missing(
            NAME,
            "cannot be checked without bubblewrap",
            install("bubblewrap"),
        );
    };
    let identity = Identity::of_sandboxes().of_session(SessionId::new(), None);
    match process::output(&program, bubblewrap::trial(), identity) {
        Ok(output) if output.status.success() => DoctorCheck::ok(
            NAME,
            match identity {
                Identity::Same => "user, process and network namespaces work".to_owned(),
                Identity::Other {
                    uid: FIRST_UID.., ..
                } => format!(
                    "user, process and network namespaces work; the server is root, so each sandbox is a user of its \
                     own outside, from {FIRST_UID} on"
                ),
                Identity::Other { uid, .. } => format!(
                    "user, process and network namespaces work; the server is root, so all sandboxes are user {uid} \
                     outside"
                ),
            },
        ),
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            DoctorCheck::missing(NAME, problem.trim(), bubblewrap::NAMESPACE_REMEDY)
        }
        Err(error) => DoctorCheck::missing(NAME, error.to_string(), bubblewrap::NAMESPACE_REMEDY),
    }
}

fn check_filter() -> DoctorCheck {
    const NAME: &str = "system calls";
    if seccomp::program().is_some() {
        DoctorCheck::ok(NAME, "filtered")
    } else {
        DoctorCheck::warning(
            NAME,
            "not filtered on this processor",
            "use a machine with x86-64 or ARM64 processors",
        )
    }
}

fn check_program(name: &'static str, program: &str, package: &str) -> DoctorCheck {
    match find_program(Path::new(program)) {
        Some(found) => DoctorCheck::ok(name, found.display().to_string()),
        None => DoctorCheck::missing(
            name,
            format!("{program} is not installed"),
            install(package),
        ),
    }
}

fn check_browser() -> DoctorCheck {
    const NAME: &str = "browser";
    match browser::program() {
        Some(found) => DoctorCheck::ok(NAME, found.display().to_string()),
        None => DoctorCheck::warning(
            NAME,
            "none is installed, so desktops will have no browser",
            install("chromium"),
        ),
    }
}

fn check_fonts() -> DoctorCheck {
    const NAME: &str = "fonts";
    let n_fonts = ["/usr/share/fonts", "/usr/local/share/fonts"]
        .iter()
        .map(|folder| count_fonts(Path::new(folder)))
        .sum::<usize>();
    if n_fonts > 0 {
        DoctorCheck::ok(NAME, format!("{n_fonts} font files"))
    } else {
        DoctorCheck::warning(
            NAME,
            "none is installed, so text will show as boxes",
            install("fonts-dejavu-core"),
        )
    }
}

fn check_sound() -> DoctorCheck {
    const NAME: &str = "sound";
    let Some(program) = find_program(Path::new("pulseaudio")) else {
        return DoctorCheck::warning(
            NAME,
            "PulseAudio is not installed, so desktops will have no sound",
            install("pulseaudio"),
        );
    };
    match process::output(&program, ["--version"], Identity::Same) {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            DoctorCheck::ok(NAME, format!("{} ({})", version.trim(), program.display()))
        }
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            DoctorCheck::warning(NAME, problem.trim(), install("--reinstall pulseaudio"))
        }
        Err(error) => {
            DoctorCheck::warning(NAME, error.to_string(), install("--reinstall pulseaudio"))
        }
    }
}

fn check_network() -> DoctorCheck {
    const NAME: &str = "network";
    match interface::obstacle() {
        None => DoctorCheck::ok(NAME, "sandboxes can have an interface of their own"),
        Some(error) => DoctorCheck::warning(
            NAME,
            format!(
                "no interface can be made ({error}), so only programs that use proxies reach other hosts"
            ),
            "let the server open /dev/net/tun: `modprobe tun`, `chmod 666 /dev/net/tun`; for a container, \
             `--device /dev/net/tun`",
        ),
    }
}

fn count_fonts(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let count = |entry: fs::DirEntry| {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return count_fonts(&path);
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        usize::from(matches!(ending, Some("ttf" | "otf" | "ttc" | "pfb")))
    };
    entries.filter_map(io::Result::ok).map(count).sum()
}

fn check_limits(settings: &ProviderSettings) -> Vec<DoctorCheck> {
    let limits = &settings.limits;
    let groups = Groups::survey();
    let mut checks: Vec<DoctorCheck> = [
        (
            "memory limit",
            Controller::Memory,
            size(limits.memory_bytes),
        ),
        (
            "processor limit",
            Controller::Cpu,
            format!("{} processors", limits.cpus),
        ),
        (
            "process limit",
            Controller::Processes,
            format!("{} processes", limits.processes),
        ),
    ]
    .into_iter()
    .map(|(name, controller, limit)| check_limit(name, controller, &limit, &groups))
    .collect();
    checks.push(DoctorCheck::ok(
        "file size limit",
        format!("{} by RLIMIT_FSIZE", size(limits.file_size_bytes)),
    ));
    checks.push(check_disk_limit(settings));
    checks
}

fn check_disk_limit(settings: &ProviderSettings) -> DoctorCheck {
    const NAME: &str = "disk limit";
    let limits = &settings.limits;
    let limit = format!(
        "{} and {} files",
        size(limits.disk_bytes),
        limits.disk_files
    );
    let watched = "by a watcher, which stops the sandbox";
    match (settings.disk_quota, images::trial()) {
        (DiskQuota::Watched, _) => {
            let how = "(`sandbox.disk_quota` is \"watched\")";
            DoctorCheck::ok(NAME, format!("{limit} {watched} {how}"))
        }
        (DiskQuota::Auto | DiskQuota::Image, Ok(())) => {
            let how = "by an image for each new home, which takes no more";
            DoctorCheck::ok(NAME, format!("{limit} {how}"))
        }
        (DiskQuota::Auto, Err(reason)) => {
            let how = format!("(homes cannot be images: {reason})");
            DoctorCheck::ok(NAME, format!("{limit} {watched} {how}"))
        }
        (DiskQuota::Image, Err(reason)) => DoctorCheck::missing(
            NAME,
            format!("homes cannot be images ({reason}), so no sandbox starts"),
            images::REMEDY,
        ),
    }
}

fn check_limit(
    name: &'static str,
    controller: Controller,
    limit: &str,
    groups: &Groups,
) -> DoctorCheck {
    match (groups.version_of(controller), controller) {
        (Some(Version::Two), _) => DoctorCheck::ok(name, format!("{limit} by cgroup v2")),
        (Some(Version::One), _) => DoctorCheck::ok(name, format!("{limit} by cgroup v1")),
        (None, Controller::Processes) => DoctorCheck::ok(name, format!("{limit} by RLIMIT_NPROC")),
        (None, _) if Groups::can_ask_systemd() => {
            let how = "by cgroup v2, in a scope that systemd makes for the server";
            DoctorCheck::ok(name, format!("{limit} {how}"))
        }
        (None, Controller::Memory | Controller::Cpu) => {
            let mut missing = groups.missing.iter();
            let reason = missing.find(|(missing, _)| *missing == controller);
            let reason = reason.map_or("", |(_, reason)| reason);
            DoctorCheck::warning(
                name,
                format!(
                    "not enforced: {reason}; as soon as there are several users or an address beyond loopback, no \
                     sandbox starts (`sandbox.require_limits`)"
                ),
                LIMITS_REMEDY,
            )
        }
    }
}

fn check_space(settings: &ProviderSettings) -> DoctorCheck {
    const NAME: &str = "disk space";
    let dir = &settings.dir;
    let existing = dir.ancestors().find(|folder| folder.is_dir());
    let Some(free) = existing.and_then(|folder| disk::free(folder).ok()) else {
        return DoctorCheck::warning(
            NAME,
            format!("cannot read the free space of {}", dir.display()),
            "choose another data folder with --data-dir",
        );
    };
    let reserve = settings.reserve_bytes;
    let detail = format!(
        "{} free for {}, of which {} are kept for the database",
        size(free.bytes),
        dir.display(),
        size(reserve)
    );
    let remedy = "free some space, or choose another data folder with --data-dir";
    if free.bytes < reserve {
        DoctorCheck::missing(NAME, format!("{detail}: no sandbox starts"), remedy)
    } else if free.bytes < LITTLE_SPACE_BYTES {
        DoctorCheck::warning(NAME, detail, remedy)
    } else {
        DoctorCheck::ok(NAME, detail)
    }
}

fn size(bytes: u64) -> String {
    let mib = bytes / (1024 * 1024);
    if mib >= 1024 {
        // One decimal is plenty.
        format!("{}.{} GiB", mib / 1024, mib % 1024 * 10 / 1024)
    } else {
        format!("{mib} MiB")
    }
}
