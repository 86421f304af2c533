//! Puts files that people gave the agent into its home folder.

use std::{io, path::Path};

use deskhand_core::sandbox::{FilePut, PutFile};

/// Reasons why a file could not be put into the home folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PutFileError {
    #[error("there is no home folder")]
    NoHome,
    #[error("{0:?} is not a valid file name")]
    Name(String),
    #[error("could not write the file")]
    Io(#[from] io::Error),
}

/// Writes a file and returns its path.
pub(crate) fn put_file(file: &PutFile) -> Result<FilePut, PutFileError> {
    let home = std::env::home_dir().ok_or(PutFileError::NoHome)?;
    put_file_in(&home, file)
}

fn put_file_in(home: &Path, file: &PutFile) -> Result<FilePut, PutFileError> {
    if file.name.contains('/') || matches!(&*file.name, "" | "." | "..") {
        return Err(PutFileError::Name(file.name.clone()));
    }
    let folder = home.join(&file.folder);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(&file.name);
    std::fs::write(&path, &file.bytes)?;
    Ok(FilePut {
        path: path.display().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_file_is_written_as_it_came_and_may_come_again() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str| PutFile {
            folder: "answers/1".to_owned(),
            name: name.to_owned(),
            bytes: Bytes::from_static(&[0, 255, 10]),
        };
        for _ in 0..2 {
            let put = put_file_in(home.path(), &file("a.bin")).unwrap();
            assert_eq!(std::fs::read(put.path).unwrap(), [0, 255, 10]);
        }
        for name in ["", "..", "a/b"] {
            assert!(put_file_in(home.path(), &file(name)).is_err(), "{name:?}");
        }
    }
}
