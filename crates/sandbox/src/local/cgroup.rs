//! Control groups: how Linux limits a whole sandbox at once.
//!
//! Hosts differ. Version 2 has one tree and lets a process make groups below its own if that
//! was delegated to it. Version 1 has a tree for each controller, for root. Groups are made
//! below the server's own in both, so that whatever limits the server also limits its sandboxes.

mod group;
mod survey;

use std::{fs, io, path::PathBuf};

pub(crate) use self::group::{Group, clear};

/// The group that a server moves into in version 2, where a group may hold either processes or
/// further groups.
const SERVER_GROUP: &str = "deskhand-server";

/// What is limited by a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Cpu,
    Processes,
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Processes];

    /// The kernel's name.
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

/// A group below which groups for sandboxes can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) version: Version,
    pub(crate) parent: PathBuf,
    /// None where it only counts processor time.
    pub(crate) controllers: Vec<Controller>,
}

/// What this machine offers to this process.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) places: Vec<Place>,
    /// Why the other controllers cannot be used.
    pub(crate) missing: Vec<(Controller, String)>,
}

impl Groups {
    /// What can be used, without changing anything that stays.
    pub(crate) fn survey() -> Self {
        survey::survey()
    }

    /// The same, made ready for use.
    pub(crate) fn prepare() -> Self {
        let mut groups = Self::survey();
        let mut places = Vec::new();
        for place in groups.places {
            match place.open_for_groups() {
                Ok(()) => places.push(place),
                Err(error) => {
                    tracing::warn!(%error, group = %place.parent.display(), "the control group cannot be used");
                    for controller in place.controllers {
                        groups.missing.push((controller, error.to_string()));
                    }
                }
            }
        }
        groups.places = places;
        groups
    }

    /// By what a controller is in force.
    pub(crate) fn version_of(&self, controller: Controller) -> Option<Version> {
        let has_it = |place: &&Place| place.controllers.contains(&controller);
        self.places.iter().find(has_it).map(|place| place.version)
    }
}

impl Place {
    /// Version 2 wants the server in a group of its own before the controllers can be handed on.
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
            // As it was before. If that fails too, the server is in a group of its own, which
            // changes nothing for anybody.
            let _ = fs::write(self.parent.join("cgroup.procs"), &pid);
            let _ = fs::remove_dir(&server);
        })
    }
}
