//! An image for the next new session, created and mounted in advance.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, TryLockError},
};

use deskhand_core::sandbox::SandboxLimits;

use super::{MountedHome, make};
use crate::local::{
    files::SessionFiles,
    view::{Namespace, View},
};

/// Holds the image for the next new session.
#[derive(Debug)]
pub(super) struct SpareHome {
    files: SessionFiles,
    /// The path of its home in the view of bubblewrap.
    place: PathBuf,
    limits: SandboxLimits,
    home: Mutex<Option<MountedHome>>,
}

impl SpareHome {
    pub(super) fn none(dir: &Path, view: &View, limits: SandboxLimits) -> Self {
        let files = SessionFiles::of_nobody(dir);
        Self {
            place: view.seen_files_of_nobody().home(),
            files,
            limits,
            home: Mutex::default(),
        }
    }

    /// Creates the image, unless it exists.
    pub(super) fn make(&self, namespace: &Namespace) -> io::Result<()> {
        // No code under this lock leaves it half done.
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        if home.is_some() {
            return Ok(());
        }
        // A killed server may have left one.
        self.files.remove()?;
        self.files.prepare_spare()?;
        make(&self.files, &self.limits)?;
        let mounted = MountedHome::mount(namespace.clone(), self.files.image(), self.place.clone());
        *home = Some(mounted?);
        Ok(())
    }

    /// Takes the image if it has these limits. Does not wait for one that is being created.
    pub(super) fn take(&self, limits: &SandboxLimits) -> Option<MountedHome> {
        let fits = (limits.disk_bytes, limits.disk_files)
            == (self.limits.disk_bytes, self.limits.disk_files);
        if !fits {
            return None;
        }
        match self.home.try_lock() {
            Ok(mut home) => home.take(),
            Err(TryLockError::Poisoned(home)) => home.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Drop for SpareHome {
    fn drop(&mut self) {
        let home = self.home.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(home.take());
        if let Err(error) = self.files.remove() {
            tracing::warn!(%error, "could not remove the unused image");
        }
    }
}
