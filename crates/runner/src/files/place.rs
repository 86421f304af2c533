//! Opens paths safely while programs may change the folders on the way.

use std::{
    ffi::{OsStr, OsString},
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use deskhand_core::file::{FileKind, FileProblem, FileProblemKind, FileStat, is_hidden};
use jiff::Timestamp;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, openat2, readlinkat, statat,
};

use super::kernel::{check_file_system, failed, failed_io};

/// A name in an open folder, which can no longer be replaced by another folder.
#[derive(Debug)]
pub(super) struct FilePlace {
    pub(super) folder: OwnedFd,
    /// Not always UTF-8.
    pub(super) name: OsString,
    /// The absolute path, for messages.
    pub(super) path: String,
}

impl FilePlace {
    /// Opens the folder of an absolute path. Links to folders are followed, except into file systems of the kernel.
    pub(super) fn find(path: &str) -> Result<Self, FileProblem> {
        let no_name = || FileProblem::new(FileProblemKind::Folder, "/ is a folder");
        let (folder, name) = path.rsplit_once('/').ok_or_else(no_name)?;
        if name.is_empty() {
            return Err(no_name());
        }
        let folder = if folder.is_empty() { "/" } else { folder };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = open(folder, flags)?;
        check_file_system(&fd, folder)?;
        Ok(Self {
            folder: fd,
            name: name.into(),
            path: path.to_owned(),
        })
    }

    /// Returns a place in the open folder that is in this place.
    pub(super) fn below(&self, folder: impl AsFd, name: OsString) -> Result<Self, FileProblem> {
        let path = path_below(&self.path, &name);
        let folder = folder.as_fd().try_clone_to_owned();
        let folder = folder.map_err(|error| failed_io(&path, &error))?;
        Ok(Self { folder, name, path })
    }

    /// Returns the metadata of the entry at this place. A link is not followed.
    pub(super) fn stat(&self) -> Result<FileStat, FileProblem> {
        let found = statat(&self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW);
        let found = found.map_err(|errno| failed(&self.path, errno))?;
        Ok(self.describe(&found))
    }

    /// Returns the metadata of the entry at this place, or `None` if there is none.
    pub(super) fn stat_if_any(&self) -> Result<Option<FileStat>, FileProblem> {
        match self.stat() {
            Ok(stat) => Ok(Some(stat)),
            Err(problem) if problem.kind == FileProblemKind::Missing => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Opens the regular file in this place for reading.
    pub(super) fn open_file(&self) -> Result<(OwnedFd, FileStat), FileProblem> {
        // Opening a pipe or a device may have side effects, so its type is checked first.
        check_regular(&self.stat()?)?;
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.folder, &*self.name, flags, Mode::empty());
        let file = opened.map_err(|errno| failed(&self.path, errno))?;
        let found = rustix::fs::fstat(&file).map_err(|errno| failed(&self.path, errno))?;
        let stat = self.describe(&found);
        check_regular(&stat)?;
        check_file_system(&file, &self.path)?;
        Ok((file, stat))
    }

    /// Describes the entry at this place.
    pub(super) fn describe(&self, found: &Stat) -> FileStat {
        let mut stat = describe(self.path.clone(), found);
        if stat.kind == FileKind::Link {
            // The link may have just been removed.
            let target = readlinkat(&self.folder, &*self.name, Vec::new()).ok();
            stat.target = target.map(|target| target.to_string_lossy().into_owned());
        }
        stat
    }
}

/// Opens a folder for reading. The path must not end in a link.
pub(super) fn open_folder(path: &str) -> Result<OwnedFd, FileProblem> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = open(path, flags)?;
    check_file_system(&folder, path)?;
    Ok(folder)
}

/// Opens the folder in a place. It must not be a link.
pub(super) fn open_below(place: &FilePlace) -> Result<OwnedFd, FileProblem> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(&place.folder, &*place.name, flags, Mode::empty());
    let folder = opened.map_err(|errno| failed(&place.path, errno))?;
    check_file_system(&folder, &place.path)?;
    Ok(folder)
}

/// Returns the path of a name in a folder, for messages.
pub(super) fn path_below(folder: &str, name: &OsStr) -> String {
    let parent = if folder == "/" { "" } else { folder };
    format!("{parent}/{}", name.to_string_lossy())
}

/// Opens a folder without following the links of `/proc`, which lead to open files of processes, and without following
/// links to hidden folders. The server has checked by the path whether the caller may use those.
fn open(path: &str, flags: OFlags) -> Result<OwnedFd, FileProblem> {
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS);
    let folder = opened.map_err(|errno| failed(path, errno))?;
    let own_link = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let real = std::fs::read_link(own_link).map_err(|error| failed_io(path, &error))?;
    let real = real.to_string_lossy();
    if is_hidden(&real) && !is_hidden(path) {
        let message = format!("{path} is a link to the hidden folder {real}: use that path");
        return Err(FileProblem::new(FileProblemKind::Denied, message));
    }
    Ok(folder)
}

/// Describes the entry at a path.
pub(super) fn describe(path: String, found: &Stat) -> FileStat {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Other,
    };
    let size = match kind {
        FileKind::File => u64::try_from(found.st_size).unwrap_or_default(),
        FileKind::Folder | FileKind::Link | FileKind::Other => 0,
    };
    let nanoseconds = i32::try_from(found.st_mtime_nsec).unwrap_or_default();
    FileStat {
        path,
        kind,
        size,
        // Times outside of the calendar are shown as 1970.
        modified_at: Timestamp::new(found.st_mtime, nanoseconds).unwrap_or_default(),
        version: format!(
            "{size:x}-{:x}-{nanoseconds:x}-{:x}",
            found.st_mtime, found.st_ino
        ),
        target: None,
    }
}

/// Refuses everything but a regular file.
pub(super) fn check_regular(stat: &FileStat) -> Result<(), FileProblem> {
    let path = &stat.path;
    let (kind, message) = match stat.kind {
        FileKind::File => return Ok(()),
        FileKind::Folder => (FileProblemKind::Folder, format!("{path} is a folder")),
        FileKind::Link => {
            let target = stat.target.as_deref().unwrap_or("nowhere");
            let message = format!("{path} is a link to {target}: use that path");
            (FileProblemKind::NotAFile, message)
        }
        FileKind::Other => {
            let message = format!("{path} is a device, a pipe or a socket, and not a file");
            (FileProblemKind::NotAFile, message)
        }
    };
    Err(FileProblem::new(kind, message))
}
