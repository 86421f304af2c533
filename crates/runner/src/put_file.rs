//! Puts files that people gave the agent into its home folder.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use deskhand_core::{
    id::RequestId,
    sandbox::{FilePut, PutFile},
};

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
    fs::create_dir_all(&folder)?;
    let path = folder.join(&file.name);
    replace(&folder, &path, &file.bytes)?;
    Ok(FilePut {
        path: path.display().to_string(),
    })
}

/// Writes a new file and gives it the name. A file or a link that a program has left under the name is not written to.
pub(crate) fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = folder.join(format!(".put-{}", RequestId::new()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // It may not exist.
        let _ = fs::remove_file(&new);
    }
    written
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
        // A program's link or other name for the file leads nowhere.
        let (put, copy) = (
            home.path().join("answers/1/a.bin"),
            home.path().join("copy"),
        );
        std::fs::write(&copy, "a program's own").unwrap();
        std::fs::remove_file(&put).unwrap();
        std::os::unix::fs::symlink(&copy, &put).unwrap();
        put_file_in(home.path(), &file("a.bin")).unwrap();
        std::fs::remove_file(&put).unwrap();
        std::fs::hard_link(&copy, &put).unwrap();
        put_file_in(home.path(), &file("a.bin")).unwrap();
        assert_eq!(std::fs::read(&put).unwrap(), [0, 255, 10]);
        assert_eq!(std::fs::read(&copy).unwrap(), b"a program's own");
        assert_eq!(std::fs::read_dir(put.parent().unwrap()).unwrap().count(), 1);
        for name in ["", "..", "a/b"] {
            assert!(put_file_in(home.path(), &file(name)).is_err(), "{name:?}");
        }
    }
}
