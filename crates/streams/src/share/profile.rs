//! Keeps the account signed in from one stream to the next: its cookies and local storage, in a file of the data folder.

use std::{io, path::Path};

use bytes::Bytes;
use tokio::{fs, io::AsyncWriteExt};

/// Returns what was kept, if there is anything.
pub(super) async fn read(path: &Path) -> io::Result<Option<Bytes>> {
    match fs::read(path).await {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps a state in place of the one before. Only the server's user can read the file.
pub(super) async fn write(path: &Path, state: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut folders = fs::DirBuilder::new();
    folders.recursive(true).mode(0o700).create(folder).await?;
    // The old one stays whole if the server ends meanwhile.
    let new = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&new).await?;
    file.write_all(state).await?;
    file.sync_all().await?;
    fs::rename(&new, path).await
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn a_state_is_kept_for_the_server_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jamie").join("account.json");
        assert_eq!(read(&path).await.unwrap(), None);
        for state in ["{\"cookies\": [1]}", "{}"] {
            write(&path, state.as_bytes()).await.unwrap();
            assert_eq!(read(&path).await.unwrap(), Some(Bytes::from(state)));
        }
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
}
