//! Putting files into the home folder that people gave the agent.

use std::{io, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::sandbox::KeptFile;

/// Why a file is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error("there is no home folder")]
    NoHome,
    #[error("the file did not arrive whole")]
    Broken(#[from] base64::DecodeError),
    #[error("{0:?} is not a file's name")]
    Name(String),
    #[error("the file could not be written")]
    Io(#[from] io::Error),
}

/// Writes a file; answers its path.
pub(crate) fn keep(file: &KeptFile) -> Result<String, KeepError> {
    let home = std::env::home_dir().ok_or(KeepError::NoHome)?;
    keep_in(&home, file)
}

fn keep_in(home: &Path, file: &KeptFile) -> Result<String, KeepError> {
    if file.name.contains('/') || matches!(&*file.name, "" | "." | "..") {
        return Err(KeepError::Name(file.name.clone()));
    }
    let bytes = STANDARD.decode(&file.base64)?;
    let folder = home.join(&file.folder);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(&file.name);
    std::fs::write(&path, bytes)?;
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_as_it_came_and_may_come_again() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, base64: &str| KeptFile {
            folder: "answers/1".to_owned(),
            name: name.to_owned(),
            base64: base64.to_owned(),
        };
        for _ in 0..2 {
            let path = keep_in(home.path(), &file("a.bin", "AP8K")).unwrap();
            assert_eq!(std::fs::read(path).unwrap(), [0, 255, 10]);
        }
        for name in ["", "..", "a/b"] {
            assert!(keep_in(home.path(), &file(name, "")).is_err(), "{name:?}");
        }
        assert!(keep_in(home.path(), &file("a", "%")).is_err());
    }
}
