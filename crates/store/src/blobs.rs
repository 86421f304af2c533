//! Blobs as files in a folder, named by their content.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::blob::{BlobError, BlobFormat, BlobName, Blobs};
use sha2::{Digest, Sha256};

/// The content of a trial file: large enough that a full disk refuses it.
const TRIAL: [u8; 4096] = [0; 4096];

/// Blobs in `DIR/ab/abcdef….png`.
///
/// A blob appears whole or not at all: it is written to a temporary file beside its place and renamed. The time of its
/// file is the last time that its bytes were stored.
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    dir: PathBuf,
    /// Held for reading while a blob is stored, and for writing while one is removed.
    removing: Arc<RwLock<()>>,
}

impl FolderBlobs {
    /// Opens the folder `dir`, and creates it if it is missing.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&dir)?;
        Ok(Self {
            dir,
            removing: Arc::default(),
        })
    }

    /// Stores bytes under the name that belongs to their digest.
    async fn store(
        &self,
        bytes: Bytes,
        name: impl FnOnce([u8; 32]) -> BlobName + Send + 'static,
    ) -> Result<BlobName, BlobError> {
        let store = self.clone();
        let kept = tokio::task::spawn_blocking(move || {
            let name = name(Sha256::digest(&bytes).into());
            let path = store.path(&name);
            let _storing = store
                .removing
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if !stored_again(&path)? {
                write_whole(&path, &bytes)?;
            }
            Ok(name)
        });
        kept.await.map_err(io::Error::other)?.map_err(not_kept)
    }

    fn path(&self, name: &BlobName) -> PathBuf {
        let name = name.as_str();
        self.dir.join(&name[..2]).join(name)
    }
}

#[async_trait]
impl Blobs for FolderBlobs {
    async fn put(&self, bytes: Bytes, format: BlobFormat) -> Result<BlobName, BlobError> {
        self.store(bytes, move |digest| BlobName::of(digest, format))
            .await
    }

    async fn put_file(&self, bytes: Bytes) -> Result<BlobName, BlobError> {
        self.store(bytes, BlobName::of_file).await
    }

    async fn get(&self, name: &BlobName) -> Result<Bytes, BlobError> {
        let path = self.path(name);
        let read = tokio::task::spawn_blocking(move || std::fs::read(path));
        match read.await.map_err(io::Error::other)? {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(BlobError::Missing(name.clone()))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn remove(&self, name: &BlobName, grace: Duration) -> Result<bool, BlobError> {
        let (store, path) = (self.clone(), self.path(name));
        let removed = tokio::task::spawn_blocking(move || {
            let _removing = store
                .removing
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            let stored_at = match std::fs::metadata(&path) {
                Ok(file) => file.modified()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
                Err(error) => return Err(error),
            };
            // A time in the future counts as now.
            if stored_at.elapsed().unwrap_or_default() < grace {
                return Ok(false);
            }
            std::fs::remove_file(&path)?;
            Ok(true)
        });
        Ok(removed.await.map_err(io::Error::other)??)
    }

    async fn check(&self) -> Result<(), BlobError> {
        let trial = self.dir.join(format!(".{}", uuid::Uuid::now_v7()));
        let tried = tokio::task::spawn_blocking(move || {
            let written = std::fs::write(&trial, TRIAL);
            let removed = std::fs::remove_file(&trial);
            written.and(removed)
        });
        tried.await.map_err(io::Error::other)?.map_err(not_kept)
    }
}

/// Notes that a blob was stored once more. Returns `false` if there is no file of it.
#[expect(
    clippy::disallowed_methods,
    reason = "a file's time is compared with the times that the system gives to new files"
)]
fn stored_again(path: &Path) -> io::Result<bool> {
    match File::options().write(true).open(path) {
        Ok(file) => {
            file.set_modified(SystemTime::now())?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn not_kept(error: io::Error) -> BlobError {
    let is_full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    if is_full {
        BlobError::Full(error)
    } else {
        BlobError::Io(error)
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let beside = folder.join(format!(".{}", uuid::Uuid::now_v7()));
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // Half a file is useless, and its removal can only fail for the reason that the write did.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
