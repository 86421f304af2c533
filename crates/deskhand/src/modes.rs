//! Keeps files from other users of the machine.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use rustix::{fs::Mode, process};

/// The bits of a mode that let others in: the group and everybody else.
const OTHERS: u32 = 0o077;

/// Makes the files that this process creates from now on private, unless it says otherwise.
pub(crate) fn keep_new_files_private() {
    process::umask(Mode::from_raw_mode(OTHERS));
}

/// Makes new files readable for all, as in a usual shell. Inside a sandbox there is nobody to keep out.
pub(crate) fn make_new_files_usual() {
    process::umask(Mode::from_raw_mode(0o022));
}

/// Returns true if others may use this file or folder.
pub(crate) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.mode() & OTHERS != 0)
}

/// Returns true if this process owns the file or folder.
pub(crate) fn is_own(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.uid() == process::geteuid().as_raw())
}

/// Takes a file or folder from others, if it exists and they may use it.
pub(crate) fn tighten(path: &Path) -> io::Result<()> {
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.mode() & 0o7777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if mode & OTHERS == 0 {
        return Ok(());
    }
    tracing::info!(path = %path.display(), mode = format!("{mode:o}"), "took the access of others from a file");
    fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))
}
