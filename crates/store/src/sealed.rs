//! The encrypted values of secrets: those to type or to send, and those that may still turn up in a session.

use deskhand_core::{
    id::{SecretId, SessionId, UserId},
    session::Phase,
    vault::{HttpUse, Origin, SecretName},
};

use crate::{
    database::{Row, Store, StoreError, Transaction, from_json},
    secrets::{http, name},
};

/// The version of the context that a value is sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealVersion(pub i64);

/// An encrypted value, with everything that is needed to decrypt it but the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    pub user: UserId,
    pub name: SecretName,
    pub origins: Vec<Origin>,
    pub http: Option<HttpUse>,
    /// The id of the key that decrypts it.
    pub key: String,
    pub sealed: Vec<u8>,
    pub seal_version: SealVersion,
}

/// A secret with its value, still encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    pub id: SecretId,
    pub value: SealedValue,
}

/// The table that a sealed value is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedIn {
    /// The secrets that people have now.
    Secrets,
    /// Replaced and removed ones.
    FormerSecrets,
}

impl SealedIn {
    fn table(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::FormerSecrets => "former_secrets",
        }
    }
}

const COLUMNS: &str = "s.id, s.user_id, s.name, s.key_id, s.sealed, s.seal_version, s.origins, \
                       s.http";

impl Store {
    /// Returns one of the secrets that a session's agent may use.
    pub async fn sealed_secret(
        &self,
        session: SessionId,
        name: &SecretName,
    ) -> Result<Option<SealedSecret>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM secrets s JOIN sessions x ON x.owner_id = s.user_id \
             WHERE x.id = $1 AND s.name = $2"
        );
        let row = self
            .one(&sql, [session.0.into(), name.as_str().into()])
            .await?;
        row.map(|row| sealed(&row)).transpose()
    }

    /// Returns every value that was ever sent into a session's computer.
    pub async fn secrets_sent(&self, session: SessionId) -> Result<Vec<SealedValue>, StoreError> {
        let current = format!(
            "SELECT {COLUMNS} FROM secrets s JOIN secret_uses u ON u.secret_id = s.id \
             WHERE u.session_id = $1 ORDER BY s.id"
        );
        let former =
            format!("SELECT {COLUMNS} FROM former_secrets s WHERE s.session_id = $1 ORDER BY s.id");
        let mut values = Vec::new();
        for sql in [current, former] {
            for row in self.all(&sql, [session.0.into()]).await? {
                values.push(sealed(&row)?.value);
            }
        }
        Ok(values)
    }

    /// Returns values that are sealed with another key than the newest, or with the context of an older version.
    pub async fn outdated_secrets(
        &self,
        place: SealedIn,
        key: &str,
        version: SealVersion,
        most: u32,
    ) -> Result<Vec<SealedSecret>, StoreError> {
        let table = place.table();
        let sql = format!(
            "SELECT {COLUMNS} FROM {table} s WHERE s.key_id <> $1 OR s.seal_version < $2 \
             ORDER BY s.id LIMIT {most}"
        );
        let rows = self.all(&sql, [key.into(), version.0.into()]).await?;
        rows.iter().map(sealed).collect()
    }

    /// Replaces a sealed value, if it is still the same. Returns `false` if it was changed meanwhile.
    pub async fn reseal_secret(
        &self,
        place: SealedIn,
        old: &SealedSecret,
        key: &str,
        sealed: Vec<u8>,
        version: SealVersion,
    ) -> Result<bool, StoreError> {
        let table = place.table();
        let sql = format!(
            "UPDATE {table} SET key_id = $1, sealed = $2, seal_version = $3 WHERE id = $4 AND sealed = $5"
        );
        let values = [
            key.into(),
            sealed.into(),
            version.0.into(),
            old.id.0.into(),
            old.value.sealed.clone().into(),
        ];
        Ok(self.write(&sql, values).await? > 0)
    }

    /// Forgets former values of sessions that have ended.
    pub async fn forget_former_secrets(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM former_secrets WHERE session_id IN \
                   (SELECT id FROM sessions WHERE phase = $1)";
        self.write(sql, [Phase::Terminated.name().into()]).await?;
        Ok(())
    }
}

/// Keeps a value that is about to be replaced or removed, for the sessions into which it was sent.
pub(crate) async fn keep_former(
    tx: &mut Transaction,
    user: UserId,
    name: &SecretName,
) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT {COLUMNS}, u.session_id FROM secrets s JOIN secret_uses u ON u.secret_id = s.id \
         JOIN sessions x ON x.id = u.session_id \
         WHERE s.user_id = $1 AND s.name = $2 AND x.phase <> $3"
    );
    let values = [
        user.0.into(),
        name.as_str().into(),
        Phase::Terminated.name().into(),
    ];
    for row in tx.all(&sql, values).await? {
        let session: uuid::Uuid = row.get("session_id")?;
        let SealedValue {
            key,
            sealed,
            seal_version,
            ..
        } = sealed(&row)?.value;
        let (origins, http): (String, Option<String>) = (row.get("origins")?, row.get("http")?);
        let sql = "INSERT INTO former_secrets (id, session_id, user_id, name, key_id, sealed, \
                   seal_version, origins, http) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let values = [
            SecretId::new().0.into(),
            session.into(),
            user.0.into(),
            name.as_str().into(),
            key.into(),
            sealed.into(),
            seal_version.0.into(),
            origins.into(),
            http.into(),
        ];
        tx.execute(sql, values).await?;
    }
    let sql = "DELETE FROM secret_uses WHERE secret_id IN \
               (SELECT id FROM secrets WHERE user_id = $1 AND name = $2)";
    tx.execute(sql, [user.0.into(), name.as_str().into()])
        .await?;
    Ok(())
}

fn sealed(row: &Row) -> Result<SealedSecret, StoreError> {
    Ok(SealedSecret {
        id: SecretId(row.get("id")?),
        value: SealedValue {
            user: UserId(row.get("user_id")?),
            name: name(row)?,
            origins: from_json(row.get("origins")?)?,
            http: http(row)?,
            key: row.get("key_id")?,
            sealed: row.get("sealed")?,
            seal_version: SealVersion(row.get("seal_version")?),
        },
    })
}
