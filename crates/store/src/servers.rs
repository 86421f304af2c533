//! The server that uses a database.
//!
//! One server uses a database at a time, because it resumes every unfinished turn that it finds. It holds a lock
//! that ends with the process, even after `kill -9`. A row in `servers` says who it is, and sessions that it works
//! on name it as their server until a time that it keeps renewing.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use deskhand_core::clock::Clock;
use jiff::Timestamp;
use tokio::time::Instant;
use uuid::Uuid;

use crate::database::{DatabaseLock, Row, Store, StoreError, count, millis, timestamp};

/// The time for which a session belongs to its server without a renewal.
const LEASE: Duration = Duration::from_mins(1);
/// The interval between two renewals.
const RENEW_INTERVAL: Duration = Duration::from_secs(20);
/// The interval between two checks of the connection that holds the lock.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest wait for the lock of a server that was killed a moment ago.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);
const LOCK_POLL: Duration = Duration::from_millis(50);

/// One run of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerId(pub(crate) Uuid);

/// A server as it introduces itself to the next one that wants its database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServer {
    pub host: String,
    pub pid: u32,
    pub data_dir: PathBuf,
}

/// The right to use a database. It ends when it is dropped or the process ends.
#[derive(Debug)]
pub struct DatabaseClaim {
    store: Store,
    id: ServerId,
    lock: DatabaseLock,
}

/// A database that another server uses.
#[derive(Debug)]
pub struct InUse {
    database: String,
    holder: Option<Holder>,
}

#[derive(Debug)]
struct Holder {
    id: ServerId,
    host: String,
    pid: u64,
    data_dir: String,
    started_at: Timestamp,
    seen_at: Timestamp,
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another server uses the database {}", self.database)?;
        if let Some(holder) = &self.holder {
            let Holder {
                host,
                pid,
                data_dir,
                started_at,
                seen_at,
                ..
            } = holder;
            write!(
                f,
                " (process {pid} on {host} with the data folder {data_dir}, started at {started_at}, \
                 last seen at {seen_at})"
            )?;
        }
        f.write_str("; stop that server first, or choose another database with --database")
    }
}

impl Store {
    /// Takes the database for one server. Refuses while another server uses it.
    pub async fn claim(
        &self,
        server: &NewServer,
        clock: &dyn Clock,
    ) -> Result<DatabaseClaim, StoreError> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        let lock = loop {
            if let Some(lock) = self.try_lock().await? {
                break lock;
            }
            if Instant::now() >= deadline {
                return Err(self.in_use().await?);
            }
            // PostgreSQL takes a moment to notice that a process has died.
            tokio::time::sleep(LOCK_POLL).await;
        };
        let id = *self.server.get_or_init(|| ServerId(Uuid::now_v7()));
        self.introduce(id, server, clock.now()).await?;
        Ok(DatabaseClaim {
            store: self.clone(),
            id,
            lock,
        })
    }

    /// Returns the server that writes the changes of this store.
    pub(crate) fn server(&self) -> Option<ServerId> {
        self.server.get().copied()
    }

    async fn introduce(
        &self,
        id: ServerId,
        server: &NewServer,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        // All others have ended, or they would hold the lock.
        tx.execute("DELETE FROM servers", []).await?;
        let sql = "INSERT INTO servers (id, host, pid, data_dir, started_at_ms, seen_at_ms) \
                   VALUES ($1, $2, $3, $4, $5, $5)";
        let values = [
            id.0.into(),
            server.host.as_str().into(),
            i64::from(server.pid).into(),
            server.data_dir.display().to_string().into(),
            millis(now),
        ];
        tx.execute(sql, values).await?;
        tx.commit().await
    }

    async fn in_use(&self) -> Result<StoreError, StoreError> {
        Ok(StoreError::InUse(Box::new(InUse {
            database: self.shown.to_string(),
            holder: self.holder().await?,
        })))
    }

    /// Returns the server that claimed the database last.
    async fn holder(&self) -> Result<Option<Holder>, StoreError> {
        let sql = "SELECT id, host, pid, data_dir, started_at_ms, seen_at_ms FROM servers \
                   ORDER BY started_at_ms DESC LIMIT 1";
        self.one(sql, []).await?.as_ref().map(holder).transpose()
    }
}

impl DatabaseClaim {
    /// Keeps the claim: renews it, and takes the lock again if the connection that held it was lost. Returns only
    /// when another server has taken the database.
    pub async fn keep(mut self, clock: Arc<dyn Clock>) -> StoreError {
        let mut renew_at = Instant::now();
        loop {
            let is_due = Instant::now() >= renew_at;
            let is_held = self.lock.is_held() && (!is_due || self.lock.is_alive().await);
            if !is_held && let Err(lost) = self.lock_again().await {
                return lost;
            }
            if is_due {
                match self.renew(clock.now()).await {
                    Ok(()) => renew_at = Instant::now() + RENEW_INTERVAL,
                    Err(lost @ StoreError::InUse(_)) => return lost,
                    Err(error) => could_not_renew(&error),
                }
            }
            tokio::time::sleep(LOCK_CHECK_INTERVAL).await;
        }
    }

    /// Renews the claim and the expiry of all sessions of this server.
    async fn renew(&self, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE servers SET seen_at_ms = $1 WHERE id = $2";
        let values = [millis(now), self.id.0.into()];
        let n_rows = self.store.write(sql, values).await?;
        if n_rows == 0 && self.store.holder().await?.is_some() {
            return Err(self.store.in_use().await?);
        }
        let sql = "UPDATE sessions SET server_expires_at_ms = $1 WHERE server_id = $2";
        let values = [millis(expiry(now)), self.id.0.into()];
        self.store.write(sql, values).await?;
        Ok(())
    }

    /// Takes the lock again as soon as the database responds. Fails if another server took it first.
    async fn lock_again(&mut self) -> Result<(), StoreError> {
        tracing::warn!("lost the connection that holds the database's lock; taking the lock again");
        loop {
            match self.try_lock_again().await {
                Ok(true) => {
                    tracing::info!("took the database's lock again");
                    return Ok(());
                }
                // The database may not have noticed yet that the old connection is gone.
                Ok(false) => {}
                Err(lost @ StoreError::InUse(_)) => return Err(lost),
                Err(error) => could_not_renew(&error),
            }
            tokio::time::sleep(LOCK_CHECK_INTERVAL).await;
        }
    }

    async fn try_lock_again(&mut self) -> Result<bool, StoreError> {
        if let Some(lock) = self.store.try_lock().await? {
            self.lock = lock;
        }
        let holder = self.store.holder().await?;
        if holder.is_some_and(|holder| holder.id != self.id) {
            return Err(self.store.in_use().await?);
        }
        Ok(self.lock.is_held())
    }
}

fn could_not_renew(error: &StoreError) {
    tracing::debug!(
        error = error as &dyn std::error::Error,
        "could not renew the claim on the database; trying again"
    );
}

/// Returns the time until which a session that is taken or renewed now belongs to its server.
pub(crate) fn expiry(now: Timestamp) -> Timestamp {
    now.checked_add(LEASE).unwrap_or(Timestamp::MAX)
}

fn holder(row: &Row) -> Result<Holder, StoreError> {
    Ok(Holder {
        id: ServerId(row.get("id")?),
        host: row.get("host")?,
        pid: count(row.get("pid")?)?,
        data_dir: row.get("data_dir")?,
        started_at: timestamp(row.get("started_at_ms")?)?,
        seen_at: timestamp(row.get("seen_at_ms")?)?,
    })
}
