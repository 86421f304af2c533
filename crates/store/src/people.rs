//! People, and the hashes of what they prove themselves with.

use deskhand_core::id::UserId;
use jiff::Timestamp;

use crate::database::{Row, Store, StoreError, millis};

/// Somebody who may sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: String,
}

/// A user to be made, with their first token.
#[derive(Debug)]
pub struct NewUser<'a> {
    pub id: UserId,
    pub name: &'a str,
    pub role: &'a str,
    pub token_hash: &'a str,
    pub created_at: Timestamp,
}

impl Store {
    /// The first administrator, if there is one yet.
    pub async fn admin(&self) -> Result<Option<User>, StoreError> {
        let sql = "SELECT id, name FROM users WHERE role = 'admin' ORDER BY id LIMIT 1";
        self.one(sql, []).await?.map(|row| user(&row)).transpose()
    }

    pub async fn insert_user(&self, new: NewUser<'_>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "INSERT INTO users (id, name, role, created_at_ms) VALUES ($1, $2, $3, $4)";
        let values = [
            new.id.0.into(),
            new.name.into(),
            new.role.into(),
            millis(new.created_at),
        ];
        transaction.execute(sql, values).await?;
        let sql = "INSERT INTO tokens (hash, user_id, created_at_ms) VALUES ($1, $2, $3)";
        let values = [
            new.token_hash.into(),
            new.id.0.into(),
            millis(new.created_at),
        ];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    pub async fn insert_token(
        &self,
        user: UserId,
        hash: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO tokens (hash, user_id, created_at_ms) VALUES ($1, $2, $3)";
        self.write(sql, [hash.into(), user.0.into(), millis(at)])
            .await?;
        Ok(())
    }

    /// Whose token this is.
    pub async fn user_of_token(&self, hash: &str) -> Result<Option<User>, StoreError> {
        let sql =
            "SELECT u.id, u.name FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1";
        self.one(sql, [hash.into()])
            .await?
            .map(|row| user(&row))
            .transpose()
    }

    /// Keeps a sign-in code, and forgets those that nobody can use any more.
    pub async fn insert_sign_in_code(
        &self,
        user: UserId,
        hash: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(
            "DELETE FROM sign_in_codes WHERE expires_at_ms <= $1",
            [millis(now)],
        )
        .await?;
        let sql = "INSERT INTO sign_in_codes (hash, user_id, expires_at_ms) VALUES ($1, $2, $3)";
        self.write(sql, [hash.into(), user.0.into(), millis(expires_at)])
            .await?;
        Ok(())
    }

    /// Uses up a sign-in code. Of two who try at once, one succeeds.
    pub async fn take_sign_in_code(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        let sql = "DELETE FROM sign_in_codes WHERE hash = $1 RETURNING user_id, expires_at_ms > $2 AS good";
        let Some(row) = self.write_one(sql, [hash.into(), millis(now)]).await? else {
            return Ok(None);
        };
        let good: bool = row.get("good")?;
        Ok(if good {
            Some(UserId(row.get("user_id")?))
        } else {
            None
        })
    }

    /// Keeps a browser signed in, and forgets those whose time is over.
    pub async fn insert_login(
        &self,
        user: UserId,
        hash: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(
            "DELETE FROM logins WHERE expires_at_ms <= $1",
            [millis(now)],
        )
        .await?;
        let sql = "INSERT INTO logins (hash, user_id, expires_at_ms) VALUES ($1, $2, $3)";
        self.write(sql, [hash.into(), user.0.into(), millis(expires_at)])
            .await?;
        Ok(())
    }

    /// Who is signed in with this cookie.
    pub async fn user_of_login(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<User>, StoreError> {
        let sql = "SELECT u.id, u.name FROM logins l JOIN users u ON u.id = l.user_id \
                   WHERE l.hash = $1 AND l.expires_at_ms > $2";
        self.one(sql, [hash.into(), millis(now)])
            .await?
            .map(|row| user(&row))
            .transpose()
    }

    pub async fn delete_login(&self, hash: &str) -> Result<(), StoreError> {
        self.write("DELETE FROM logins WHERE hash = $1", [hash.into()])
            .await?;
        Ok(())
    }

    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let sql = "SELECT id, name FROM users WHERE id = $1";
        self.one(sql, [id.0.into()])
            .await?
            .map(|row| user(&row))
            .transpose()
    }
}

fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: UserId(row.get("id")?),
        name: row.get("name")?,
    })
}
