//! Long output of a command, written to a file in the sandbox, where the agent can read all of it.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

/// The folder of the files, in the home folder.
const FOLDER: &str = ".deskhand/output";
/// The number of files that are kept.
const MOST_FILES: u64 = 20;
/// The size from which on output is only counted.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The files of a shell's commands.
#[derive(Debug)]
pub(super) struct OutputFiles {
    folder: PathBuf,
    n_files: u64,
}

/// The file of one command.
#[derive(Debug)]
pub(super) struct WholeOutput {
    file: File,
    path: PathBuf,
    n_bytes: usize,
}

impl OutputFiles {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            folder: home.join(FOLDER),
            n_files: 0,
        }
    }

    /// Begins a file with the output so far. Returns `None` if it cannot be written: then there is no file.
    pub(super) fn begin(&mut self, so_far: &[u8]) -> Option<WholeOutput> {
        self.n_files += 1;
        let path = |number: u64| self.folder.join(format!("{number}.txt"));
        fs::create_dir_all(&self.folder).ok()?;
        let path_now = path(self.n_files);
        // An earlier runner of the same home may have left files with these numbers, and old ones make room.
        let _ = fs::remove_file(&path_now);
        if let Some(old) = self.n_files.checked_sub(MOST_FILES) {
            let _ = fs::remove_file(path(old));
        }
        let mut whole = WholeOutput {
            file: File::create_new(&path_now).ok()?,
            path: path_now,
            n_bytes: 0,
        };
        whole.push(so_far).then_some(whole)
    }
}

impl WholeOutput {
    /// Adds output. Returns false if it could not be written.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let room = MOST_BYTES - self.n_bytes;
        let bytes = &bytes[..bytes.len().min(room)];
        self.n_bytes += bytes.len();
        self.file.write_all(bytes).is_ok()
    }

    pub(super) fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}
