//! Homes in disk images. The size of the file system and its number of inodes enforce the session's quota.
//!
//! An image is sparse: it takes only the space of its content. It is mounted only in the mount namespace where
//! bubblewrap starts (see [`super::view`]), so the kernel unmounts it if the server is killed. It is locked while the
//! kernel uses it, so it is never mounted twice.

mod loop_device;
mod spare;
mod trim;

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use deskhand_core::sandbox::{SandboxLimits, StartSandboxError};
use rustix::{
    fs::{
        FlockOperation, MemfdFlags, Mode, OFlags, flock, fstatvfs, ftruncate, memfd_create, open,
    },
    io::Errno,
    mount::{MountFlags, UnmountFlags, mount, mount_move, unmount},
    process::geteuid,
};

use self::{loop_device::LoopDevice, spare::SpareHome, trim::trim};
use super::{
    files::SessionFiles,
    identity::Identity,
    process,
    view::{Namespace, View, on_a_thread},
};
use crate::providers::DiskQuota;

/// The paths of the program that creates file systems.
const MKFS: [&str; 2] = ["/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"];
/// The block size. A file takes at least one block, so more inodes than blocks would be useless.
const BLOCK_BYTES: u64 = 4096;
/// The number of inodes that a new file system reserves.
const OWN_FILES: u64 = 11;
/// Mount options. `discard` returns the space of removed files to the disk.
const OPTIONS: &std::ffi::CStr = c"discard,noinit_itable,errors=remount-ro";
/// The timeout for the kernel to release an unmounted image.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// The unit of `st_blocks`.
const COUNTED_BYTES: u64 = 512;

/// Creates and opens homes.
#[derive(Debug)]
pub(crate) struct Homes {
    /// The namespace for mounts, if there is one.
    namespace: Option<Namespace>,
    new_home: NewHome,
    spare: SpareHome,
}

/// The kind of home that a new session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewHome {
    Folder,
    /// An image, or a folder if no image can be created.
    ImageIfPossible,
    Image,
}

impl Homes {
    /// Decides the kind of new homes. `dir` is the folder of sandboxes, and `limits` are those of most sandboxes.
    pub(crate) fn prepare(
        wanted: DiskQuota,
        dir: &Path,
        limits: SandboxLimits,
        view: &View,
    ) -> Result<Self, StartSandboxError> {
        let mut homes = Self {
            namespace: view.namespace().cloned(),
            new_home: NewHome::Folder,
            spare: SpareHome::none(dir, view, limits),
        };
        if wanted == DiskQuota::Watched {
            return Ok(homes);
        }
        let made = match &homes.namespace {
            Some(namespace) => homes.spare.make(namespace),
            None => Err(io::Error::other("the server is not root, or may not mount")),
        };
        homes.new_home = match (wanted, made) {
            (DiskQuota::Image, Ok(())) => NewHome::Image,
            (DiskQuota::Image, Err(reason)) => return Err(no_images(&reason)),
            (_, Ok(())) => NewHome::ImageIfPossible,
            (_, Err(reason)) => {
                tracing::info!(%reason, "homes are folders, so a watcher enforces disk quotas");
                NewHome::Folder
            }
        };
        Ok(homes)
    }

    /// Creates an image in advance, so that the start of the next new session does not wait for one.
    pub(crate) fn make_spare(&self) {
        let Some(namespace) = &self.namespace else {
            return;
        };
        if self.new_home == NewHome::Folder {
            return;
        }
        if let Err(error) = self.spare.make(namespace) {
            tracing::warn!(%error, "could not create an image for the next home");
        }
    }

    /// Opens a session's home, and creates it if it does not exist. Returns `None` if the home is a folder.
    ///
    /// `place` is the home's path in the view of bubblewrap.
    pub(crate) fn open(
        &self,
        files: &SessionFiles,
        place: PathBuf,
        identity: Identity,
        limits: &SandboxLimits,
    ) -> Result<Option<MountedHome>, StartSandboxError> {
        let is_new = files.owner().is_none() && !files.image().exists();
        if !is_new || self.new_home == NewHome::Folder {
            files.prepare_home(identity)?;
            return self.mount(files, place, identity);
        }
        files.prepare_dir(identity)?;
        match self.open_new(files, place, identity, limits) {
            Err(error) if self.new_home == NewHome::ImageIfPossible => {
                tracing::warn!(%error, "could not create an image for a home, so a folder is used");
                files.remove_image()?;
                files.prepare_home(identity)?;
                Ok(None)
            }
            made => made,
        }
    }

    fn open_new(
        &self,
        files: &SessionFiles,
        place: PathBuf,
        identity: Identity,
        limits: &SandboxLimits,
    ) -> Result<Option<MountedHome>, StartSandboxError> {
        if let Some(mut home) = self.spare.take(limits) {
            fs::rename(&home.image, files.image())?;
            files.prepare_home(identity)?;
            home.move_to(files.image(), place)?;
            home.give(identity)?;
            return Ok(Some(home));
        }
        make(files, limits)?;
        files.prepare_home(identity)?;
        self.mount(files, place, identity)
    }

    fn mount(
        &self,
        files: &SessionFiles,
        place: PathBuf,
        identity: Identity,
    ) -> Result<Option<MountedHome>, StartSandboxError> {
        let image = files.image();
        if !image.exists() {
            return Ok(None);
        }
        let Some(namespace) = self.namespace.clone() else {
            return Err(StartSandboxError::Missing {
                what: format!("the session's files are in an image, and {NOT_ROOT}"),
                remedy: "start the server as root".to_owned(),
            });
        };
        let mounted = MountedHome::mount(namespace, image.clone(), place);
        let given = mounted.and_then(|mut home| {
            home.give(identity)?;
            Ok(Some(home))
        });
        given.map_err(|error| {
            if error.raw_os_error() == Some(Errno::UCLEAN.raw_os_error()) {
                return StartSandboxError::Missing {
                    what: "the file system with the session's files is damaged".to_owned(),
                    remedy: format!("run `e2fsck -f {}`", image.display()),
                };
            }
            error.into()
        })
    }
}

/// The remedy for a machine on which homes must be images and cannot.
pub(crate) const REMEDY: &str = "run the server as root on a machine with loop devices and e2fsprogs, or set \
                                 `sandbox.disk_quota` to \"auto\"";
const NOT_ROOT: &str = "only a server that is root, and may mount, can mount it";

fn no_images(reason: &io::Error) -> StartSandboxError {
    StartSandboxError::Missing {
        what: format!(
            "this machine cannot give each home an image ({reason}), and this server must"
        ),
        remedy: REMEDY.to_owned(),
    }
}

/// Checks if this machine can give each home an image. Leaves nothing behind.
pub(crate) fn trial() -> Result<(), String> {
    if !geteuid().is_root() {
        return Err("the server is not root".to_owned());
    }
    on_a_thread(|| {
        let image = memfd_create(c"trial", MemfdFlags::CLOEXEC)?;
        ftruncate(&image, 1024 * 1024)?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), image.as_raw_fd());
        mkfs(Path::new(&path), &["-O", "^has_journal"])?;
        Namespace::enter_new()?;
        let device = LoopDevice::attach(&image)?;
        // The mount is visible only to this thread, and disappears with it.
        mount(device.path(), "/tmp", "ext4", MountFlags::empty(), OPTIONS)?;
        Ok(())
    })
    .map_err(|error| error.to_string())
}

/// Creates a session's image, which gets its name when it is complete.
fn make(files: &SessionFiles, limits: &SandboxLimits) -> io::Result<()> {
    let unfinished = files.unfinished_image();
    let image = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    let bytes = limits.disk_bytes / BLOCK_BYTES * BLOCK_BYTES;
    image.set_len(bytes)?;
    let n_files = limits.disk_files.min(bytes / BLOCK_BYTES) + OWN_FILES;
    mkfs(
        &unfinished,
        &[
            "-N",
            &n_files.to_string(),
            "-J",
            "size=4",
            "-O",
            "^resize_inode",
        ],
    )?;
    fs::rename(unfinished, files.image())
}

/// Creates a file system. Zeros are not written, so the file stays sparse.
fn mkfs(file: &Path, options: &[&str]) -> io::Result<()> {
    let program = MKFS.iter().map(Path::new).find(|path| path.exists());
    let Some(program) = program else {
        return Err(io::Error::other("mkfs.ext4 is not installed"));
    };
    let block = BLOCK_BYTES.to_string();
    let common = [
        "-q",
        "-F",
        "-m",
        "0",
        "-b",
        &block,
        "-E",
        "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
    ];
    let words = common.iter().chain(options).map(|word| (*word).into());
    let arguments = words.chain([file.as_os_str().to_owned()]);
    let output = process::output(program, arguments, Identity::Same)?;
    if output.status.success() {
        return Ok(());
    }
    let problem = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("mkfs.ext4: {}", problem.trim())))
}

/// A home in an image, mounted in the view of bubblewrap. Dropping it unmounts the image, and blocks on the disk.
#[derive(Debug)]
pub(crate) struct MountedHome {
    namespace: Namespace,
    image: PathBuf,
    place: PathBuf,
    /// The root folder, used to query free space. `None` only while it is being unmounted.
    root: Option<OwnedFd>,
}

impl MountedHome {
    fn mount(namespace: Namespace, image: PathBuf, place: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&image)?;
        lock(&file)?;
        let root = namespace.run(|| {
            let device = LoopDevice::attach(&file)?;
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
            mount(device.path(), &place, "ext4", flags, OPTIONS)?;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(open(&place, flags, Mode::empty())?)
        })?;
        Ok(Self {
            namespace,
            image,
            place,
            root: Some(root),
        })
    }

    /// Moves the mount to another place, after its image was renamed.
    fn move_to(&mut self, image: PathBuf, place: PathBuf) -> io::Result<()> {
        self.namespace
            .run(|| Ok(mount_move(&self.place, &place)?))?;
        (self.image, self.place) = (image, place);
        Ok(())
    }

    /// Makes the sandbox's user the owner of a new file system.
    fn give(&mut self, identity: Identity) -> io::Result<()> {
        let place = &self.place;
        self.namespace.run(|| {
            // Only a new file system belongs to root.
            if fs::symlink_metadata(place)?.uid() == 0 {
                fs::remove_dir(place.join("lost+found"))?;
                fs::set_permissions(place, Permissions::from_mode(0o700))?;
                super::files::give(place, identity)?;
            }
            Ok(())
        })
    }

    /// Returns the number of bytes in the home that the kernel has not written to the disk yet.
    pub(crate) fn unwritten_bytes(&self) -> io::Result<u64> {
        let Some(root) = &self.root else {
            return Ok(0);
        };
        let space = fstatvfs(root)?;
        let used = space.f_blocks.saturating_sub(space.f_bfree);
        let written = fs::metadata(&self.image)?.blocks() * COUNTED_BYTES;
        Ok((used * space.f_frsize).saturating_sub(written))
    }
}

impl Drop for MountedHome {
    fn drop(&mut self) {
        self.root = None;
        let place = &self.place;
        let unmounted = self.namespace.run(|| {
            // The kernel does not discard space that was freed shortly before the unmount.
            if let Err(error) = give_back(place) {
                tracing::debug!(%error, image = %self.image.display(), "could not give back free space");
            }
            match unmount(place, UnmountFlags::empty()) {
                // The kernel unmounts it once it is no longer in use.
                Err(Errno::BUSY) => unmount(place, UnmountFlags::DETACH)?,
                unmounted => unmounted?,
            }
            Ok(())
        });
        if let Err(error) = unmounted {
            tracing::warn!(%error, image = %self.image.display(), "could not unmount a home");
        }
    }
}

/// Returns the free space of a mounted home to the disk.
fn give_back(place: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    trim(open(place, flags, Mode::empty())?)
}

/// Locks an image. The lock belongs to the open file, which the loop device holds until the kernel has written
/// everything.
fn lock(image: &File) -> io::Result<()> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match flock(image, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::other(
                    "the session's files are still mounted: unmount them, or stop the server that uses them",
                ));
            }
            locked => return Ok(locked?),
        }
    }
}
