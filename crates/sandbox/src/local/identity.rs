//! The user as which a sandbox's programs run, seen from outside.
//!
//! Inside, they always run as the user `agent`, 1000. Outside, they run as the server's user, unless that is root:
//! a process that is root outside may write `/proc/sys` even without any capability, and one of the files there
//! names a program that the kernel runs as root. So a server that is root starts its sandboxes as a user that owns
//! nothing but their homes.
//!
//! That user cannot reach folders below root's own. Bubblewrap is therefore started in a mount namespace of its
//! thread, in which the folder of sandboxes and the runner's program are at a place that every user may enter.
//! These mounts are visible only to that thread, and they disappear with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::{
    mount::{
        MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
    },
    process::geteuid,
    thread::{UnshareFlags, unshare_unsafe},
};

/// The user and group of sandboxes if the server is root. Neither Debian nor systemd assigns this number.
const SANDBOX_ID: u32 = 61_103;

/// Folders that every Linux has and bubblewrap does not need. One of them is covered, in the thread's view only.
const PLACES: [&str; 4] = ["/mnt", "/media", "/srv", "/opt"];

/// The user as which the programs of sandboxes run outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The server's own user, which is not root.
    Same,
    /// A user that owns nothing else.
    Other { uid: u32, gid: u32 },
}

/// The paths that the programs started by the thread see.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The folder of sandboxes.
    pub(crate) dir: PathBuf,
    /// The runner's program.
    pub(crate) runner: PathBuf,
}

impl Identity {
    /// Returns the identity that sandboxes of this process should have.
    pub(crate) fn of_sandboxes() -> Self {
        if geteuid().is_root() {
            Self::Other {
                uid: SANDBOX_ID,
                gid: SANDBOX_ID,
            }
        } else {
            Self::Same
        }
    }
}

impl View {
    /// Sets up the calling thread's view.
    pub(crate) fn take(identity: Identity, dir: &Path, runner: &Path) -> io::Result<Self> {
        let direct = Self {
            dir: dir.canonicalize()?,
            runner: runner.canonicalize()?,
        };
        if identity == Identity::Same {
            return Ok(direct);
        }
        direct.moved().or_else(|error| {
            // Without the permission to mount, bubblewrap may still be able to reach both.
            tracing::warn!(%error, "sandboxes see the data folder at its real path");
            Ok(direct)
        })
    }

    /// Mounts both at a place that every user may enter, in this thread's view only.
    fn moved(&self) -> io::Result<Self> {
        let is_free = |place: &&&str| {
            Path::new(place).is_dir()
                && !self.dir.starts_with(place)
                && !self.runner.starts_with(place)
        };
        let place = PLACES
            .iter()
            .find(is_free)
            .map(Path::new)
            .ok_or_else(|| io::Error::other(format!("none of {PLACES:?} can be covered")))?;
        #[expect(unsafe_code, reason = "rustix marks all of unshare as unsafe")]
        // SAFETY: only the table of mounts becomes the thread's own. Descriptors stay shared.
        unsafe {
            unshare_unsafe(UnshareFlags::NEWNS)?;
        }
        mount_change(
            "/",
            MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC,
        )?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", place, "tmpfs", flags, c"mode=755,size=64k")?;
        let moved = Self {
            dir: place.join("sandboxes"),
            runner: place.join("deskhand"),
        };
        fs::create_dir(&moved.dir)?;
        mount_bind_recursive(&self.dir, &moved.dir)?;
        fs::write(&moved.runner, [])?;
        mount_bind(&self.runner, &moved.runner)?;
        Ok(moved)
    }
}
