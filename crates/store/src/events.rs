//! Reading the event log.

use deskhand_core::{
    blob::BlobName,
    event::{Artifact, LoggedEvent, Screenshot},
    id::SessionId,
    viewer::Viewer,
};

use crate::database::{
    Row, Store, StoreError, Transaction, count, from_json, stored_count, timestamp,
};

/// The most bytes of one page of events. A single event may be longer.
const MOST_PAGE_BYTES: u64 = 4 * 1024 * 1024;
/// A page with more events or bytes is read on a thread for that, since it would hold up the others on this one.
const FEW_EVENTS: u32 = 256;
const FEW_BYTES: u64 = 256 * 1024;

/// The end of a page of events.
struct PageEnd {
    last_seq: u64,
    n_bytes: u64,
}

impl Store {
    /// Returns a session's events after number `after`, oldest first: at most `limit`, and at most about 4 MiB.
    ///
    /// The page is empty only if there are no such events, so reading on after the last one finds all of them.
    pub async fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let Some(end) = self.end_of_page(session, after, limit).await? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT seq, kind, at_ms, data FROM events WHERE session_id = $1 AND seq > $2 \
                   AND seq <= $3 ORDER BY seq";
        let values = [
            session.0.into(),
            stored_count(after),
            stored_count(end.last_seq),
        ];
        let rows = if end.n_bytes > FEW_BYTES {
            self.all_apart(sql, values).await?
        } else {
            self.all(sql, values).await?
        };
        // A page can be long, so each row is freed once it is read.
        rows.into_iter().map(|row| event(&row)).collect()
    }

    /// Finds the last event of a page by the lengths of its events, which both databases know without reading them.
    async fn end_of_page(
        &self,
        session: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Option<PageEnd>, StoreError> {
        let sql = "SELECT seq, CAST(octet_length(data) AS BIGINT) AS n_bytes FROM events \
                   WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
        let values = [
            session.0.into(),
            stored_count(after),
            i64::from(limit).into(),
        ];
        let rows = if limit > FEW_EVENTS {
            self.all_apart(sql, values).await?
        } else {
            self.all(sql, values).await?
        };
        let mut end: Option<PageEnd> = None;
        for row in &rows {
            let n_before = end.as_ref().map_or(0, |end| end.n_bytes);
            let n_bytes = n_before + count(row.get("n_bytes")?)?;
            if end.is_some() && n_bytes > MOST_PAGE_BYTES {
                break;
            }
            let last_seq = count(row.get("seq")?)?;
            end = Some(PageEnd { last_seq, n_bytes });
        }
        Ok(end)
    }

    /// Returns the newest picture in a session's log.
    pub async fn newest_screenshot(
        &self,
        session: SessionId,
    ) -> Result<Option<Screenshot>, StoreError> {
        let sql = "SELECT data FROM events WHERE session_id = $1 AND kind = 'screenshot' \
                   ORDER BY seq DESC LIMIT 1";
        let Some(row) = self.one(sql, [session.0.into()]).await? else {
            return Ok(None);
        };
        from_json(row.get("data")?).map(Some)
    }

    /// Returns the file that the event with this number shares.
    pub async fn artifact(
        &self,
        session: SessionId,
        seq: u64,
    ) -> Result<Option<Artifact>, StoreError> {
        let sql =
            "SELECT data FROM events WHERE session_id = $1 AND seq = $2 AND kind = 'artifact'";
        let found = self.one(sql, [session.0.into(), stored_count(seq)]).await?;
        found.map(|row| from_json(row.get("data")?)).transpose()
    }

    /// Returns true if a session that this viewer may see shows this blob.
    pub async fn may_see_blob(&self, viewer: Viewer, blob: &BlobName) -> Result<bool, StoreError> {
        let (sql, values) = match viewer {
            Viewer::System => (
                "SELECT 1 AS seen FROM session_blobs WHERE blob = $1 LIMIT 1",
                vec![blob.as_str().into()],
            ),
            Viewer::User(user) => (
                "SELECT 1 AS seen FROM session_blobs b JOIN sessions s ON s.id = b.session_id \
                 LEFT JOIN session_rights r ON r.session_id = s.id AND r.user_id = $2 \
                 WHERE b.blob = $1 AND (s.owner_id = $2 OR r.user_id = $2) LIMIT 1",
                vec![blob.as_str().into(), user.0.into()],
            ),
        };
        Ok(self.one(sql, values).await?.is_some())
    }
}

pub(crate) fn event(row: &Row) -> Result<LoggedEvent, StoreError> {
    Ok(LoggedEvent {
        seq: count(row.get("seq")?)?,
        at: timestamp(row.get("at_ms")?)?,
        kind: row.get("kind")?,
        data: row.get("data")?,
    })
}

/// Notes that a session shows a blob.
pub(crate) async fn insert_blob(
    tx: &mut Transaction,
    session: SessionId,
    blob: &BlobName,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO session_blobs (blob, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.execute(sql, [blob.as_str().into(), session.0.into()])
        .await?;
    Ok(())
}
