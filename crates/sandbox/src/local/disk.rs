//! The disk: a quota for the files of each session, and a reserve that belongs to the database.
//!
//! A home in an image has a hard limit, see [`super::images`]. An ordinary user cannot set one on a folder, so every
//! running sandbox whose home is a folder is watched. Asking a file system for its free space costs next to nothing. A
//! sandbox cannot have written more than what the disk has lost meanwhile, so its files are counted only when that
//! could have brought it past its quota, and now and then. A sandbox that is past its quota is stopped. All are stopped
//! when the reserve is touched, and none starts until there is space again.
//!
//! System calls that set aside much space at once are not allowed in sandboxes, see [`super::seccomp`]. So between two
//! looks a sandbox can only fill what it can write.

mod count;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_core::sandbox::{SandboxLimits, StartSandboxError};
use rustix::fs::statvfs;
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep},
};

use self::count::count;
use super::images::MountedHome;

/// The time between two looks at the free space.
const LOOK_PAUSE: Duration = Duration::from_millis(200);
/// The time after which a failed look is repeated.
const RETRY_PAUSE: Duration = Duration::from_secs(2);
/// The longest time between two counts.
const COUNT_PAUSE: Duration = Duration::from_secs(60);
/// The part of the time that may go into counting: one in so many.
const COUNT_SHARE: u32 = 5;
/// The growth that every start allows, so that people can get in and remove files from a home that is full.
const GRACE: Usage = Usage {
    bytes: 64 * MIB,
    files: 2_000,
};
/// The number of files that the reserve leaves to the database, where the file system has a limit.
const RESERVED_FILES: u64 = 10_000;
const MIB: u64 = 1024 * 1024;

/// An amount of disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
}

impl Usage {
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            files: self.files.saturating_add(other.files),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            files: self.files.saturating_sub(other.files),
        }
    }

    fn at_least(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            files: self.files.max(other.files),
        }
    }

    fn fits(self, most: Self) -> bool {
        self.bytes <= most.bytes && self.files <= most.files
    }
}

/// The part of the disk that no sandbox may take. Clones share the count of unwritten bytes.
#[derive(Debug, Clone)]
pub(crate) struct Reserve {
    bytes: u64,
    /// The bytes in images that the kernel has not written to the disk yet.
    unwritten: Arc<AtomicU64>,
}

impl Reserve {
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            bytes,
            unwritten: Arc::default(),
        }
    }

    /// Checks that a sandbox may start.
    pub(crate) fn check(&self, dir: &Path) -> Result<(), StartSandboxError> {
        match self.problem(free(dir)?) {
            None => Ok(()),
            Some(what) => Err(StartSandboxError::Missing {
                what,
                remedy: "free some space on it, or end sessions that nobody needs".to_owned(),
            }),
        }
    }

    /// Describes the state of the disk if the reserve is touched.
    fn problem(&self, free: Usage) -> Option<String> {
        let left = free
            .bytes
            .saturating_sub(self.unwritten.load(Ordering::Relaxed));
        if left < self.bytes {
            return Some(format!(
                "the server's disk is nearly full ({} MiB are left, and {} MiB are kept for the database)",
                left / MIB,
                self.bytes / MIB
            ));
        }
        (free.files < RESERVED_FILES).then(|| {
            format!(
                "the server's disk is nearly full ({} more files fit on it, and {RESERVED_FILES} are kept for the \
                 database)",
                free.files
            )
        })
    }
}

/// Watches the disk for one sandbox.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    home: PathBuf,
    /// The image, if the home has one.
    image: Option<WatchedImage>,
    quota: Usage,
    reserve: Reserve,
}

/// The last count of a home, and the free space before it.
#[derive(Debug, Clone, Copy)]
struct Counted {
    used: Usage,
    free: Usage,
    at: Instant,
    took: Duration,
}

/// An image, and its share of the unwritten bytes.
#[derive(Debug)]
struct WatchedImage {
    mounted: MountedHome,
    unwritten: AtomicU64,
}

impl DiskWatch {
    pub(crate) fn new(
        home: PathBuf,
        image: Option<MountedHome>,
        limits: &SandboxLimits,
        reserve: Reserve,
    ) -> Self {
        Self {
            home,
            image: image.map(|mounted| WatchedImage {
                mounted,
                unwritten: AtomicU64::new(0),
            }),
            quota: Usage {
                bytes: limits.disk_bytes,
                files: limits.disk_files,
            },
            reserve,
        }
    }

    /// Waits until the sandbox has to be stopped, and returns the reason, for people.
    pub(crate) async fn passed(&self) -> String {
        let reason = match &self.image {
            Some(image) => self.reserve_touched(image).await,
            None => self.quota_passed().await,
        };
        format!("the sandbox was stopped: {reason}")
    }

    /// Unmounts the image. Its sandbox must have ended.
    pub(crate) async fn close(&mut self) {
        let Some(image) = self.image.take() else {
            return;
        };
        // This fails only when the runtime shuts down, and then the kernel unmounts it.
        let _ = spawn_blocking(move || drop(image.mounted)).await;
        let unwritten = image.unwritten.into_inner();
        self.reserve
            .unwritten
            .fetch_sub(unwritten, Ordering::Relaxed);
    }

    /// Waits until the reserve is touched, for a sandbox whose home has a hard limit.
    async fn reserve_touched(&self, image: &WatchedImage) -> String {
        loop {
            let looked = image.mounted.unwritten_bytes().and_then(|unwritten| {
                let before = image.unwritten.swap(unwritten, Ordering::Relaxed);
                let all = &self.reserve.unwritten;
                all.fetch_add(unwritten, Ordering::Relaxed);
                all.fetch_sub(before, Ordering::Relaxed);
                free(&self.home)
            });
            match looked.map(|free| self.reserve.problem(free)) {
                Ok(None) => {}
                Ok(Some(reason)) => return reason,
                Err(error) => self.could_not_look(&error).await,
            }
            sleep(LOOK_PAUSE).await;
        }
    }

    async fn quota_passed(&self) -> String {
        let mut last = loop {
            match self.count(Usage::default()).await {
                Ok(counted) => break counted,
                Err(error) => self.could_not_look(&error).await,
            }
        };
        let most = self.quota.at_least(last.used.plus(GRACE));
        loop {
            sleep(LOOK_PAUSE).await;
            match self.look(last, most).await {
                Ok(Look::Fine) => {}
                Ok(Look::Counted(counted)) => last = counted,
                Ok(Look::Passed(reason)) => return reason,
                Err(error) => self.could_not_look(&error).await,
            }
        }
    }

    async fn look(&self, last: Counted, most: Usage) -> io::Result<Look> {
        let dir = self.home.clone();
        let free = spawn_blocking(move || free(&dir)).await??;
        if let Some(problem) = self.reserve.problem(free) {
            return Ok(Look::Passed(problem));
        }
        let bound = last.used.plus(last.free.minus(free));
        let since = last.at.elapsed();
        let may_be_past = !bound.fits(most) && since > last.took * COUNT_SHARE;
        if !may_be_past && since < COUNT_PAUSE {
            return Ok(Look::Fine);
        }
        let counted = self.count(bound).await?;
        if counted.used.fits(most) {
            Ok(Look::Counted(counted))
        } else {
            Ok(Look::Passed(self.past_quota(counted.used, most)))
        }
    }

    /// Counts the home. What cannot be counted is taken to be as large as it can be.
    async fn count(&self, bound: Usage) -> io::Result<Counted> {
        let home = self.home.clone();
        let at = Instant::now();
        let (free, counted) = spawn_blocking(move || -> io::Result<_> {
            let free = free(&home)?;
            Ok((free, count(&home)))
        })
        .await??;
        let used = if counted.is_complete {
            counted.used
        } else {
            counted.used.at_least(bound)
        };
        Ok(Counted {
            used,
            free,
            at,
            took: at.elapsed(),
        })
    }

    /// Describes usage that does not fit into `most`. People are told their quota, which may be less.
    fn past_quota(&self, used: Usage, most: Usage) -> String {
        let quota = self.quota;
        let way_out = "remove some when it runs again";
        if used.bytes > most.bytes {
            let (used, quota) = (used.bytes / MIB, quota.bytes / MIB);
            format!("its files take {used} MiB of the disk and may take {quota} MiB; {way_out}")
        } else {
            let (used, quota) = (used.files, quota.files);
            format!("it has {used} files and folders and may have {quota}; {way_out}")
        }
    }

    async fn could_not_look(&self, error: &io::Error) {
        tracing::warn!(%error, home = %self.home.display(), "could not look at the disk of a sandbox");
        sleep(RETRY_PAUSE).await;
    }
}

/// The outcome of a look at the disk.
enum Look {
    Fine,
    Counted(Counted),
    Passed(String),
}

/// Returns the free space of a folder's file system.
pub(crate) fn free(dir: &Path) -> io::Result<Usage> {
    let space = statvfs(dir)?;
    // Some file systems have no fixed number of files.
    let has_limit = space.f_files > 0;
    Ok(Usage {
        bytes: space.f_bavail.saturating_mul(space.f_frsize),
        files: if has_limit { space.f_favail } else { u64::MAX },
    })
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
