//! The database: opening it, and the few functions through which the rest of the crate uses it.

mod lock;
mod migrate;
mod postgres;
mod sqlite;
mod tls;
mod value;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

pub(crate) use self::{
    lock::DatabaseLock,
    value::{Row, Value},
};
use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use self::{
    postgres::{Postgres, PostgresTransaction},
    sqlite::{Sqlite, SqliteTransaction},
    tls::TlsError,
};
use crate::servers::{InUse, ServerId};

/// The store. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Store {
    database: Arc<Database>,
    /// The server that uses it, once the server has claimed the database.
    pub(crate) server: Arc<OnceLock<ServerId>>,
    /// The address in a form that people may see.
    pub(crate) shown: Arc<str>,
}

#[derive(Debug)]
enum Database {
    Sqlite(Arc<Sqlite>),
    Postgres(Postgres),
}

/// Statements that take effect together or not at all. They are rolled back unless the transaction is committed.
#[derive(Debug)]
pub(crate) enum Transaction {
    Sqlite(SqliteTransaction),
    Postgres(Box<PostgresTransaction>),
}

/// The reason why something was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("could not open the database {url}")]
    Open { url: String, source: SqlError },
    #[error("could not migrate the database {url}; nothing was started")]
    Migrate { url: String, source: Box<Self> },
    #[error(
        "the database was written by a newer Deskhand: it is at migration {found}, and this program knows \
         {known}; use a newer Deskhand"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "{0} is not the address of a database: use sqlite:///PATH or postgres://USER:PASSWORD@HOST/NAME"
    )]
    Address(String),
    #[error("the database refused a statement")]
    Database(#[from] SqlError),
    #[error("the database contains a value that this program cannot read: {0}")]
    Unreadable(String),
    #[error("could not write a value as JSON")]
    Encode(#[source] serde_json::Error),
    #[error("{0} is no longer in the database")]
    Gone(String),
    #[error("the task that did this ended before it was done")]
    Interrupted(#[source] tokio::task::JoinError),
    #[error("{0}")]
    InUse(Box<InUse>),
    #[error("could not lock the file {path}")]
    Lock {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// The error of a database's driver.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no connection: {0}")]
    Unreachable(String),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl StoreError {
    /// Returns true if the database could not be reached, rather than refused. The statement may have been carried
    /// out.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Database(error) | Self::Open { source: error, .. } => error.is_unreachable(),
            Self::Migrate { source, .. } => source.is_unreachable(),
            Self::Newer { .. }
            | Self::Address(_)
            | Self::Unreadable(_)
            | Self::Encode(_)
            | Self::Gone(_)
            | Self::Interrupted(_)
            | Self::InUse(_)
            | Self::Lock { .. } => false,
        }
    }
}

impl SqlError {
    /// Returns true if the database could not be reached, rather than refused.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Sqlite(_) | Self::Tls(_) => false,
            Self::Postgres(error) => error.code().is_none_or(is_going),
            Self::Unreachable(_) => true,
        }
    }

    /// Returns true if a row was refused because another one has the same unique value.
    pub(crate) fn is_duplicate(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                let code = error.sqlite_error().map(|error| error.extended_code);
                code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
            }
            Self::Postgres(error) => error.code() == Some(&SqlState::UNIQUE_VIOLATION),
            Self::Unreachable(_) | Self::Tls(_) => false,
        }
    }
}

impl From<PoolError> for SqlError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Postgres(error),
            other @ (PoolError::Timeout(_)
            | PoolError::Closed
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(_)) => Self::Unreachable(other.to_string()),
        }
    }
}

impl Store {
    /// Opens the database at `url` (`sqlite:///path/file.db` or `postgres://…`), and creates or migrates it if
    /// needed.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let shown = shown_address(url);
        let database = if let Some(path) = url.strip_prefix("sqlite://") {
            let sqlite = Sqlite::open(PathBuf::from(path));
            sqlite.map(|sqlite| Database::Sqlite(Arc::new(sqlite)))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Postgres::open(url).map(Database::Postgres)
        } else {
            return Err(StoreError::Address(shown));
        };
        let database = database.map_err(|source| StoreError::Open {
            url: shown.clone(),
            source,
        })?;
        let store = Self {
            database: Arc::new(database),
            server: Arc::default(),
            shown: shown.as_str().into(),
        };
        match store.migrate().await {
            Ok(()) => Ok(store),
            Err(StoreError::Database(source)) if source.is_unreachable() => {
                Err(StoreError::Open { url: shown, source })
            }
            Err(source) => Err(StoreError::Migrate {
                url: shown,
                source: Box::new(source),
            }),
        }
    }

    /// Writes what is still in memory and releases the database.
    pub async fn close(self) -> Result<(), StoreError> {
        match &*self.database {
            Database::Sqlite(sqlite) => Ok(sqlite.close().await?),
            Database::Postgres(postgres) => {
                postgres.close();
                Ok(())
            }
        }
    }

    pub(crate) async fn begin(&self) -> Result<Transaction, StoreError> {
        Ok(match &*self.database {
            Database::Sqlite(sqlite) => Transaction::Sqlite(sqlite.begin().await?),
            Database::Postgres(postgres) => {
                Transaction::Postgres(Box::new(postgres.begin().await?))
            }
        })
    }

    /// Runs a single writing statement and returns the number of rows it changed.
    pub(crate) async fn write(
        &self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<u64, StoreError> {
        let values = values.as_ref();
        Ok(match &*self.database {
            Database::Sqlite(sqlite) => sqlite.write_count(sql, values).await?,
            Database::Postgres(postgres) => postgres.execute(sql, values).await?,
        })
    }

    /// Reads the first row.
    pub(crate) async fn one(
        &self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// Reads all rows.
    pub(crate) async fn all(
        &self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<Vec<Row>, StoreError> {
        let values = values.as_ref();
        Ok(match &*self.database {
            Database::Sqlite(sqlite) => sqlite.read(sql, values)?,
            Database::Postgres(postgres) => postgres.query(sql, values).await?,
        })
    }

    /// Reads many or long rows, without holding up the calling thread.
    pub(crate) async fn all_apart<const N: usize>(
        &self,
        sql: &'static str,
        values: [Value; N],
    ) -> Result<Vec<Row>, StoreError> {
        match &*self.database {
            Database::Sqlite(sqlite) => {
                let sqlite = Arc::clone(sqlite);
                let read = tokio::task::spawn_blocking(move || sqlite.read(sql, &values));
                Ok(read.await.map_err(StoreError::Interrupted)??)
            }
            Database::Postgres(postgres) => Ok(postgres.query(sql, &values).await?),
        }
    }
}

impl Transaction {
    /// Runs a statement and returns the number of rows it changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<u64, StoreError> {
        let values = values.as_ref();
        Ok(match self {
            Self::Sqlite(sqlite) => sqlite.execute(sql, values)?,
            Self::Postgres(postgres) => postgres.execute(sql, values).await?,
        })
    }

    /// Runs a statement and returns its first row.
    pub(crate) async fn one(
        &mut self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn all(
        &mut self,
        sql: &str,
        values: impl AsRef<[Value]>,
    ) -> Result<Vec<Row>, StoreError> {
        let values = values.as_ref();
        Ok(match self {
            Self::Sqlite(sqlite) => sqlite.query(sql, values)?,
            Self::Postgres(postgres) => postgres.query(sql, values).await?,
        })
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.commit()?,
            Self::Postgres(postgres) => postgres.commit().await?,
        }
        Ok(())
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Runs several statements without values.
    async fn run_script(&mut self, sql: &str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.run_script(sql)?,
            Self::Postgres(postgres) => postgres.run_script(sql).await?,
        }
        Ok(())
    }
}

/// Returns true if the code means that the database server is shutting down, not up yet or out of connections.
fn is_going(state: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ]
    .contains(state)
}

/// Returns a database's address without its password, for people.
pub fn shown_address(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.rsplit_once('@') {
        Some((who, place)) => {
            let name = who.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}@{place}")
        }
        None => url.to_owned(),
    }
}

/// Returns a time as it is stored: milliseconds since 1970.
pub(crate) fn millis(at: jiff::Timestamp) -> Value {
    at.as_millisecond().into()
}

/// Reads a stored time.
pub(crate) fn timestamp(millis: i64) -> Result<jiff::Timestamp, StoreError> {
    jiff::Timestamp::from_millisecond(millis)
        .map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// Writes a value as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::Encode)
}

/// Reads stored JSON.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// Reads a stored name.
pub(crate) fn parsed<T>(name: &str) -> Result<T, StoreError>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    name.parse()
        .map_err(|error: T::Err| StoreError::Unreadable(error.to_string()))
}

/// Reads a stored count.
pub(crate) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// Returns a count as it is stored. No log is 2^63 events long.
pub(crate) fn stored_count(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
