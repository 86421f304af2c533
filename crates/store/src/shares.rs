//! Links that let people into a session. Only the hashes of their codes are stored.

use deskhand_core::{
    id::{SessionId, ShareId, UserId},
    right::Share,
};
use jiff::Timestamp;

use crate::{
    commit::lock_row,
    database::{Row, Store, StoreError, count, millis, timestamp},
    rights::{n_rights, right, right_of, write_right},
};

/// A link to be stored.
#[derive(Debug)]
pub struct NewShare<'a> {
    pub session: SessionId,
    pub hash: &'a str,
    pub share: &'a Share,
}

/// The result of following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The user has at least the right of the link. A higher right stays.
    In(SessionId),
    /// The link does not exist or has expired.
    NoShare,
    /// The maximum number of people already has a right.
    Full(SessionId),
}

impl Store {
    /// Stores a link, and deletes the session's expired ones. Returns `false` if the session already has `most`
    /// links.
    pub async fn insert_share(&self, new: NewShare<'_>, most: u64) -> Result<bool, StoreError> {
        let Share {
            id,
            right,
            created_at,
            expires_at,
        } = new.share;
        let mut tx = self.begin().await?;
        lock_row(&mut tx, new.session).await?;
        let sql = "DELETE FROM shares WHERE session_id = $1 AND expires_at_ms <= $2";
        tx.execute(sql, [new.session.0.into(), millis(*created_at)])
            .await?;
        let sql = "SELECT COUNT(*) AS shares FROM shares WHERE session_id = $1";
        if let Some(row) = tx.one(sql, [new.session.0.into()]).await?
            && count(row.get("shares")?)? >= most
        {
            return Ok(false);
        }
        let sql = "INSERT INTO shares (id, session_id, hash, right_name, created_at_ms, \
                   expires_at_ms) VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            id.0.into(),
            new.session.0.into(),
            new.hash.into(),
            right.name().into(),
            millis(*created_at),
            millis(*expires_at),
        ];
        tx.execute(sql, values).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Returns a session's valid links, oldest first.
    pub async fn shares(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Share>, StoreError> {
        let sql = "SELECT id, right_name, created_at_ms, expires_at_ms FROM shares \
                   WHERE session_id = $1 AND expires_at_ms > $2 ORDER BY id";
        let rows = self.all(sql, [session.0.into(), millis(now)]).await?;
        rows.iter().map(share).collect()
    }

    /// Deletes a link. Returns `false` if there was none.
    pub async fn delete_share(
        &self,
        session: SessionId,
        share: ShareId,
    ) -> Result<bool, StoreError> {
        let sql = "DELETE FROM shares WHERE id = $1 AND session_id = $2";
        Ok(self.write(sql, [share.0.into(), session.0.into()]).await? > 0)
    }

    /// Gives a user the right of a link, unless they already have it or a higher one.
    pub async fn join(
        &self,
        hash: &str,
        user: UserId,
        most: u64,
        now: Timestamp,
    ) -> Result<Joined, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "SELECT s.id, s.owner_id, h.right_name FROM shares h \
                   JOIN sessions s ON s.id = h.session_id \
                   WHERE h.hash = $1 AND h.expires_at_ms > $2";
        let Some(row) = tx.one(sql, [hash.into(), millis(now)]).await? else {
            return Ok(Joined::NoShare);
        };
        let session = SessionId(row.get("id")?);
        let owner = UserId(row.get("owner_id")?);
        let offered = right(&row)?;
        lock_row(&mut tx, session).await?;
        let has = right_of(&mut tx, session, user).await?;
        if owner == user || has.is_some_and(|has| has >= offered) {
            return Ok(Joined::In(session));
        }
        if has.is_none() && n_rights(&mut tx, session).await? >= most {
            return Ok(Joined::Full(session));
        }
        write_right(&mut tx, session, user, offered, now).await?;
        tx.commit().await?;
        Ok(Joined::In(session))
    }
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share {
        id: ShareId(row.get("id")?),
        right: right(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        expires_at: timestamp(row.get("expires_at_ms")?)?,
    })
}
