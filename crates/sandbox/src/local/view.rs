//! The files of sandboxes, as bubblewrap sees them.
//!
//! If the server runs as root, sandboxes run as users that cannot reach root's own folders. Bubblewrap is therefore
//! started in a separate mount namespace, in which the folder of sandboxes and the runner's program are mounted at a
//! path that every user may enter. The files that every sandbox sees and the sockets of runners are in memory there.
//! Mounts in a sandbox therefore do not reveal the path of the data folder, except for a home that is a folder.
//!
//! These mounts are visible only in that namespace, and disappear with the server, even if it is killed.

use std::{
    ffi::CString,
    fs::{self, Permissions},
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use deskhand_core::id::SessionId;
use rustix::{
    fs::{Mode, OFlags, open},
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
        mount_change, unmount,
    },
    thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe},
};

use super::{files::SessionFiles, identity::Identity, system::System};

/// Folders that every Linux system has and bubblewrap does not need. One of them is mounted over, only in the
/// namespace.
const PLACES: [&str; 4] = ["/mnt", "/media", "/srv", "/opt"];

/// The paths as programs see them that are started by the thread.
#[derive(Debug)]
pub(crate) struct View {
    /// The folder of sandboxes.
    dir: PathBuf,
    /// The runner's program.
    pub(crate) runner: PathBuf,
    /// The files that every sandbox sees.
    pub(crate) system: System,
    own: Option<OwnView>,
}

/// The parts of a view in a separate namespace.
#[derive(Debug)]
struct OwnView {
    namespace: Namespace,
    /// The folder with the sockets of runners, in memory.
    sockets: PathBuf,
    /// The same folder. The server reaches it through this descriptor from its own namespace.
    sockets_folder: OwnedFd,
}

impl View {
    /// Sets up the calling thread's view.
    pub(crate) fn take(identity: Identity, dir: &Path, runner: &Path) -> io::Result<Self> {
        let (dir, runner) = (dir.canonicalize()?, runner.canonicalize()?);
        if identity != Identity::Same {
            match Self::moved(&dir, &runner) {
                Ok(view) => {
                    // An earlier version had it there. If it cannot be removed, it does no harm.
                    let _ = fs::remove_dir_all(dir.join(".system"));
                    return Ok(view);
                }
                // Without the permission to mount, bubblewrap may still be able to reach both.
                Err(error) => {
                    tracing::warn!(%error, "sandboxes see the data folder at its real path");
                }
            }
        }
        Ok(Self {
            system: System::assemble(&dir)?,
            dir,
            runner,
            own: None,
        })
    }

    /// Mounts everything at a path that every user may enter, in a new namespace of this thread.
    fn moved(dir: &Path, runner: &Path) -> io::Result<Self> {
        let is_free = |place: &&&str| {
            Path::new(place).is_dir() && !dir.starts_with(place) && !runner.starts_with(place)
        };
        let place = PLACES
            .iter()
            .find(is_free)
            .map(Path::new)
            .ok_or_else(|| io::Error::other(format!("none of {PLACES:?} can be covered")))?;
        let namespace = Namespace::enter_new()?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", place, "tmpfs", flags, c"mode=755,size=16m")?;
        let seen_dir = place.join("sandboxes");
        fs::create_dir(&seen_dir)?;
        mount_bind_recursive(dir, &seen_dir)?;
        let sockets = place.join("sockets");
        fs::create_dir(&sockets)?;
        // The server's umask may be restrictive.
        fs::set_permissions(&sockets, Permissions::from_mode(0o711))?;
        let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let sockets_folder = open(&sockets, folder_flags, Mode::empty())?;
        Ok(Self {
            dir: seen_dir,
            runner: mount_program(runner, place)?,
            system: System::assemble(place)?,
            own: Some(OwnView {
                namespace,
                sockets,
                sockets_folder,
            }),
        })
    }

    /// Returns the namespace in which bubblewrap starts, if it is not the server's.
    pub(crate) fn namespace(&self) -> Option<&Namespace> {
        self.own.as_ref().map(|own| &own.namespace)
    }

    /// Returns the files of a session at the paths that the server uses. `dir` is the folder of sandboxes.
    pub(crate) fn files(&self, dir: &Path, session: SessionId) -> SessionFiles {
        let files = SessionFiles::of(dir, session);
        match &self.own {
            None => files,
            Some(own) => {
                let folder = format!("/proc/self/fd/{}", own.sockets_folder.as_raw_fd());
                files.with_run(Path::new(&folder).join(session.to_string()))
            }
        }
    }

    /// Returns the files of the spare home, at the paths that bubblewrap uses.
    pub(crate) fn seen_files_of_nobody(&self) -> SessionFiles {
        SessionFiles::of_nobody(&self.dir)
    }

    /// Returns the files of a session at the paths that bubblewrap uses.
    pub(crate) fn seen_files(&self, session: SessionId) -> SessionFiles {
        let files = SessionFiles::of(&self.dir, session);
        match &self.own {
            None => files,
            Some(own) => files.with_run(own.sockets.join(session.to_string())),
        }
    }
}

/// A mount namespace of a thread of the server.
#[derive(Debug, Clone)]
pub(crate) struct Namespace(Arc<OwnedFd>);

impl Namespace {
    /// Moves the calling thread into a new mount namespace. Later mounts of the machine propagate into it, but not out
    /// of it.
    pub(crate) fn enter_new() -> io::Result<Self> {
        leave_shared(UnshareFlags::NEWNS)?;
        mount_change(
            "/",
            MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC,
        )?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let namespace = open("/proc/thread-self/ns/mnt", flags, Mode::empty())?;
        Ok(Self(Arc::new(namespace)))
    }

    /// Runs `work` on a thread in this namespace, and waits for it.
    pub(crate) fn run<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        on_a_thread(|| {
            // A thread that shares its current folder with others cannot change its namespace.
            leave_shared(UnshareFlags::FS)?;
            move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Mount))?;
            work()
        })
    }
}

/// Runs `work` on a temporary thread, and waits for it.
pub(crate) fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("mounts".to_owned());
        let thread = thread.spawn_scoped(scope, work)?;
        thread
            .join()
            .unwrap_or_else(|_panic| Err(io::Error::other("a thread that mounts panicked")))
    })
}

#[expect(unsafe_code, reason = "rustix marks all of unshare as unsafe")]
fn leave_shared(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: only the table of mounts and the current folder become the thread's own. Descriptors stay shared.
    unsafe { unshare_unsafe(flags) }
}

/// Mounts the runner's program below `place`, and returns its path there.
fn mount_program(runner: &Path, place: &Path) -> io::Result<PathBuf> {
    layered(runner, place).or_else(|error| {
        tracing::info!(%error, "sandboxes can read the path of the runner's program");
        let program = place.join("deskhand");
        fs::write(&program, [])?;
        mount_bind(runner, &program)?;
        Ok(program)
    })
}

/// Mounts the program's folder as the only layer of an overlay. Unlike a bind mount, this does not reveal its real
/// path.
fn layered(runner: &Path, place: &Path) -> io::Result<PathBuf> {
    let (Some(folder), Some(name)) = (runner.parent(), runner.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let [layer, empty, program] = ["layer", "empty", "program"].map(|name| place.join(name));
    for folder in [&layer, &empty, &program] {
        fs::create_dir(folder)?;
    }
    mount_bind(folder, &layer)?;
    // The kernel requires two layers for a read-only overlay.
    let layers = format!("lowerdir={}:{}", layer.display(), empty.display());
    let layers = CString::new(layers)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    let mounted = mount("overlay", &program, "overlay", flags, layers.as_c_str());
    unmount(&layer, UnmountFlags::DETACH)?;
    mounted?;
    Ok(program.join(name))
}
