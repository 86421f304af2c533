//! The files of sandboxes on the server's side.
//!
//! ```text
//! DIR/.spare/            a home that no session has yet
//! DIR/.system/           the files that every sandbox sees, recreated by each server
//! DIR/SESSION/home/      the agent's home, the only folder that a sandbox can write
//! DIR/SESSION/home.img   the file system that is mounted there, if the home has one of its own
//! DIR/SESSION/run/       the socket for the runner
//! DIR/SESSION/trace.json the traces that a killed server would leave
//! ```
//!
//! A server that runs as root keeps `.system` and `run` in memory, see [`super::view`].
//!
//! The server creates and removes `home` but opens nothing in it, since untrusted programs wrote its content.

mod removal;

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::{
        fd::AsRawFd,
        unix::{
            fs::{DirBuilderExt, MetadataExt, PermissionsExt},
            net,
        },
    },
    path::{Path, PathBuf},
};

use deskhand_core::{id::SessionId, sandbox::StartSandboxError};
use rustix::{
    fs::{Gid, Mode, OFlags, Uid, chown, open},
    process::geteuid,
};
use tokio::net::UnixListener;

use self::removal::remove_tree;
use super::identity::Identity;

const SOCKET: &str = "runner.sock";

/// The folder of one session.
#[derive(Debug, Clone)]
pub(crate) struct SessionFiles {
    dir: PathBuf,
    /// The folder of the runner's socket.
    run: PathBuf,
}

impl SessionFiles {
    pub(crate) fn of(dir: &Path, session: SessionId) -> Self {
        let dir = dir.join(session.to_string());
        Self {
            run: dir.join("run"),
            dir,
        }
    }

    /// Returns the files of a home that no session has yet.
    pub(crate) fn of_nobody(dir: &Path) -> Self {
        let dir = dir.join(".spare");
        Self {
            run: dir.join("run"),
            dir,
        }
    }

    /// Returns the same files, with the runner's socket in another folder.
    pub(crate) fn with_run(self, run: PathBuf) -> Self {
        Self { run, ..self }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub(crate) fn image(&self) -> PathBuf {
        self.dir.join("home.img")
    }

    /// Returns the path of an unfinished image.
    pub(crate) fn unfinished_image(&self) -> PathBuf {
        self.dir.join("home.img.new")
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.dir.join("trace.json")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.run.join(SOCKET)
    }

    /// Returns the user of the home, if it exists.
    pub(crate) fn owner(&self) -> Option<u32> {
        let home = fs::symlink_metadata(self.home());
        home.ok().map(|home| home.uid())
    }

    /// Creates the session's folder.
    pub(crate) fn prepare_dir(&self, identity: Identity) -> io::Result<()> {
        make_passage(&self.dir, identity)
    }

    /// Creates the folders for a home that no session has yet.
    pub(crate) fn prepare_spare(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(self.home())
    }

    /// Creates the home, or the folder on which its image is mounted. An existing one stays as it is.
    pub(crate) fn prepare_home(&self, identity: Identity) -> Result<(), StartSandboxError> {
        self.prepare_dir(identity)?;
        let home = self.home();
        match DirBuilder::new().mode(0o700).create(&home) {
            Ok(()) => give(&home, identity)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                check_owner(&home, identity)?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Creates the runner's socket. The home must exist.
    pub(crate) fn prepare_run(&self, identity: Identity) -> io::Result<UnixListener> {
        self.remove_run()?;
        make_passage(&self.run, identity)?;
        self.listen(identity)
    }

    /// Removes everything that a start created, except the home.
    pub(crate) fn remove_run(&self) -> io::Result<()> {
        absent_is_fine(fs::remove_file(self.trace()))?;
        absent_is_fine(fs::remove_file(self.unfinished_image()))?;
        absent_is_fine(fs::remove_dir_all(&self.run))
    }

    /// Removes an image that could not be used.
    pub(crate) fn remove_image(&self) -> io::Result<()> {
        absent_is_fine(fs::remove_file(self.unfinished_image()))?;
        absent_is_fine(fs::remove_file(self.image()))
    }

    /// Removes everything. The sandbox must have ended.
    pub(crate) fn remove(&self) -> io::Result<()> {
        remove_tree(&self.dir)
    }

    /// Binds the runner's socket.
    ///
    /// The path of a socket has at most 107 bytes, and a data folder may be deeper than that. So the folder is
    /// opened, and the socket is named relative to it.
    fn listen(&self, identity: Identity) -> io::Result<UnixListener> {
        let run = open(
            &self.run,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let short = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", run.as_raw_fd()));
        let listener = net::UnixListener::bind(&short)?;
        fs::set_permissions(&short, Permissions::from_mode(0o600))?;
        give(&short, identity)?;
        listener.set_nonblocking(true)?;
        UnixListener::from_std(listener)
    }
}

/// Returns the sessions that have a folder in `dir`.
pub(crate) fn sessions_in(dir: &Path) -> io::Result<Vec<SessionId>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut sessions = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        sessions.extend(
            name.to_str()
                .and_then(|name| name.parse::<SessionId>().ok()),
        );
    }
    sessions.sort_unstable();
    Ok(sessions)
}

/// Creates a folder that the sandboxes' user may pass through but not list.
pub(crate) fn make_passage(path: &Path, identity: Identity) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    match identity {
        Identity::Same => Ok(()),
        Identity::Other { gid, .. } => {
            chown(path, None, Some(Gid::from_raw(gid)))?;
            fs::set_permissions(path, Permissions::from_mode(0o710))
        }
    }
}

/// Makes the sandboxes' user the owner.
pub(crate) fn give(path: &Path, identity: Identity) -> io::Result<()> {
    if let Identity::Other { uid, gid } = identity {
        chown(path, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    Ok(())
}

/// Checks the owner of a home. A server that changed its user finds homes that its sandboxes could not write.
fn check_owner(home: &Path, identity: Identity) -> Result<(), StartSandboxError> {
    let owner = fs::symlink_metadata(home)?.uid();
    let (uid, gid) = match identity {
        Identity::Same => (geteuid().as_raw(), None),
        Identity::Other { uid, gid } => (uid, Some(gid)),
    };
    if owner == uid {
        return Ok(());
    }
    let group = gid.map(|gid| format!(":{gid}")).unwrap_or_default();
    Err(StartSandboxError::Missing {
        what: format!("the session's files belong to user {owner}"),
        remedy: format!(
            "start the server as that user, or run `chown -R -h {uid}{group} {}`",
            home.display()
        ),
    })
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_the_agent_closed_are_removed_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new();
        let files = SessionFiles::of(dir.path(), session);
        let closed = files.home().join("a/b");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        std::os::unix::fs::symlink("/", files.home().join("root")).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(files.home(), Permissions::from_mode(0o000)).unwrap();

        assert_eq!(sessions_in(dir.path()).unwrap(), [session]);
        files.remove().unwrap();
        assert_eq!(sessions_in(dir.path()).unwrap(), []);
        files.remove().unwrap();
    }
}
