//! Removes files that untrusted programs made, however deep their folders are.
//!
//! A folder inside another one is first moved up to the top, and emptied there. So a tree of any depth takes a fixed
//! number of descriptors and no recursion. Only folders are opened. Links, pipes and devices are removed by name.

use std::{
    ffi::CStr,
    fs, io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, Dir, DirEntry, FileType, Mode, OFlags, chmodat, fchmod, open, openat, renameat,
        statat, unlinkat,
    },
    io::Errno,
    process::geteuid,
};

use super::absent_is_fine;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a folder and everything in it. The folder itself must be one that only the server writes to.
///
/// No other process may use the content meanwhile.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    let top = match open(path, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        top => top?,
    };
    while remove_entries(&top)? {}
    absent_is_fine(fs::remove_dir(path))
}

/// Removes what is in the top folder, except for folders that were moved up meanwhile. Returns false if it was empty.
fn remove_entries(top: &OwnedFd) -> io::Result<bool> {
    let mut has_any = false;
    for entry in Dir::read_from(top)? {
        let entry = entry?;
        if is_dots(entry.file_name()) {
            continue;
        }
        has_any = true;
        if !is_folder(top, &entry)? {
            unlinkat(top, entry.file_name(), AtFlags::empty())?;
            continue;
        }
        lift_folders(top, entry.file_name())?;
        match unlinkat(top, entry.file_name(), AtFlags::REMOVEDIR) {
            // Some file systems do not list every entry of a folder that changes. The next pass finds the rest.
            Ok(()) | Err(Errno::NOTEMPTY) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(has_any)
}

/// Removes the files of a folder, and moves the folders in it up.
fn lift_folders(top: &OwnedFd, name: &CStr) -> io::Result<()> {
    let open_it = || openat(top, name, FOLDER, Mode::empty());
    let folder = with_access(top, name, open_it)?;
    if !geteuid().is_root() {
        // The agent may have removed its own access.
        fchmod(&folder, Mode::RWXU)?;
    }
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_dots(name) {
            continue;
        }
        if is_folder(&folder, &entry)? {
            // No two folders of a file system have the same number.
            let free_name = format!("removed-{}", entry.ino());
            let lift = || renameat(&folder, name, top, free_name.as_str());
            with_access(&folder, name, lift)?;
        } else {
            unlinkat(&folder, name, AtFlags::empty())?;
        }
    }
    Ok(())
}

/// Tries something with a folder, and once more with access to it if there was none.
fn with_access<T>(
    parent: &OwnedFd,
    name: &CStr,
    attempt: impl Fn() -> rustix::io::Result<T>,
) -> io::Result<T> {
    match attempt() {
        Err(Errno::ACCESS) => {
            chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
            Ok(attempt()?)
        }
        result => Ok(result?),
    }
}

/// Returns true for a folder itself, and false for a link to one.
fn is_folder(parent: impl AsFd, entry: &DirEntry) -> io::Result<bool> {
    let kind = entry.file_type();
    if kind != FileType::Unknown {
        return Ok(kind == FileType::Directory);
    }
    let found = statat(parent, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use std::{
        fs::Permissions,
        os::unix::fs::{PermissionsExt, symlink},
        path::PathBuf,
        thread,
    };

    use super::*;

    /// More levels than a process has descriptors, and than fit on a stack.
    const N_LEVELS: usize = 10_000;

    /// Makes a chain of folders by putting each into a new one, so that no path gets long.
    fn make_chain(dir: &Path) {
        let level = |n: usize| dir.join(format!("level-{n}"));
        fs::create_dir(level(0)).unwrap();
        fs::write(level(0).join("bottom"), "x").unwrap();
        for n in 1..N_LEVELS {
            fs::create_dir(level(n)).unwrap();
            fs::rename(level(n - 1), level(n).join("deeper")).unwrap();
        }
    }

    #[test]
    fn a_very_deep_tree_is_removed_with_a_small_stack_and_few_descriptors() {
        // In memory, since so many changes of a disk take a while.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let dir = in_memory.unwrap_or_else(|_| tempfile::tempdir().unwrap());
        let tree = dir.path().join("session");
        fs::create_dir_all(tree.join("home")).unwrap();
        make_chain(&tree.join("home"));

        let removed = tree.clone();
        thread::Builder::new()
            .stack_size(128 * 1024)
            .spawn(move || remove_tree(&removed))
            .unwrap()
            .join()
            .unwrap()
            .unwrap();

        assert!(!tree.exists());
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "x").unwrap();
        let tree = dir.path().join("session");
        let inner: PathBuf = tree.join("home/a/b");
        fs::create_dir_all(&inner).unwrap();
        symlink(&outside, inner.join("folder")).unwrap();
        symlink(outside.join("file"), inner.join("file")).unwrap();
        fs::hard_link(outside.join("file"), inner.join("hard")).unwrap();
        fs::set_permissions(&inner, Permissions::from_mode(0o000)).unwrap();

        remove_tree(&tree).unwrap();
        remove_tree(&tree).unwrap();

        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "x");
    }
}
