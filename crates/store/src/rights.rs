//! The rights of people in other people's sessions.

use deskhand_core::{
    id::{SessionId, UserId},
    right::{Person, Right},
};
use jiff::Timestamp;

use crate::{
    commit::lock_row,
    database::{Row, Store, StoreError, Transaction, count, millis},
};

impl Store {
    /// Returns everyone who has a right in a session: the owner, then the others in the order in which they became
    /// users. Disabled users are left out.
    pub async fn people(&self, session: SessionId) -> Result<Vec<Person>, StoreError> {
        let sql = "SELECT 0 AS place, u.id, u.name, 'owner' AS right_name \
                   FROM sessions s JOIN users u ON u.id = s.owner_id WHERE s.id = $1 AND u.active \
                   UNION ALL \
                   SELECT 1 AS place, u.id, u.name, r.right_name \
                   FROM session_rights r JOIN users u ON u.id = r.user_id \
                   WHERE r.session_id = $1 AND u.active ORDER BY place, id";
        let rows = self.all(sql, [session.0.into()]).await?;
        rows.iter().map(person).collect()
    }

    /// Gives a user a right in place of the one they have. Returns `false` if `most` others already have one.
    pub async fn grant(
        &self,
        session: SessionId,
        user: UserId,
        right: Right,
        most: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        // The row is locked, so that the count still holds when the right is written.
        lock_row(&mut tx, session).await?;
        if right_of(&mut tx, session, user).await?.is_none()
            && n_rights(&mut tx, session).await? >= most
        {
            return Ok(false);
        }
        write_right(&mut tx, session, user, right, at).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Makes another user the owner. The previous owner keeps the right to drive. Returns `false` if `from` is no
    /// longer the owner.
    pub async fn hand_over(
        &self,
        session: SessionId,
        from: UserId,
        to: UserId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "UPDATE sessions SET owner_id = $1 WHERE id = $2 AND owner_id = $3";
        let values = [to.0.into(), session.0.into(), from.0.into()];
        if tx.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        // The owner has no row among the rights.
        let sql = "DELETE FROM session_rights WHERE session_id = $1 AND user_id = $2";
        tx.execute(sql, [session.0.into(), to.0.into()]).await?;
        write_right(&mut tx, session, from, Right::Drive, at).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Revokes a user's right. Returns `false` if there was none.
    pub async fn revoke(&self, session: SessionId, user: UserId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM session_rights WHERE session_id = $1 AND user_id = $2";
        Ok(self.write(sql, [session.0.into(), user.0.into()]).await? > 0)
    }
}

/// Returns the right that a user was given. The owner has none of this kind.
pub(crate) async fn right_of(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
) -> Result<Option<Right>, StoreError> {
    let sql = "SELECT right_name FROM session_rights WHERE session_id = $1 AND user_id = $2";
    let row = tx.one(sql, [session.0.into(), user.0.into()]).await?;
    row.map(|row| right(&row)).transpose()
}

/// Counts the people who were given a right.
pub(crate) async fn n_rights(tx: &mut Transaction, session: SessionId) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS people FROM session_rights WHERE session_id = $1";
    match tx.one(sql, [session.0.into()]).await? {
        Some(row) => count(row.get("people")?),
        None => Ok(0),
    }
}

pub(crate) async fn write_right(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
    right: Right,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO session_rights (session_id, user_id, right_name, created_at_ms) \
               VALUES ($1, $2, $3, $4) \
               ON CONFLICT (session_id, user_id) DO UPDATE SET right_name = excluded.right_name";
    let values = [
        session.0.into(),
        user.0.into(),
        right.name().into(),
        millis(at),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

pub(crate) fn right(row: &Row) -> Result<Right, StoreError> {
    let name: &str = row.get("right_name")?;
    Right::from_name(name).ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a right")))
}

fn person(row: &Row) -> Result<Person, StoreError> {
    Ok(Person {
        user: UserId(row.get("id")?),
        name: row.get("name")?,
        right: right(row)?,
    })
}
