//! The event log: appending to it and reading it back.

use deskhand_core::{
    blob::BlobName,
    event::{EVENT_VERSION, EventBody, LoggedEvent, Screenshot},
    id::SessionId,
    viewer::Viewer,
};
use jiff::Timestamp;

use crate::database::{
    Row, Store, StoreError, Transaction, Value, count, millis, stored_count, timestamp,
};

impl Store {
    /// Appends events to a session's log. `None` when there is no such session.
    pub async fn append(
        &self,
        session: SessionId,
        bodies: &[EventBody],
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "UPDATE sessions SET last_seq = last_seq + $1, updated_at_ms = $2 WHERE id = $3 \
                   RETURNING last_seq";
        let values = [stored_len(bodies), millis(at), session.0.into()];
        let Some(row) = transaction.one(sql, values).await? else {
            return Ok(None);
        };
        let first = first_seq(&row, bodies.len())?;
        let events = insert_events(&mut transaction, session, first, bodies, at).await?;
        transaction.commit().await?;
        Ok(Some(events))
    }

    /// A session's events after number `after`, oldest first.
    pub async fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let sql = "SELECT seq, kind, at_ms, data FROM events WHERE session_id = $1 AND seq > $2 \
                   ORDER BY seq LIMIT $3";
        let values = [
            session.0.into(),
            stored_count(after),
            i64::from(limit).into(),
        ];
        self.all(sql, values).await?.iter().map(event).collect()
    }

    /// The newest picture in a session's log.
    pub async fn newest_screenshot(
        &self,
        session: SessionId,
    ) -> Result<Option<Screenshot>, StoreError> {
        let sql = "SELECT data FROM events WHERE session_id = $1 AND kind = 'screenshot' \
                   ORDER BY seq DESC LIMIT 1";
        let Some(row) = self.one(sql, [session.0.into()]).await? else {
            return Ok(None);
        };
        let data: String = row.get("data")?;
        serde_json::from_str(&data)
            .map(Some)
            .map_err(|error| StoreError::Unreadable(error.to_string()))
    }

    /// Whether a session that this viewer may see shows this blob.
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

/// Writes events whose numbers, from `first` on, were taken in the same transaction.
pub(crate) async fn insert_events(
    transaction: &mut Transaction,
    session: SessionId,
    first: u64,
    bodies: &[EventBody],
    at: Timestamp,
) -> Result<Vec<LoggedEvent>, StoreError> {
    let mut events = Vec::with_capacity(bodies.len());
    for (seq, body) in (first..).zip(bodies) {
        let data = body
            .data()
            .map_err(|error| StoreError::Unreadable(error.to_string()))?;
        let sql = "INSERT INTO events (session_id, seq, version, kind, at_ms, data) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            session.0.into(),
            stored_count(seq),
            i32::from(EVENT_VERSION).into(),
            body.kind().into(),
            millis(at),
            data.clone().into(),
        ];
        transaction.execute(sql, values).await?;
        if let EventBody::Screenshot(Screenshot { blob, .. }) = body {
            let sql = "INSERT INTO session_blobs (blob, session_id) VALUES ($1, $2) \
                       ON CONFLICT DO NOTHING";
            transaction
                .execute(sql, [blob.as_str().into(), session.0.into()])
                .await?;
        }
        events.push(LoggedEvent {
            seq,
            at,
            kind: body.kind().to_owned(),
            data,
        });
    }
    Ok(events)
}

/// How many numbers a batch of events takes.
pub(crate) fn stored_len(bodies: &[EventBody]) -> Value {
    stored_count(u64::try_from(bodies.len()).unwrap_or(u64::MAX))
}

/// The number of the first of `n_events` events when `row` has the number of the last.
pub(crate) fn first_seq(row: &Row, n_events: usize) -> Result<u64, StoreError> {
    let last = count(row.get("last_seq")?)?;
    Ok((last + 1).saturating_sub(u64::try_from(n_events).unwrap_or(u64::MAX)))
}

pub(crate) fn event(row: &Row) -> Result<LoggedEvent, StoreError> {
    Ok(LoggedEvent {
        seq: count(row.get("seq")?)?,
        at: timestamp(row.get("at_ms")?)?,
        kind: row.get("kind")?,
        data: row.get("data")?,
    })
}
