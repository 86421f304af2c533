//! Links that let people into a session. Only the hashes of their codes are stored.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SessionId, ShareId, UserId},
    right::{Right, Share},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    commit::lock_row,
    database::{Row, Store, StoreError, Transaction, count, millis, timestamp},
    rights::{Departure, GivenRight, Giver, departure, n_rights, right, right_of, write_right},
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
    /// The user is in. A higher right than the link's stays, and so does one that the owner chose for them.
    In(SessionId),
    /// The link does not exist or has expired.
    NoShare,
    /// The maximum number of people already has a right.
    Full(SessionId),
    /// The owner removed the user.
    Removed,
}

/// A link that somebody follows.
#[derive(Debug)]
struct FollowedShare {
    id: ShareId,
    session: SessionId,
    owner: UserId,
    right: Right,
    is_single_use: bool,
}

impl Store {
    /// Stores a link, and deletes the session's expired ones. Returns `false` if the session already has `most`
    /// links.
    pub async fn insert_share(
        &self,
        new: NewShare<'_>,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let Share {
            id,
            right,
            created_at,
            expires_at,
            is_single_use,
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
                   expires_at_ms, is_single_use) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = [
            id.0.into(),
            new.session.0.into(),
            new.hash.into(),
            right.name().into(),
            millis(*created_at),
            millis(*expires_at),
            (*is_single_use).into(),
        ];
        tx.execute(sql, values).await?;
        let entry = NewEntry::new(AuditAction::LinkCreated).within(new.session);
        let entry = entry.with("right", right).with("expires_at", expires_at);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Lets no link be valid for longer than until `latest`.
    pub async fn shorten_shares(&self, latest: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE shares SET expires_at_ms = $1 WHERE expires_at_ms > $1";
        self.write(sql, [millis(latest)]).await?;
        Ok(())
    }

    /// Returns a session's valid links, oldest first.
    pub async fn shares(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Share>, StoreError> {
        let sql = "SELECT id, right_name, created_at_ms, expires_at_ms, is_single_use FROM shares \
                   WHERE session_id = $1 AND expires_at_ms > $2 ORDER BY id";
        let rows = self.all(sql, [session.0.into(), millis(now)]).await?;
        rows.iter().map(share).collect()
    }

    /// Deletes a link. Returns `false` if there was none.
    pub async fn delete_share(
        &self,
        session: SessionId,
        share: ShareId,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM shares WHERE id = $1 AND session_id = $2";
        if tx.execute(sql, [share.0.into(), session.0.into()]).await? == 0 {
            return Ok(false);
        }
        let entry = NewEntry::new(AuditAction::LinkEnded).within(session);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Gives a user the right of a link, unless they already have it or a higher one, or the owner chose otherwise.
    pub async fn join(
        &self,
        hash: &str,
        user: UserId,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<Joined, StoreError> {
        let mut tx = self.begin().await?;
        let Some(link) = followed(&mut tx, hash, stamp.at).await? else {
            return Ok(Joined::NoShare);
        };
        let session = link.session;
        lock_row(&mut tx, session).await?;
        let has = right_of(&mut tx, session, user).await?;
        let keeps = |has: GivenRight| has.giver == Giver::Owner || has.right >= link.right;
        if link.owner == user || has.is_some_and(keeps) {
            return Ok(Joined::In(session));
        }
        match departure(&mut tx, session, user).await? {
            Some(Departure::Removed | Departure::LeftAndRemoved) => return Ok(Joined::Removed),
            Some(Departure::Left) | None => {}
        }
        if has.is_none() && n_rights(&mut tx, session).await? >= most {
            return Ok(Joined::Full(session));
        }
        if link.is_single_use {
            // Of two who follow it at the same time, one is too late.
            let sql = "DELETE FROM shares WHERE id = $1";
            if tx.execute(sql, [link.id.0.into()]).await? == 0 {
                return Ok(Joined::NoShare);
            }
        }
        let given = GivenRight {
            right: link.right,
            giver: Giver::Link,
        };
        write_right(&mut tx, session, user, given, stamp.at).await?;
        let entry = NewEntry::new(AuditAction::LinkFollowed).about(user);
        let entry = entry.within(session).with("right", link.right);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(Joined::In(session))
    }
}

async fn followed(
    tx: &mut Transaction,
    hash: &str,
    now: Timestamp,
) -> Result<Option<FollowedShare>, StoreError> {
    let sql = "SELECT h.id, h.session_id, h.right_name, h.is_single_use, s.owner_id FROM shares h \
               JOIN sessions s ON s.id = h.session_id \
               WHERE h.hash = $1 AND h.expires_at_ms > $2";
    let Some(row) = tx.one(sql, [hash.into(), millis(now)]).await? else {
        return Ok(None);
    };
    Ok(Some(FollowedShare {
        id: ShareId(row.get("id")?),
        session: SessionId(row.get("session_id")?),
        owner: UserId(row.get("owner_id")?),
        right: right(&row)?,
        is_single_use: row.get("is_single_use")?,
    }))
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share {
        id: ShareId(row.get("id")?),
        right: right(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        expires_at: timestamp(row.get("expires_at_ms")?)?,
        is_single_use: row.get("is_single_use")?,
    })
}
