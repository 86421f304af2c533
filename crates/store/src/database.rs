//! The database: how it is opened, and the few words in which the rest of the crate speaks to it.

use std::time::Duration;

use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbErr,
    QueryResult, Statement, TransactionTrait, Value,
};
use sea_orm_migration::MigratorTrait;

use crate::migrations::Migrator;

/// How many connections read at once.
const N_READERS: u32 = 4;

/// The store. Clones share its connections.
///
/// SQLite lets one connection write at a time, so there is exactly one that does; the others
/// read, and in WAL mode they never wait for it.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) reader: DatabaseConnection,
    writer: DatabaseConnection,
}

/// Why something was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database {url} could not be opened")]
    Open { url: String, source: DbErr },
    #[error("the database {url} could not be brought up to date; nothing was started")]
    Migrate { url: String, source: DbErr },
    #[error("the database did not do what it was asked")]
    Database(#[from] DbErr),
    #[error("the database holds something that cannot be read: {0}")]
    Unreadable(String),
}

impl Store {
    /// Opens the database at `url` (`sqlite:///path/file.db`), made and migrated where needed.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let open = |source| StoreError::Open {
            url: url.to_owned(),
            source,
        };
        let writer = Database::connect(options(url, 1)).await.map_err(open)?;
        Migrator::up(&writer, None)
            .await
            .map_err(|source| StoreError::Migrate {
                url: url.to_owned(),
                source,
            })?;
        let reader = Database::connect(options(url, N_READERS))
            .await
            .map_err(open)?;
        Ok(Self { reader, writer })
    }

    /// Writes what is still in memory and lets go of the database.
    pub async fn close(self) -> Result<(), StoreError> {
        self.reader.close().await?;
        self.writer.close().await?;
        Ok(())
    }

    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction, StoreError> {
        Ok(self.writer.begin().await?)
    }

    /// Runs a single writing statement; tells how many rows it changed.
    pub(crate) async fn write(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<u64, StoreError> {
        execute(&self.writer, sql, values).await
    }

    /// Runs a single writing statement that returns a row.
    pub(crate) async fn write_one(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Option<QueryResult>, StoreError> {
        one(&self.writer, sql, values).await
    }
}

fn options(url: &str, n_connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options
        .min_connections(1)
        .max_connections(n_connections)
        .acquire_timeout(Duration::from_secs(10))
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(|sqlite| {
            use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
            sqlite
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                // In WAL mode this loses no commit when the process dies, and none that was
                // checkpointed when the machine does.
                .synchronous(SqliteSynchronous::Normal)
                .foreign_keys(true)
                .busy_timeout(Duration::from_secs(10))
        });
    options
}

/// A statement with `$1`, `$2`, … which both databases understand.
fn statement(
    connection: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    Statement::from_sql_and_values(connection.get_database_backend(), sql, values)
}

pub(crate) async fn execute(
    connection: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64, StoreError> {
    Ok(connection
        .execute_raw(statement(connection, sql, values))
        .await?
        .rows_affected())
}

pub(crate) async fn one(
    connection: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Option<QueryResult>, StoreError> {
    Ok(connection
        .query_one_raw(statement(connection, sql, values))
        .await?)
}

pub(crate) async fn all(
    connection: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<QueryResult>, StoreError> {
    Ok(connection
        .query_all_raw(statement(connection, sql, values))
        .await?)
}

/// A time as it is stored: milliseconds since 1970.
pub(crate) fn millis(at: jiff::Timestamp) -> Value {
    at.as_millisecond().into()
}

/// A stored time.
pub(crate) fn timestamp(millis: i64) -> Result<jiff::Timestamp, StoreError> {
    jiff::Timestamp::from_millisecond(millis)
        .map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// A stored number that counts something.
pub(crate) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// A count as it is stored. No log is 2^63 events long.
pub(crate) fn stored_count(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
