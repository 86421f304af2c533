//! The lock that keeps a second server away from a database.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::{Database, Store, StoreError, postgres::PostgresLock};

/// A lock on a database. It is released when it is dropped or the process ends.
#[derive(Debug)]
pub(crate) enum DatabaseLock {
    /// A lock on a file beside the database. A lock on the file itself would interfere with SQLite's own.
    Sqlite(#[expect(dead_code, reason = "held, never read")] File),
    Postgres(PostgresLock),
}

impl Store {
    /// Takes the lock. Returns `None` if another process holds it.
    pub(crate) async fn try_lock(&self) -> Result<Option<DatabaseLock>, StoreError> {
        match &*self.database {
            Database::Sqlite(sqlite) => {
                let lock = try_lock_file(sqlite.path())?;
                Ok(lock.map(DatabaseLock::Sqlite))
            }
            Database::Postgres(postgres) => {
                let lock = postgres.try_lock().await?;
                Ok(lock.map(DatabaseLock::Postgres))
            }
        }
    }
}

impl DatabaseLock {
    /// Returns true if the lock is held. A lost connection to PostgreSQL loses it.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(lock) => lock.is_held(),
        }
    }

    /// Checks over the network that the lock is held.
    pub(crate) async fn is_alive(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(lock) => lock.is_alive().await,
        }
    }
}

fn try_lock_file(database: &Path) -> Result<Option<File>, StoreError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Lock { path, source }
    };
    // There is one lock per file, however its address is written.
    let mut path = database
        .canonicalize()
        .map_err(failed(database))?
        .into_os_string();
    path.push(".lock");
    let path = PathBuf::from(path);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(StoreError::Lock { path, source }),
    }
}
