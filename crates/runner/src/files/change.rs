//! Makes folders, and moves and removes files.

use deskhand_core::file::{FileKind, FileProblem, FileProblemKind, FileStat};
use rustix::{
    fs::{AtFlags, RenameFlags, renameat_with, unlinkat},
    io::Errno,
};
use tokio_util::sync::CancellationToken;

use super::{
    kernel::{failed, failed_io},
    leased,
    list::{raw_names, stat},
    place::{FilePlace, open_below, open_folder},
};

/// The deepest tree that is removed. Each level keeps a folder open.
const MOST_DEPTH: usize = 500;
/// The number of names that are read at once. A folder may have more names than fit in memory.
const REMOVED_AT_ONCE: usize = 1000;

/// Options for a removal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Removal<'a> {
    /// True to remove a folder with everything in it.
    pub(super) recursive: bool,
    /// The version that the file must have.
    pub(super) version: Option<&'a str>,
    /// Fires when the removal must stop.
    pub(super) cancel: &'a CancellationToken,
}

/// Makes a folder, with the folders that it is in.
pub(super) fn make_folder(path: &str) -> Result<FileStat, FileProblem> {
    std::fs::create_dir_all(path).map_err(|error| failed_io(path, &error))?;
    // Refuses a folder of the kernel.
    open_folder(path)?;
    stat(path)
}

/// Moves a file or a folder to a path where there is nothing yet.
pub(super) fn move_to(from: &str, to: &str, home: &str) -> Result<FileStat, FileProblem> {
    check_may_go(from, home)?;
    let (source, target) = (FilePlace::find(from)?, FilePlace::find(to)?);
    source.stat()?;
    let moved = renameat_with(
        &source.folder,
        &*source.name,
        &target.folder,
        &*target.name,
        RenameFlags::NOREPLACE,
    );
    moved.map_err(|errno| match errno {
        Errno::INVAL => {
            let message = format!("{from} cannot be moved into itself");
            FileProblem::new(FileProblemKind::Failed, message)
        }
        errno => failed(to, errno),
    })?;
    target.stat()
}

/// Removes a file, a link or a folder.
pub(super) fn remove(path: &str, removal: Removal<'_>, home: &str) -> Result<(), FileProblem> {
    check_may_go(path, home)?;
    let place = FilePlace::find(path)?;
    let found = place.stat()?;
    check_version(&found, removal.version)?;
    match found.kind {
        FileKind::Folder if removal.recursive => remove_tree(&place, removal.cancel, 0),
        FileKind::Folder => {
            let removed = unlinkat(&place.folder, &*place.name, AtFlags::REMOVEDIR);
            removed.map_err(|errno| failed(path, errno))
        }
        FileKind::File | FileKind::Link | FileKind::Other => {
            let removed = unlinkat(&place.folder, &*place.name, AtFlags::empty());
            removed.map_err(|errno| failed(path, errno))
        }
    }
}

/// Removes a folder with everything in it, and stops early when the token fires. It follows no link, even if a folder
/// is replaced by one meanwhile.
fn remove_tree(
    place: &FilePlace,
    cancel: &CancellationToken,
    depth: usize,
) -> Result<(), FileProblem> {
    let path = &place.path;
    if depth > MOST_DEPTH {
        let message = format!("{path} is more than {MOST_DEPTH} folders deep: use a terminal");
        return Err(FileProblem::new(FileProblemKind::TooMuch, message));
    }
    let folder = open_below(place)?;
    loop {
        let names = raw_names(&folder, path, REMOVED_AT_ONCE)?;
        if names.is_empty() {
            break;
        }
        for name in names {
            if cancel.is_cancelled() {
                return Err(leased());
            }
            match unlinkat(&folder, &*name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => remove_tree(&place.below(&folder, name)?, cancel, depth + 1)?,
                Err(errno) => return Err(failed(path, errno)),
            }
        }
    }
    let removed = unlinkat(&place.folder, &*place.name, AtFlags::REMOVEDIR);
    removed.map_err(|errno| failed(path, errno))
}

/// Refuses a file that is not in the expected version.
pub(super) fn check_version(found: &FileStat, expected: Option<&str>) -> Result<(), FileProblem> {
    if expected.is_none_or(|expected| expected == found.version) {
        return Ok(());
    }
    let message = format!("{} was changed in the meantime: read it again", found.path);
    Err(FileProblem::new(FileProblemKind::Changed, message))
}

/// Refuses to move or remove the home folder or one of its parents.
fn check_may_go(path: &str, home: &str) -> Result<(), FileProblem> {
    let rest = home.strip_prefix(path);
    if path == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        let message = format!("{path} cannot be moved or removed: it contains the home folder");
        return Err(FileProblem::new(FileProblemKind::Denied, message));
    }
    Ok(())
}
