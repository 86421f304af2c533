//! Lists folders and describes files.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use deskhand_core::file::{FileProblem, FileProblemKind, FileStat, FolderListing, LONGEST_LISTING};
use rustix::fs::{AtFlags, Dir, fstat, statat};

use super::{
    kernel::failed,
    place::{FilePlace, describe, open_folder, path_below},
};

/// The most entries of a folder that can be listed.
const MOST_ENTRIES: usize = 100_000;

/// Returns the facts about the thing at an absolute path.
pub(super) fn stat(path: &str) -> Result<FileStat, FileProblem> {
    if path != "/" {
        return FilePlace::find(path)?.stat();
    }
    let root = open_folder(path)?;
    let found = fstat(&root).map_err(|errno| failed(path, errno))?;
    Ok(describe(path.to_owned(), &found))
}

/// Lists a folder in the order of names, from the first name after `after` on.
pub(super) fn list(
    path: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<FolderListing, FileProblem> {
    let folder = open_folder(path)?;
    let (mut names, n_unnamed) = names(&folder, path)?;
    names.retain(|name| after.is_none_or(|after| name.as_str() > after));
    names.sort_unstable();
    let limit = usize::try_from(limit.clamp(1, LONGEST_LISTING)).unwrap_or(usize::MAX);
    let has_more = names.len() > limit;
    names.truncate(limit);
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        // An entry that has gone in the meantime is left out.
        let Ok(found) = statat(&folder, &*name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let place = FilePlace {
            folder: folder.try_clone().map_err(|error| {
                FileProblem::new(FileProblemKind::Failed, format!("{path}: {error}"))
            })?,
            path: path_below(path, name.as_ref()),
            name: name.into(),
        };
        entries.push(place.describe(&found));
    }
    Ok(FolderListing {
        path: path.to_owned(),
        entries,
        has_more,
        n_unnamed,
    })
}

/// Returns the names in a folder as they are, or the first of them if there are more than `most`.
pub(super) fn raw_names(
    folder: impl std::os::fd::AsFd,
    path: &str,
    most: usize,
) -> Result<Vec<OsString>, FileProblem> {
    let entries = Dir::read_from(folder).map_err(|errno| failed(path, errno))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|errno| failed(path, errno))?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
        if names.len() >= most {
            break;
        }
    }
    Ok(names)
}

/// Returns the names in a folder, and the number of those that are not UTF-8.
pub(super) fn names(
    folder: impl std::os::fd::AsFd,
    path: &str,
) -> Result<(Vec<String>, u64), FileProblem> {
    let entries = Dir::read_from(folder).map_err(|errno| failed(path, errno))?;
    let (mut names, mut n_unnamed) = (Vec::new(), 0);
    for entry in entries {
        let entry = entry.map_err(|errno| failed(path, errno))?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) => names.push(name.to_owned()),
            Err(_) => n_unnamed += 1,
        }
        if names.len() > MOST_ENTRIES {
            return Err(FileProblem::new(
                FileProblemKind::TooMuch,
                format!("{path} has more than {MOST_ENTRIES} entries: use a terminal"),
            ));
        }
    }
    Ok((names, n_unnamed))
}
