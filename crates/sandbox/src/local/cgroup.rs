//! Control groups, with which Linux limits a whole sandbox at once.
//!
//! Hosts differ. Version 2 has one tree and lets a process create groups below its own if that was delegated to it.
//! Version 1 has a tree for each controller, for root only. In both, groups are created below the server's own, so
//! that any limit of the server also applies to its sandboxes.

mod group;
mod scope;
mod survey;

use std::{fs, io, path::PathBuf};

pub(crate) use self::group::{Group, clear};

/// The group that a server moves into in version 2, where a group holds either processes or further groups.
const SERVER_GROUP: &str = "deskhand-server";

/// A resource that a group limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Cpu,
    Processes,
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Processes];

    /// Returns the kernel's name.
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Processes => "pids",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// A group below which groups for sandboxes can be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) version: Version,
    pub(crate) parent: PathBuf,
    /// Empty if it only counts processor time.
    pub(crate) controllers: Vec<Controller>,
}

/// The control groups that this process can use on this machine.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) places: Vec<Place>,
    /// The controllers that cannot be used, with the reasons.
    pub(crate) missing: Vec<(Controller, String)>,
}

impl Groups {
    /// Finds the groups that can be used, without a lasting change.
    pub(crate) fn survey() -> Self {
        survey::survey()
    }

    /// Finds the groups that can be used, and prepares them. Asks systemd for a group of our own if there is none.
    pub(crate) fn prepare() -> Self {
        let mut groups = Self::survey();
        if groups.lacks_limits() && scope::enter() {
            groups = Self::survey();
        }
        let mut places = Vec::new();
        for place in groups.places {
            match place.open_for_groups() {
                Ok(()) => places.push(place),
                Err(error) => {
                    tracing::warn!(%error, group = %place.parent.display(), "cannot use the control group");
                    for controller in place.controllers {
                        groups.missing.push((controller, error.to_string()));
                    }
                }
            }
        }
        groups.places = places;
        groups
    }

    /// Returns true if [`Groups::prepare`] can ask systemd for a group in which all limits can be set.
    pub(crate) fn can_ask_systemd() -> bool {
        scope::is_available()
    }

    /// Returns true if a sandbox could use all memory or all processors of the machine.
    fn lacks_limits(&self) -> bool {
        let needed = [Controller::Memory, Controller::Cpu];
        needed.iter().any(|it| self.version_of(*it).is_none())
    }

    /// Returns the version that provides a controller, if one does.
    pub(crate) fn version_of(&self, controller: Controller) -> Option<Version> {
        let has_it = |place: &&Place| place.controllers.contains(&controller);
        self.places.iter().find(has_it).map(|place| place.version)
    }
}

impl Place {
    /// Enables the controllers for child groups. Version 2 may require that the server first moves into its own
    /// group.
    fn open_for_groups(&self) -> io::Result<()> {
        if self.version == Version::One {
            return Ok(());
        }
        let wanted: Vec<String> = self
            .controllers
            .iter()
            .map(|controller| format!("+{}", controller.name()))
            .collect();
        let switch = self.parent.join("cgroup.subtree_control");
        if fs::write(&switch, wanted.join(" ")).is_ok() {
            return Ok(());
        }
        let server = self.parent.join(SERVER_GROUP);
        let pid = std::process::id().to_string();
        match fs::create_dir(&server) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        fs::write(server.join("cgroup.procs"), &pid)?;
        fs::write(&switch, wanted.join(" ")).inspect_err(|_| {
            // Restore the previous state. If that fails too, the server stays in its own group, which does no harm.
            let _ = fs::write(self.parent.join("cgroup.procs"), &pid);
            let _ = fs::remove_dir(&server);
        })
    }
}
