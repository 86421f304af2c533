//! Links by which a session is watched. Only the hashes of their tokens are stored.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SessionId, WatchLinkId},
    watch_link::WatchLink,
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    commit::lock_row,
    database::{Row, Store, StoreError, count, millis, timestamp},
};

impl Store {
    /// Stores a link, and deletes the session's expired ones. Returns `false` if the session already has `most` links.
    pub async fn insert_watch_link(
        &self,
        link: &WatchLink,
        hash: &str,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        lock_row(&mut tx, link.session).await?;
        let sql = "DELETE FROM watch_links WHERE session_id = $1 AND expires_at_ms <= $2";
        let values = [link.session.0.into(), millis(link.created_at)];
        tx.execute(sql, values).await?;
        let sql = "SELECT COUNT(*) AS links FROM watch_links WHERE session_id = $1";
        if let Some(row) = tx.one(sql, [link.session.0.into()]).await?
            && count(row.get("links")?)? >= most
        {
            return Ok(false);
        }
        let sql = "INSERT INTO watch_links (id, session_id, hash, created_at_ms, expires_at_ms) \
                   VALUES ($1, $2, $3, $4, $5)";
        let values = [
            link.id.0.into(),
            link.session.0.into(),
            hash.into(),
            millis(link.created_at),
            millis(link.expires_at),
        ];
        tx.execute(sql, values).await?;
        let entry = NewEntry::new(AuditAction::WatchLinkCreated).within(link.session);
        let entry = entry.with("expires_at", link.expires_at);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Returns a session's valid links, oldest first.
    pub async fn watch_links(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<WatchLink>, StoreError> {
        let sql = "SELECT id, session_id, created_at_ms, expires_at_ms FROM watch_links \
                   WHERE session_id = $1 AND expires_at_ms > $2 ORDER BY id";
        let rows = self.all(sql, [session.0.into(), millis(now)]).await?;
        rows.iter().map(watch_link).collect()
    }

    /// Returns the valid link with the token of this hash, unless the owner of its session was disabled.
    pub async fn watch_link(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<WatchLink>, StoreError> {
        let sql = "SELECT l.id, l.session_id, l.created_at_ms, l.expires_at_ms FROM watch_links l \
                   JOIN sessions s ON s.id = l.session_id JOIN users u ON u.id = s.owner_id \
                   WHERE l.hash = $1 AND l.expires_at_ms > $2 AND u.active";
        let row = self.one(sql, [hash.into(), millis(now)]).await?;
        row.map(|row| watch_link(&row)).transpose()
    }

    /// Deletes a link. Returns `false` if there was none.
    pub async fn delete_watch_link(
        &self,
        session: SessionId,
        link: WatchLinkId,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM watch_links WHERE id = $1 AND session_id = $2";
        if tx.execute(sql, [link.0.into(), session.0.into()]).await? == 0 {
            return Ok(false);
        }
        let entry = NewEntry::new(AuditAction::WatchLinkRevoked).within(session);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn watch_link(row: &Row) -> Result<WatchLink, StoreError> {
    Ok(WatchLink {
        id: WatchLinkId(row.get("id")?),
        session: SessionId(row.get("session_id")?),
        created_at: timestamp(row.get("created_at_ms")?)?,
        expires_at: timestamp(row.get("expires_at_ms")?)?,
    })
}
