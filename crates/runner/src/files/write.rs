//! Writes an unnamed or temporary file, and gives it its name when it is complete.
//!
//! A reader sees the old file or the new one, never a partial one, even after a crash.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::File,
    io::Write,
    os::fd::AsRawFd,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use deskhand_core::file::{FileProblem, FileProblemKind, FileStat, WriteCondition};
use rustix::{
    fs::{
        AtFlags, CWD, Mode, OFlags, RenameFlags, fchmod, fstat, linkat, openat, renameat,
        renameat_with, statat, unlinkat,
    },
    io::Errno,
    process::{Resource, getrlimit},
};
use tokio::sync::mpsc;

use super::{
    change::check_version,
    kernel::{failed, failed_io},
    list::names,
    place::{FilePlace, check_regular, open_folder},
};
use crate::barrier::Passage;

/// The end of the names of files that are being written.
const PART_ENDING: &str = ".deskhand-part";
/// The number of characters of a file's name in its temporary name, which keeps that within the limit.
const NAME_CHARS: usize = 40;
/// The most folders that are remembered as clean.
const MOST_SWEPT: usize = 10_000;

/// An unfinished file. It is removed on drop.
#[derive(Debug)]
pub(super) struct Part {
    place: FilePlace,
    /// Its temporary name, if the file system does not support unnamed files.
    temporary: Option<String>,
    file: File,
    n_bytes: u64,
    /// The file size limit of this process, which would be killed if it wrote more.
    most_bytes: u64,
    /// Dropped after everything else.
    _passage: Option<Arc<Passage>>,
}

/// The conditions and permissions with which a write ends.
#[derive(Debug)]
pub(super) struct WriteEnd {
    /// The number of bytes that must have arrived, if it is known.
    pub(super) length: Option<u64>,
    pub(super) condition: WriteCondition,
    pub(super) is_executable: bool,
}

impl Part {
    /// Creates the file and its parent folders. The passage is held as long as the unfinished file exists.
    pub(super) fn begin(
        path: &str,
        condition: &WriteCondition,
        passage: Option<Arc<Passage>>,
    ) -> Result<Self, FileProblem> {
        if let Some((folder, _)) = path
            .rsplit_once('/')
            .filter(|(folder, _)| !folder.is_empty())
        {
            std::fs::create_dir_all(folder).map_err(|error| failed_io(folder, &error))?;
            remove_leftovers(folder);
        }
        let place = FilePlace::find(path)?;
        check(&place, condition)?;
        let (file, temporary) = create(&place).map_err(|errno| failed(path, errno))?;
        Ok(Self {
            place,
            temporary,
            file,
            n_bytes: 0,
            most_bytes: getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX),
            _passage: passage,
        })
    }

    /// Writes all received pieces. Blocks until the sender is dropped.
    pub(super) fn take_all(
        mut self,
        mut pieces: mpsc::Receiver<Bytes>,
    ) -> Result<Self, FileProblem> {
        while let Some(piece) = pieces.blocking_recv() {
            let n_bytes = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.n_bytes = self.n_bytes.saturating_add(n_bytes);
            if self.n_bytes > self.most_bytes {
                let message = format!(
                    "{} would exceed {} bytes, the size limit for files on this desktop",
                    self.place.path, self.most_bytes
                );
                return Err(FileProblem::new(FileProblemKind::TooMuch, message));
            }
            let written = self.file.write_all(&piece);
            written.map_err(|error| failed_io(&self.place.path, &error))?;
        }
        Ok(self)
    }

    /// Gives the file its name, if its length is as announced and the condition still holds. Returns true if the file
    /// is new.
    pub(super) fn finish(mut self, end: &WriteEnd) -> Result<(FileStat, bool), FileProblem> {
        if let Some(length) = end.length.filter(|length| *length != self.n_bytes) {
            let message = format!(
                "{} of {length} bytes arrived, so {} was not written",
                self.n_bytes, self.place.path
            );
            return Err(FileProblem::new(FileProblemKind::Incomplete, message));
        }
        let before = check(&self.place, &end.condition)?;
        self.set_mode(before.is_some(), end.is_executable)
            .and_then(|()| self.put(&end.condition))
            .map_err(|errno| failed(&self.place.path, errno))?;
        Ok((self.place.stat()?, before.is_none()))
    }

    /// Copies the permissions of the old file, and makes the file executable if requested.
    fn set_mode(&self, is_replacing: bool, is_executable: bool) -> rustix::io::Result<()> {
        let found = if is_replacing {
            let place = &self.place;
            statat(&place.folder, &*place.name, AtFlags::SYMLINK_NOFOLLOW)?
        } else {
            fstat(&self.file)?
        };
        let mut mode = found.st_mode & 0o777;
        if is_executable {
            // Everybody who may read it may execute it.
            mode |= (mode & 0o444) >> 2;
        }
        if is_replacing || is_executable {
            fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }

    /// Moves the file to its place.
    fn put(&mut self, condition: &WriteCondition) -> rustix::io::Result<()> {
        let (folder, name) = (&self.place.folder, &*self.place.name);
        let must_be_new = matches!(condition, WriteCondition::Absent);
        if self.temporary.is_none() && must_be_new {
            return link(&self.file, &self.place, name);
        }
        let temporary = match self.temporary.clone() {
            Some(temporary) => temporary,
            None => {
                // Only a rename can replace a file, and it needs a name.
                let temporary = temporary_name(&self.place);
                link(&self.file, &self.place, temporary.as_ref())?;
                self.temporary.insert(temporary).clone()
            }
        };
        if must_be_new {
            renameat_with(folder, &*temporary, folder, name, RenameFlags::NOREPLACE)?;
        } else {
            renameat(folder, &*temporary, folder, name)?;
        }
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // If the folder is gone, so is the file.
            let _ = unlinkat(&self.place.folder, &**temporary, AtFlags::empty());
        }
    }
}

/// Creates a file in the folder of this place. It has no name if the file system supports that, so that the kernel
/// removes it even if the runner is killed.
fn create(place: &FilePlace) -> rustix::io::Result<(File, Option<String>)> {
    let mode = Mode::from_raw_mode(0o666);
    let nameless = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match openat(&place.folder, ".", nameless, mode) {
        Ok(file) => return Ok((file.into(), None)),
        // The file system or the kernel does not support unnamed files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {}
        Err(errno) => return Err(errno),
    }
    let temporary = temporary_name(place);
    let named = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&place.folder, &*temporary, named, mode)?;
    Ok((file.into(), Some(temporary)))
}

/// Gives an unnamed file this name. Replaces nothing.
fn link(file: &File, place: &FilePlace, name: &OsStr) -> rustix::io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, own, &place.folder, name, AtFlags::SYMLINK_FOLLOW)
}

/// Returns a name that no other file in the folder of this place has.
fn temporary_name(place: &FilePlace) -> String {
    let name = place.name.to_string_lossy();
    let name: String = name.chars().take(NAME_CHARS).collect();
    format!(".{name}.{}{PART_ENDING}", tag())
}

/// Checks that a file may be written to this place. Returns the file that it replaces.
fn check(place: &FilePlace, condition: &WriteCondition) -> Result<Option<FileStat>, FileProblem> {
    let found = place.stat_if_any()?;
    if let Some(found) = &found {
        check_regular(found)?;
    }
    match (condition, &found) {
        (WriteCondition::Absent, Some(_)) => Err(FileProblem::new(
            FileProblemKind::Changed,
            format!("{} is already there", place.path),
        )),
        (WriteCondition::Present | WriteCondition::Version(_), None) => Err(FileProblem::new(
            FileProblemKind::Changed,
            format!("{} is no longer there", place.path),
        )),
        (WriteCondition::Version(version), Some(stat)) => {
            check_version(stat, Some(version)).map(|()| found)
        }
        (WriteCondition::Always | WriteCondition::Absent | WriteCondition::Present, _) => Ok(found),
    }
}

/// Returns a text that no other temporary name has: one for this process, and a number.
fn tag() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!(
        "{}-{}",
        process_tag(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

/// Returns the mark of the files that this process writes.
fn process_tag() -> &'static str {
    use std::hash::{BuildHasher, RandomState};
    static TAG: LazyLock<String> =
        LazyLock::new(|| format!("{:016x}", RandomState::new().hash_one(std::process::id())));
    &TAG
}

/// Removes temporary files that a killed runner left in this folder, once per folder. A sandbox has only one runner, so
/// they are no longer in use.
fn remove_leftovers(path: &str) {
    static SWEPT: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);
    let Ok(folder) = open_folder(path) else {
        return;
    };
    let Ok(found) = fstat(&folder) else {
        return;
    };
    {
        // No code under this lock panics halfway.
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.len() >= MOST_SWEPT {
            swept.clear();
        }
        if !swept.insert((found.st_dev, found.st_ino)) {
            return;
        }
    }
    let (names, _) = names(&folder, path).unwrap_or_default();
    let ours = format!(".{}-", process_tag());
    for name in names {
        if name.starts_with('.') && name.ends_with(PART_ENDING) && !name.contains(&ours) {
            // It may be gone, or belong to somebody else.
            let _ = unlinkat(&folder, &*name, AtFlags::empty());
        }
    }
}
