//! Reads and replaces the files that the editor works on.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{EditError, text::Text};

/// The largest file that is shown or edited.
pub(super) const LARGEST_BYTES: u64 = 10_000_000;

/// Follows all links from `path`. Returns `None` if there is no such file.
pub(super) fn real_path(path: &str) -> Result<Option<PathBuf>, EditError> {
    if !path.starts_with('/') {
        return Err(EditError::NotAbsolute(path.to_owned()));
    }
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(EditError::BrokenLink(path.to_owned()));
            }
            Ok(None)
        }
        Err(error) => Err(failed(path, error)),
    }
}

/// Reads the file. `path` is only for error messages.
pub(super) fn read(path: &str, real: &Path) -> Result<Text, EditError> {
    let metadata = fs::metadata(real).map_err(|error| failed(path, error))?;
    if metadata.is_dir() {
        return Err(EditError::Folder(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(EditError::NotAFile(path.to_owned()));
    }
    if metadata.len() > LARGEST_BYTES {
        return Err(EditError::TooLarge {
            path: path.to_owned(),
            bytes: metadata.len(),
        });
    }
    let bytes = fs::read(real).map_err(|error| failed(path, error))?;
    let not_text = |error: std::string::FromUtf8Error| EditError::NotText {
        path: path.to_owned(),
        byte: error.utf8_error().valid_up_to(),
    };
    String::from_utf8(bytes).map(Text).map_err(not_text)
}

/// Replaces the file with `text`, or creates it.
///
/// A reader sees either the old or the new content, never a part. The file keeps its mode.
pub(super) fn write(path: &str, real: &Path, text: &Text) -> Result<(), EditError> {
    replace(real, text.0.as_bytes()).map_err(|error| failed(path, error))
}

fn replace(real: &Path, bytes: &[u8]) -> io::Result<()> {
    let no_folder = || io::Error::other("the path has no folder");
    let folder = real.parent().ok_or_else(no_folder)?;
    let name = real.file_name().ok_or_else(no_folder)?.to_string_lossy();
    fs::create_dir_all(folder)?;
    let (temporary, mut file) = create_beside(folder, &name)?;
    let replaced = file.write_all(bytes).and_then(|()| {
        if let Ok(old) = fs::metadata(real) {
            file.set_permissions(old.permissions())?;
        }
        fs::rename(&temporary, real)
    });
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

/// Creates a temporary file in the folder under an unused name.
fn create_beside(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    // Leave room for the suffix, so that the name stays legal.
    let name: String = name.chars().take(40).collect();
    let mut number = 0_u32;
    loop {
        let path = folder.join(format!(".{name}.{}-{number}.new", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn failed(path: &str, source: io::Error) -> EditError {
    EditError::Io {
        path: path.to_owned(),
        source,
    }
}
