//! API tokens. Only their hashes are stored.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{TokenId, UserId},
    user::{Identity, Scope, Token},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    database::{Row, Store, StoreError, count, millis, timestamp},
    people::role,
};

/// A token to be stored.
#[derive(Debug)]
pub struct NewToken<'a> {
    pub user: UserId,
    pub hash: &'a str,
    /// The part that people see. It has not been used.
    pub token: &'a Token,
}

impl Store {
    /// Stores a token. Returns `false` if the user already has `most` tokens.
    pub async fn insert_token(
        &self,
        new: NewToken<'_>,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "SELECT COUNT(*) AS tokens FROM api_tokens WHERE user_id = $1";
        if let Some(row) = tx.one(sql, [new.user.0.into()]).await?
            && count(row.get("tokens")?)? >= most
        {
            return Ok(false);
        }
        let sql = "INSERT INTO api_tokens (id, hash, user_id, name, prefix, scope, created_at_ms, \
                   expires_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let Token {
            id,
            name,
            prefix,
            scope,
            created_at,
            expires_at,
            last_used_at: _,
        } = new.token;
        let values = [
            id.0.into(),
            new.hash.into(),
            new.user.0.into(),
            name.as_str().into(),
            prefix.as_str().into(),
            scope.name().into(),
            millis(*created_at),
            expires_at.map(jiff::Timestamp::as_millisecond).into(),
        ];
        tx.execute(sql, values).await?;
        let created = NewEntry::new(AuditAction::TokenCreated).about(new.user);
        let created = created.with("name", name).with("scope", scope.name());
        created.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Returns the identity behind a token while it is valid.
    pub async fn identity_of_token(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<Identity>, StoreError> {
        let sql = "SELECT t.id, t.user_id, u.role, t.scope, t.expires_at_ms FROM api_tokens t \
                   JOIN users u ON u.id = t.user_id WHERE t.hash = $1 \
                   AND (t.expires_at_ms IS NULL OR t.expires_at_ms > $2) AND u.active";
        let Some(row) = self.one(sql, [hash.into(), millis(now)]).await? else {
            return Ok(None);
        };
        Ok(Some(Identity {
            user: UserId(row.get("user_id")?),
            role: role(&row)?,
            scope: scope(&row)?,
            token: Some(TokenId(row.get("id")?)),
            expires_at: time(&row, "expires_at_ms")?,
        }))
    }

    /// Returns a user's tokens, oldest first, including expired ones.
    pub async fn tokens(&self, user: UserId) -> Result<Vec<Token>, StoreError> {
        let sql = "SELECT id, name, prefix, scope, created_at_ms, expires_at_ms, last_used_at_ms \
                   FROM api_tokens WHERE user_id = $1 ORDER BY id";
        let rows = self.all(sql, [user.0.into()]).await?;
        rows.iter().map(token).collect()
    }

    /// Revokes a user's token. Returns `false` if there was none.
    pub async fn delete_token(
        &self,
        user: UserId,
        id: TokenId,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "SELECT name FROM api_tokens WHERE id = $1 AND user_id = $2";
        let Some(row) = tx.one(sql, [id.0.into(), user.0.into()]).await? else {
            return Ok(false);
        };
        let name: String = row.get("name")?;
        // This comes first: the request may have come with this very token.
        let revoked = NewEntry::new(AuditAction::TokenRevoked).about(user);
        let revoked = revoked.with("name", name);
        revoked.append(&mut tx, stamp).await?;
        let sql = "DELETE FROM api_tokens WHERE id = $1";
        tx.execute(sql, [id.0.into()]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Records when tokens were last used.
    pub async fn note_token_uses(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        for (id, at) in uses {
            let sql = "UPDATE api_tokens SET last_used_at_ms = $1 WHERE id = $2 \
                       AND (last_used_at_ms IS NULL OR last_used_at_ms < $1)";
            tx.execute(sql, [millis(*at), id.0.into()]).await?;
        }
        tx.commit().await
    }
}

fn scope(row: &Row) -> Result<Scope, StoreError> {
    let name: String = row.get("scope")?;
    Scope::from_name(&name)
        .ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a scope")))
}

fn time(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = row.get(column)?;
    millis.map(timestamp).transpose()
}

fn token(row: &Row) -> Result<Token, StoreError> {
    Ok(Token {
        id: TokenId(row.get("id")?),
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        scope: scope(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        expires_at: time(row, "expires_at_ms")?,
        last_used_at: time(row, "last_used_at_ms")?,
    })
}
