//! SQLite: one connection that writes, and as many that read as there are threads that read.
//!
//! Statements run on the calling thread: each takes some microseconds, less than a hop to another thread. In WAL mode
//! readers never wait for the writer, and a commit does not wait for the disk.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, config::DbConfig, types::ValueRef};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

use super::{
    SqlError,
    value::{Kind, Row, Value},
};

/// The longest wait for another program that uses the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of statements that stay prepared on a connection.
const N_PREPARED: usize = 128;

#[derive(Debug)]
pub(super) struct Sqlite {
    path: PathBuf,
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
}

/// The writing connection within a transaction. It is rolled back unless it is committed.
#[derive(Debug)]
pub(crate) struct SqliteTransaction {
    connection: OwnedMutexGuard<Connection>,
    is_open: bool,
}

impl Sqlite {
    pub(super) fn open(path: PathBuf) -> Result<Self, SqlError> {
        let writer = Connection::open(&path)?;
        writer.pragma_update(None, "journal_mode", "wal")?;
        // In WAL mode no commit is lost if the process dies. If the machine dies, no commit is lost that was
        // checkpointed.
        writer.pragma_update(None, "synchronous", "normal")?;
        prepare(&writer)?;
        Ok(Self {
            path,
            writer: Arc::new(tokio::sync::Mutex::new(writer)),
            readers: Mutex::default(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn begin(&self) -> Result<SqliteTransaction, SqlError> {
        let connection = Arc::clone(&self.writer).lock_owned().await;
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(SqliteTransaction {
            connection,
            is_open: true,
        })
    }

    /// Runs a single writing statement.
    pub(super) async fn write_count(&self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        execute(&*self.writer.lock().await, sql, values)
    }

    pub(super) fn read(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => self.open_reader()?,
        };
        let rows = query(&reader, sql, values);
        self.idle().push(reader);
        rows
    }

    /// Writes everything into the one file and releases it.
    pub(super) async fn close(&self) -> Result<(), SqlError> {
        self.idle().clear();
        let writer = self.writer.lock().await;
        writer.pragma(None, "wal_checkpoint", "truncate", |_| Ok(()))?;
        Ok(())
    }

    fn open_reader(&self) -> Result<Connection, SqlError> {
        let reader = Connection::open(&self.path)?;
        reader.pragma_update(None, "query_only", true)?;
        prepare(&reader)?;
        Ok(reader)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // Nothing panics while the lock is held.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteTransaction {
    pub(super) fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        execute(&self.connection, sql, values)
    }

    pub(super) fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
        query(&self.connection, sql, values)
    }

    /// Runs several statements without values.
    pub(super) fn run_script(&self, sql: &str) -> Result<(), SqlError> {
        Ok(self.connection.execute_batch(sql)?)
    }

    pub(super) fn commit(mut self) -> Result<(), SqlError> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        // A failed statement may have rolled back by itself.
        if self.is_open
            && !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "could not roll back a transaction");
        }
    }
}

fn prepare(connection: &Connection) -> Result<(), SqlError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(N_PREPARED);
    // Otherwise SQLite plans a statement with `LIMIT $1` again for each value, which takes longer than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

fn execute(connection: &Connection, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, values)?;
    let n_changed = statement.raw_execute()?;
    Ok(u64::try_from(n_changed).unwrap_or(u64::MAX))
}

fn query(connection: &Connection, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, values)?;
    let names = statement.column_names();
    let columns: Arc<[String]> = names.into_iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        let mut values = Vec::with_capacity(columns.len());
        for index in 0..columns.len() {
            values.push(value(row.get_ref(index)?));
        }
        rows.push(Row::new(Arc::clone(&columns), values));
    }
    Ok(rows)
}

/// Binds `$1`, `$2`, …, which SQLite treats as names and numbers by their first appearance.
fn bind(statement: &mut rusqlite::Statement<'_>, values: &[Value]) -> Result<(), SqlError> {
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).unwrap_or_default();
        let number: Option<usize> = name.get(1..).and_then(|digits| digits.parse().ok());
        let value = number.and_then(|number| values.get(number.wrapping_sub(1)));
        let value = value.ok_or(rusqlite::Error::InvalidParameterCount(values.len(), index))?;
        match value {
            Value::Null(_) => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(number) => statement.raw_bind_parameter(index, number)?,
            Value::Bool(yes) => statement.raw_bind_parameter(index, yes)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
            Value::Uuid(uuid) => statement.raw_bind_parameter(index, uuid.as_bytes().as_slice())?,
            Value::Bytes(bytes) => statement.raw_bind_parameter(index, bytes)?,
        }
    }
    Ok(())
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null(Kind::Text),
        ValueRef::Integer(number) => Value::Int(number),
        // No column holds a real number. Text is the least surprising form in an error message.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        // Ids are stored as sixteen bytes.
        ValueRef::Blob(bytes) => match Uuid::from_slice(bytes) {
            Ok(id) => Value::Uuid(id),
            Err(_) => Value::Bytes(bytes.to_vec()),
        },
    }
}
