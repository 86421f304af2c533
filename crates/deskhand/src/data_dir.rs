//! The data folder: its lock, and the files that commands read from it.
//!
//! One server uses a folder at a time. It holds a lock on `lock` as long as it lives, and keeps
//! its address in `server.json`.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use deskhand_core::secret::Secret;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::modes;

/// The beginning of the names of the database's files.
const DATABASE: &str = "deskhand.db";
/// The other names in a data folder.
const FILES: [&str; 8] = [
    "admin-token",
    "blobs",
    "lock",
    "sandboxes",
    "scenarios",
    "secrets.key",
    "server.json",
    "server.sock",
];

/// The timeout for a program that a killed server has left behind.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(2);
const LEFTOVER_POLL: Duration = Duration::from_millis(10);

/// A data folder. A server may or may not use it.
#[derive(Debug, Clone)]
pub(crate) struct DataDir {
    path: PathBuf,
}

/// The address of the server of a data folder, for commands to find it.
///
/// The note outlives a server that was killed, so check that the server responds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerNote {
    pub(crate) url: String,
    pub(crate) pid: u32,
}

/// An exclusive lock on a data folder. The kernel releases it when the process ends.
#[derive(Debug)]
pub(crate) struct DataDirLock {
    _file: File,
}

/// Removes the note when it is dropped.
#[derive(Debug)]
pub(crate) struct PostedNote {
    path: PathBuf,
}

/// Reasons why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataDirError {
    #[error("cannot use the data folder {path}; choose another with --data-dir")]
    Unusable { path: PathBuf, source: io::Error },
    #[error(
        "others may use the folder {path}, which holds tokens, secrets and everything that agents see; choose another \
         with --data-dir, or run `chmod 700 {path}`"
    )]
    OpenToOthers { path: PathBuf },
    #[error(
        "another server{} uses the data folder {path}; `deskhand login` prints a link to it, or choose another \
         folder with --data-dir",
        .note.as_ref().map(|note| format!(" (process {}, {})", note.pid, note.url)).unwrap_or_default()
    )]
    InUse {
        path: PathBuf,
        note: Option<ServerNote>,
    },
}

impl DataDir {
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder, accessible to its owner only, if it does not exist.
    ///
    /// Takes an existing one from others, if it is a data folder or could become one. Refuses a folder that others use
    /// for something else.
    pub(crate) fn create(&self) -> Result<(), DataDirError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.path)
            .map_err(|source| self.unusable(source))?;
        let is_open = modes::is_open_to_others(&self.path);
        if !is_open.map_err(|source| self.unusable(source))? {
            return Ok(());
        }
        let may_tighten = self.may_tighten();
        if !may_tighten.map_err(|source| self.unusable(source))? {
            return Err(DataDirError::OpenToOthers {
                path: self.path.clone(),
            });
        }
        modes::tighten(&self.path).map_err(|source| self.unusable(source))
    }

    /// Returns true if the folder is this user's, and there is nothing in it but files of a data folder.
    fn may_tighten(&self) -> io::Result<bool> {
        let is_ours = |entry: io::Result<fs::DirEntry>| {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            io::Result::Ok(FILES.contains(&&*name) || name.starts_with(DATABASE))
        };
        for entry in fs::read_dir(&self.path)? {
            if !is_ours(entry)? {
                return Ok(false);
            }
        }
        modes::is_own(&self.path)
    }

    /// Takes the files with secrets from others, should somebody have opened them.
    pub(crate) fn tighten_files(&self) -> Result<(), DataDirError> {
        let database = ["", "-wal", "-shm"].map(|end| format!("{DATABASE}{end}"));
        let tokens = ["admin-token", "server.json"].map(str::to_owned);
        for name in database.into_iter().chain(tokens) {
            modes::tighten(&self.path.join(name)).map_err(|source| self.unusable(source))?;
        }
        Ok(())
    }

    /// Locks the folder for this process.
    pub(crate) fn lock(&self) -> Result<DataDirLock, DataDirError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.path.join("lock"))
            .map_err(|source| self.unusable(source))?;
        let deadline = Instant::now() + LEFTOVER_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(DataDirLock { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    let note = self.server_note();
                    // A server that was killed while it started a program leaves a process behind that holds the lock
                    // until it executes the program.
                    let is_dead = note.as_ref().is_some_and(|note| !is_running(note.pid));
                    if !is_dead || Instant::now() > deadline {
                        let path = self.path.clone();
                        return Err(DataDirError::InUse { path, note });
                    }
                    sleep(LEFTOVER_POLL);
                }
                Err(TryLockError::Error(source)) => return Err(self.unusable(source)),
            }
        }
    }

    /// Reads the admin's token. Returns `None` if there is none.
    pub(crate) fn admin_token(&self) -> io::Result<Option<Secret>> {
        match fs::read_to_string(self.path.join("admin-token")) {
            Ok(text) => Ok(Some(Secret::new(text.trim()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores the admin's token, readable by the folder's owner only.
    pub(crate) fn keep_admin_token(&self, token: &Secret) -> io::Result<()> {
        self.write("admin-token", &format!("{}\n", token.expose()))
    }

    /// Reads the note about the server. Returns `None` if there is no valid one.
    pub(crate) fn server_note(&self) -> Option<ServerNote> {
        let text = fs::read(self.path.join("server.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes the note about the server of this folder.
    pub(crate) fn post_note(&self, note: &ServerNote) -> io::Result<PostedNote> {
        self.write("server.json", &serde_json::to_string(note)?)?;
        Ok(PostedNote {
            path: self.path.join("server.json"),
        })
    }

    /// Writes a private file atomically.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let draft = self.path.join(format!("{name}.new"));
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, self.path.join(name))
    }

    fn unusable(&self, source: io::Error) -> DataDirError {
        DataDirError::Unusable {
            path: self.path.clone(),
            source,
        }
    }
}

impl Drop for PostedNote {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not remove server.json from the data folder");
        }
    }
}

/// Returns true if there is a process with this id.
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_is_for_the_owner_only() {
        let parent = tempfile::tempdir().unwrap();
        let dir = DataDir::at(&parent.path().join("deskhand"));
        dir.create().unwrap();
        dir.keep_admin_token(&Secret::new("dh_x")).unwrap();
        assert_eq!(dir.admin_token().unwrap().unwrap().expose(), "dh_x");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(dir.path()), 0o700);
        assert_eq!(mode(&dir.path().join("admin-token")), 0o600);
    }

    #[test]
    fn a_folder_and_its_files_are_taken_from_others() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("deskhand");
        let dir = DataDir::at(&path);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let open = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::create_dir(&path).unwrap();
        open(&path, 0o755);
        dir.create().unwrap();
        assert_eq!(mode(&path), 0o700);
        let _lock = dir.lock().unwrap();
        let files = ["admin-token", "deskhand.db"].map(|name| path.join(name));
        for file in &files {
            fs::write(file, "x").unwrap();
            open(file, 0o644);
        }
        open(&path, 0o777);
        dir.create().unwrap();
        dir.tighten_files().unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(files.each_ref().map(|file| mode(file)), [0o600; 2]);
    }

    #[test]
    fn a_folder_that_is_used_for_something_else_is_left_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("letter"), "x").unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let refused = DataDir::at(parent.path()).create();
        assert!(matches!(refused, Err(DataDirError::OpenToOthers { .. })));
        let mode = fs::metadata(parent.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn a_folder_has_one_server_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let dir = DataDir::at(parent.path());
        let lock = dir.lock().unwrap();
        assert!(matches!(
            dir.lock(),
            Err(DataDirError::InUse { note: None, .. })
        ));
        drop(lock);
        dir.lock().unwrap();
    }

    #[test]
    fn a_note_goes_with_its_server() {
        let parent = tempfile::tempdir().unwrap();
        let dir = DataDir::at(parent.path());
        let note = ServerNote {
            url: "http://127.0.0.1:1".to_owned(),
            pid: 1,
        };
        let posted = dir.post_note(&note).unwrap();
        assert_eq!(dir.server_note(), Some(note));
        drop(posted);
        assert_eq!(dir.server_note(), None);
    }
}
