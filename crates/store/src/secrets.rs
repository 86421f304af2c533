//! Secrets that agents may type or have sent. Only their encrypted values are stored.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SecretId, SessionId, UserId},
    vault::{BadSecret, HttpUse, LastUse, Origin, SecretName, StoredSecret},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    database::{Row, Store, StoreError, Transaction, count, from_json, json, millis, timestamp},
    sealed::{SealVersion, keep_former},
};

/// A secret to be stored, in place of the one with its name.
#[derive(Debug)]
pub struct NewSecret<'a> {
    pub user: UserId,
    pub name: &'a SecretName,
    pub key: &'a str,
    pub sealed: Vec<u8>,
    pub seal_version: SealVersion,
    pub origins: &'a [Origin],
    pub http: Option<&'a HttpUse>,
    pub now: Timestamp,
}

/// The result of storing a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutSecret {
    Made,
    Replaced,
    /// The user already has the maximum number.
    TooMany,
    /// Another secret of the user has the same environment variable.
    VariableTaken(SecretName),
}

const COLUMNS: &str = "s.id, s.name, s.origins, s.http, s.created_at_ms, s.updated_at_ms, s.last_used_at_ms, \
                       s.last_used_in";

impl Store {
    /// Stores a secret, unless the user already has `most` others.
    pub async fn put_secret(
        &self,
        new: NewSecret<'_>,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<PutSecret, StoreError> {
        let (origins, http) = (json(&new.origins)?, new.http.map(json).transpose()?);
        let mut tx = self.begin().await?;
        if let Some(other) = same_variable(&mut tx, &new).await? {
            return Ok(PutSecret::VariableTaken(other));
        }
        keep_former(&mut tx, new.user, new.name).await?;
        let sql = "UPDATE secrets SET key_id = $1, sealed = $2, seal_version = $3, origins = $4, \
                   http = $5, updated_at_ms = $6 WHERE user_id = $7 AND name = $8";
        let values = [
            new.key.into(),
            new.sealed.clone().into(),
            new.seal_version.0.into(),
            origins.as_str().into(),
            http.clone().into(),
            millis(new.now),
            new.user.0.into(),
            new.name.as_str().into(),
        ];
        if tx.execute(sql, values).await? > 0 {
            audit_put(&mut tx, PutSecret::Replaced, &new, stamp).await?;
            tx.commit().await?;
            return Ok(PutSecret::Replaced);
        }
        let sql = "SELECT COUNT(*) AS n FROM secrets WHERE user_id = $1";
        if let Some(row) = tx.one(sql, [new.user.0.into()]).await?
            && count(row.get("n")?)? >= most
        {
            return Ok(PutSecret::TooMany);
        }
        let sql = "INSERT INTO secrets (id, user_id, name, key_id, sealed, seal_version, origins, \
                   http, created_at_ms, updated_at_ms) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)";
        let values = [
            SecretId::new().0.into(),
            new.user.0.into(),
            new.name.as_str().into(),
            new.key.into(),
            new.sealed.clone().into(),
            new.seal_version.0.into(),
            origins.into(),
            http.into(),
            millis(new.now),
        ];
        tx.execute(sql, values).await?;
        audit_put(&mut tx, PutSecret::Made, &new, stamp).await?;
        tx.commit().await?;
        Ok(PutSecret::Made)
    }

    /// Returns a user's secrets, sorted by name.
    pub async fn secrets(&self, user: UserId) -> Result<Vec<StoredSecret>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM secrets s WHERE s.user_id = $1 ORDER BY s.name");
        let rows = self.all(&sql, [user.0.into()]).await?;
        rows.iter().map(stored).collect()
    }

    /// Returns the secrets for HTTP APIs that programs in a session may use, sorted by name.
    pub async fn http_secrets(&self, session: SessionId) -> Result<Vec<StoredSecret>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM secrets s JOIN sessions x ON x.owner_id = s.user_id \
             WHERE x.id = $1 AND s.http IS NOT NULL ORDER BY s.name"
        );
        let rows = self.all(&sql, [session.0.into()]).await?;
        rows.iter().map(stored).collect()
    }

    /// Returns the sorted names of the secrets that a session's agent may use: those of the session's owner.
    pub async fn secret_names(&self, session: SessionId) -> Result<Vec<SecretName>, StoreError> {
        let sql = "SELECT s.name FROM secrets s JOIN sessions x ON x.owner_id = s.user_id \
                   WHERE x.id = $1 ORDER BY s.name";
        let rows = self.all(sql, [session.0.into()]).await?;
        rows.iter().map(name).collect()
    }

    /// Removes a user's secret. Returns `false` if there was none.
    pub async fn delete_secret(
        &self,
        user: UserId,
        name: &SecretName,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        keep_former(&mut tx, user, name).await?;
        let sql = "DELETE FROM secrets WHERE user_id = $1 AND name = $2";
        let n_deleted = tx
            .execute(sql, [user.0.into(), name.as_str().into()])
            .await?;
        if n_deleted > 0 {
            let removed = NewEntry::new(AuditAction::SecretRemoved).about(user);
            let removed = removed.with("name", name.as_str());
            removed.append(&mut tx, stamp).await?;
        }
        tx.commit().await?;
        Ok(n_deleted > 0)
    }

    /// Returns true if any secret is stored.
    pub async fn has_secrets(&self) -> Result<bool, StoreError> {
        let row = self
            .one("SELECT 1 AS found FROM secrets LIMIT 1", [])
            .await?;
        Ok(row.is_some())
    }

    /// Records that a secret is about to be sent into a session's computer.
    pub async fn note_secret_sent(
        &self,
        session: SessionId,
        secret: SecretId,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO secret_uses (session_id, secret_id) VALUES ($1, $2) \
                   ON CONFLICT (session_id, secret_id) DO NOTHING";
        self.write(sql, [session.0.into(), secret.0.into()]).await?;
        Ok(())
    }

    /// Records that a secret was typed or sent.
    pub async fn note_secret_use(&self, secret: SecretId, last: LastUse) -> Result<(), StoreError> {
        let sql = "UPDATE secrets SET last_used_at_ms = $1, last_used_in = $2 WHERE id = $3";
        let values = [millis(last.at), last.session.0.into(), secret.0.into()];
        self.write(sql, values).await?;
        Ok(())
    }
}

/// Records that a secret was stored. The value is no part of it.
async fn audit_put(
    tx: &mut Transaction,
    put: PutSecret,
    new: &NewSecret<'_>,
    stamp: AuditStamp,
) -> Result<(), StoreError> {
    let action = match (put, new.http) {
        (PutSecret::Replaced, None) => AuditAction::SecretReplaced,
        (PutSecret::Replaced, Some(_)) => AuditAction::HttpSecretReplaced,
        (_, None) => AuditAction::SecretStored,
        (_, Some(_)) => AuditAction::HttpSecretStored,
    };
    let origins: Vec<_> = new.origins.iter().map(ToString::to_string).collect();
    let entry = NewEntry::new(action).about(new.user);
    let entry = entry.with("name", new.name.as_str());
    let entry = entry.with("origins", origins.join(", "));
    let entry = match new.http {
        None => entry,
        Some(http) => {
            let headers: Vec<_> = http.headers.iter().map(ToString::to_string).collect();
            let entry = entry.with("headers", headers.join(", "));
            entry.with("env", http.env.as_str())
        }
    };
    entry.append(tx, stamp).await
}

/// Returns another secret of the user with the same environment variable.
async fn same_variable(
    tx: &mut Transaction,
    new: &NewSecret<'_>,
) -> Result<Option<SecretName>, StoreError> {
    let Some(wanted) = new.http else {
        return Ok(None);
    };
    let sql = "SELECT s.name, s.http FROM secrets s \
               WHERE s.user_id = $1 AND s.name <> $2 AND s.http IS NOT NULL";
    let values = [new.user.0.into(), new.name.as_str().into()];
    for row in tx.all(sql, values).await? {
        if http(&row)?.is_some_and(|http| http.env == wanted.env) {
            return name(&row).map(Some);
        }
    }
    Ok(None)
}

pub(crate) fn http(row: &Row) -> Result<Option<HttpUse>, StoreError> {
    let http: Option<String> = row.get("http")?;
    http.as_deref().map(from_json).transpose()
}

pub(crate) fn name(row: &Row) -> Result<SecretName, StoreError> {
    let name: String = row.get("name")?;
    name.parse()
        .map_err(|error: BadSecret| StoreError::Unreadable(error.to_string()))
}

fn stored(row: &Row) -> Result<StoredSecret, StoreError> {
    let used_at: Option<i64> = row.get("last_used_at_ms")?;
    let used_in: Option<uuid::Uuid> = row.get("last_used_in")?;
    let last_use = match used_at.zip(used_in) {
        Some((at, session)) => Some(LastUse {
            at: timestamp(at)?,
            session: SessionId(session),
        }),
        None => None,
    };
    Ok(StoredSecret {
        id: SecretId(row.get("id")?),
        name: name(row)?,
        origins: from_json(row.get("origins")?)?,
        http: http(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        updated_at: timestamp(row.get("updated_at_ms")?)?,
        last_use,
    })
}
