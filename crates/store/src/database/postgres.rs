//! PostgreSQL: a pool of connections, each with its prepared statements.

use std::{sync::Arc, time::Duration};

use bytes::BytesMut;
use deadpool_postgres::{
    Client, ClientWrapper, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime,
};
use futures::FutureExt;
use tokio_postgres::{
    Column, Statement,
    types::{IsNull, ToSql, Type, to_sql_checked},
};
use uuid::Uuid;

use super::{
    SqlError, tls,
    value::{Kind, Row, Value},
};

const N_CONNECTIONS: usize = 16;

/// The longest wait for a free or a new connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Lets PostgreSQL notice within half a minute that the other machine is gone, and release the locks of its
/// connection. A process that ends closes the connection and does not need this.
const NOTICE_LOST_PEERS: &str =
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

/// The lock of the server that uses the schema. The first number only has to be one that no other program is likely
/// to use.
const TRY_LOCK: &str =
    "SELECT pg_try_advisory_lock(1684370292, hashtext(COALESCE(current_schema(), ''))) AS is_held";

#[derive(Debug)]
pub(super) struct Postgres {
    pool: Pool,
}

/// A connection within a transaction. It is rolled back unless it is committed.
#[derive(Debug)]
pub(crate) struct PostgresTransaction {
    /// `None` once the transaction has ended.
    client: Option<Client>,
}

/// A connection outside the pool, with an advisory lock that ends with it.
#[derive(Debug)]
pub(crate) struct PostgresLock {
    client: ClientWrapper,
}

impl Postgres {
    pub(super) fn open(url: &str) -> Result<Self, SqlError> {
        let (config, tls) = tls::read_address(url)?;
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(config, tls, ManagerConfig { recycling_method });
        let pool = Pool::builder(manager)
            .max_size(N_CONNECTIONS)
            .wait_timeout(Some(CONNECT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| SqlError::Unreachable(error.to_string()))?;
        Ok(Self { pool })
    }

    async fn client(&self) -> Result<Client, SqlError> {
        Ok(self.pool.get().await?)
    }

    pub(super) async fn begin(&self) -> Result<PostgresTransaction, SqlError> {
        let client = self.client().await?;
        client.batch_execute("BEGIN").await?;
        Ok(PostgresTransaction {
            client: Some(client),
        })
    }

    pub(super) async fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
        query(&self.client().await?, sql, values).await
    }

    pub(super) async fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        execute(&self.client().await?, sql, values).await
    }

    /// Takes the lock of the server that uses the database. Returns `None` if another server holds it.
    pub(super) async fn try_lock(&self) -> Result<Option<PostgresLock>, SqlError> {
        // The connection leaves the pool, which could hand it to others or close it.
        let client = Object::take(self.client().await?);
        client.batch_execute(NOTICE_LOST_PEERS).await?;
        let is_held = client.query_one(TRY_LOCK, &[]).await?.try_get("is_held")?;
        Ok(Some(PostgresLock { client }).filter(|_| is_held))
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }
}

impl PostgresLock {
    pub(super) fn is_held(&self) -> bool {
        !self.client.is_closed()
    }

    /// Checks that the connection still works.
    pub(super) async fn is_alive(&self) -> bool {
        let answer = tokio::time::timeout(CONNECT_TIMEOUT, self.client.batch_execute("SELECT 1"));
        matches!(answer.await, Ok(Ok(())))
    }
}

impl PostgresTransaction {
    pub(super) async fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        execute(self.client()?, sql, values).await
    }

    pub(super) async fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
        query(self.client()?, sql, values).await
    }

    /// Runs several statements without values.
    pub(super) async fn run_script(&self, sql: &str) -> Result<(), SqlError> {
        Ok(self.client()?.batch_execute(sql).await?)
    }

    pub(super) async fn commit(mut self) -> Result<(), SqlError> {
        self.client()?.batch_execute("COMMIT").await?;
        self.client = None;
        Ok(())
    }

    fn client(&self) -> Result<&Client, SqlError> {
        self.client
            .as_ref()
            .ok_or_else(|| SqlError::Unreachable("the transaction has ended".to_owned()))
    }
}

impl Drop for PostgresTransaction {
    fn drop(&mut self) {
        if let Some(client) = &self.client {
            // The first poll sends the statement. The next user of the connection comes after it, and the pool hands
            // out no broken connection.
            let _ = client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

async fn prepare(client: &Client, sql: &str, values: &[Value]) -> Result<Statement, SqlError> {
    let types: Vec<Type> = values.iter().map(|value| type_of(value.kind())).collect();
    Ok(client.prepare_typed_cached(sql, &types).await?)
}

async fn execute(client: &Client, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
    let statement = prepare(client, sql, values).await?;
    Ok(client.execute_raw(&statement, values).await?)
}

async fn query(client: &Client, sql: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
    let statement = prepare(client, sql, values).await?;
    let names = statement.columns().iter().map(Column::name);
    let columns: Arc<[String]> = names.map(str::to_owned).collect();
    let parameters: Vec<_> = values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect();
    let found = client.query(&statement, &parameters).await?;
    found
        .iter()
        .map(|row| {
            let values = (0..columns.len()).map(|index| value(row, index));
            let values = values.collect::<Result<_, SqlError>>()?;
            Ok(Row::new(Arc::clone(&columns), values))
        })
        .collect()
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Int => Type::INT8,
        Kind::Bool => Type::BOOL,
        Kind::Text => Type::TEXT,
        Kind::Uuid => Type::UUID,
        Kind::Bytes => Type::BYTEA,
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null(_) => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Bool(yes) => yes.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Uuid(uuid) => uuid.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    /// Returns true for every type, since statements are prepared with the types of their values.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn value(row: &tokio_postgres::Row, index: usize) -> Result<Value, SqlError> {
    let kind = row.columns()[index].type_();
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(index)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(index)?.into(),
        Type::BOOL => row.try_get::<_, Option<bool>>(index)?.into(),
        Type::UUID => row.try_get::<_, Option<Uuid>>(index)?.into(),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.into(),
        _ => row.try_get::<_, Option<String>>(index)?.into(),
    })
}
