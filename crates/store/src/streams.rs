//! Streams of web pages: their requests, states and figures.

use deskhand_core::{id::SessionId, stream::StreamState};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    budgets::{nano, usd},
    database::{Row, Store, StoreError, millis, timestamp},
};

const COLUMNS: &str = "id, request, state, session_id, watch_link_id, error_code, error_message, n_steps, cost_nanousd, \
                       created_at_ms, started_at_ms, ended_at_ms";

/// The advisory lock under which streams are admitted on PostgreSQL. It can be any number that no other program is
/// likely to use.
const ADMISSION_LOCK: i64 = 0x6465_736b_7374_726d;
/// The number of streams from which the usual time until a stream starts is computed.
const RECENT: i64 = 50;

/// A stream that somebody asks for. It begins `pending`.
#[derive(Debug)]
pub struct NewStream<'a> {
    pub id: Uuid,
    /// The request as JSON.
    pub request: &'a str,
    pub created_at: Timestamp,
}

/// The decision about a new stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamAdmission {
    Accepted,
    /// The same stream was accepted before.
    Known,
    /// As many streams as there may be have not ended.
    Full,
}

/// A stored stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamRow {
    pub id: Uuid,
    pub request: String,
    pub state: StreamState,
    pub session: Option<SessionId>,
    pub watch_link: Option<Uuid>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    /// The answers of models.
    pub n_steps: u64,
    pub cost_usd: f64,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// A page of streams, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamPage {
    pub rows: Vec<StreamRow>,
    /// The last of them, if there are older ones.
    pub next: Option<Uuid>,
}

/// A move of a stream to another state.
#[derive(Debug, Clone)]
pub struct MoveStream {
    pub id: Uuid,
    pub from: StreamState,
    pub to: StreamState,
    pub at: Timestamp,
    /// The code and the sentence of the error that ended it.
    pub error: Option<(String, String)>,
}

/// The figures of all streams that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamFigures {
    pub n_total: u64,
    /// Streams that people could watch and that ended without an error.
    pub n_successful: u64,
    pub n_failed: u64,
    pub streaming_seconds: f64,
    pub cost_usd: f64,
    /// The average time from the request until people could watch.
    pub average_start_seconds: f64,
}

impl Store {
    /// Stores a new stream, unless `most_open` streams have not ended.
    pub async fn insert_stream(
        &self,
        new: NewStream<'_>,
        most_open: u64,
    ) -> Result<StreamAdmission, StoreError> {
        let mut tx = self.begin().await?;
        if tx.is_postgres() {
            // Of two concurrent requests, one waits here and then sees the other's stream.
            let lock = "SELECT 1 AS locked FROM pg_advisory_xact_lock($1)";
            tx.one(lock, [ADMISSION_LOCK.into()]).await?;
        }
        let known = "SELECT id FROM streams WHERE id = $1";
        if tx.one(known, [new.id.into()]).await?.is_some() {
            return Ok(StreamAdmission::Known);
        }
        let open = "SELECT COUNT(*) AS n FROM streams WHERE ended_at_ms IS NULL";
        let n_open: i64 = match tx.one(open, []).await? {
            Some(row) => row.get("n")?,
            None => 0,
        };
        if u64::try_from(n_open).unwrap_or_default() >= most_open {
            return Ok(StreamAdmission::Full);
        }
        let sql = "INSERT INTO streams (id, request, state, n_steps, cost_nanousd, created_at_ms) \
                   VALUES ($1, $2, $3, 0, 0, $4)";
        let values = [
            new.id.into(),
            new.request.into(),
            StreamState::Pending.name().into(),
            millis(new.created_at),
        ];
        tx.execute(sql, values).await?;
        tx.commit().await?;
        Ok(StreamAdmission::Accepted)
    }

    pub async fn stream(&self, id: Uuid) -> Result<Option<StreamRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM streams WHERE id = $1");
        let row = self.one(&sql, [id.into()]).await?;
        row.map(|row| stream(&row)).transpose()
    }

    /// Returns the streams that have not ended, oldest first.
    pub async fn open_streams(&self) -> Result<Vec<StreamRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM streams WHERE ended_at_ms IS NULL ORDER BY created_at_ms, id"
        );
        self.all(&sql, []).await?.iter().map(stream).collect()
    }

    /// Returns streams, newest first: those that were asked for before the one called `before`, or all.
    pub async fn stream_history(
        &self,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<StreamPage, StoreError> {
        let (at_ms, id) = match before {
            None => (i64::MAX, Uuid::max()),
            Some(id) => match self.stream(id).await? {
                Some(row) => (row.created_at.as_millisecond(), id),
                None => return Ok(StreamPage::default()),
            },
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM streams WHERE created_at_ms < $1 OR (created_at_ms = $1 AND id < $2) \
             ORDER BY created_at_ms DESC, id DESC LIMIT $3"
        );
        let one_more = i64::from(limit.saturating_add(1));
        let values = [at_ms.into(), id.into(), one_more.into()];
        let rows = self.all(&sql, values).await?;
        let mut rows = rows.iter().map(stream).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > wanted;
        rows.truncate(wanted);
        let next = rows.last().filter(|_| has_more).map(|last| last.id);
        Ok(StreamPage { rows, next })
    }

    /// Moves a stream to another state. Returns false if it is no longer in the state that the move begins with, or if
    /// there is no such move.
    pub async fn move_stream(&self, change: &MoveStream) -> Result<bool, StoreError> {
        let (from, to) = (change.from, change.to);
        if !from.may_become(to) {
            return Ok(false);
        }
        let at = Some(change.at.as_millisecond());
        let (code, message) = change.error.clone().unzip();
        let sql = "UPDATE streams SET state = $1, started_at_ms = COALESCE(started_at_ms, $2), \
                   ended_at_ms = $3, error_code = $4, error_message = $5 WHERE id = $6 AND state = $7";
        let values = [
            to.name().into(),
            at.filter(|_| to == StreamState::Streaming).into(),
            at.filter(|_| to.is_final()).into(),
            code.into(),
            message.into(),
            change.id.into(),
            from.name().into(),
        ];
        Ok(self.write(sql, values).await? > 0)
    }

    /// Notes the session that shows a stream, or that there is none.
    pub async fn set_stream_session(
        &self,
        id: Uuid,
        session: Option<SessionId>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE streams SET session_id = $1 WHERE id = $2";
        let session = session.map(|session| session.0);
        self.write(sql, [session.into(), id.into()]).await?;
        Ok(())
    }

    /// Notes the link by which people watch a stream, or that there is none any more.
    pub async fn set_stream_link(&self, id: Uuid, link: Option<Uuid>) -> Result<(), StoreError> {
        let sql = "UPDATE streams SET watch_link_id = $1 WHERE id = $2";
        self.write(sql, [link.into(), id.into()]).await?;
        Ok(())
    }

    /// Adds answers of models to a stream.
    pub async fn add_stream_cost(
        &self,
        id: Uuid,
        n_steps: u64,
        cost_usd: f64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE streams SET n_steps = n_steps + $1, cost_nanousd = cost_nanousd + $2 WHERE id = $3";
        let n_steps = i64::try_from(n_steps).unwrap_or(i64::MAX);
        let values = [n_steps.into(), nano(cost_usd).into(), id.into()];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Removes at most `limit` of the streams that ended before `before`. Returns their number.
    pub async fn remove_streams_ended_before(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let sql = "DELETE FROM streams WHERE id IN \
                   (SELECT id FROM streams WHERE ended_at_ms < $1 ORDER BY created_at_ms LIMIT $2)";
        self.write(sql, [millis(before), i64::from(limit).into()])
            .await
    }

    /// Returns the average time from the request until people could watch, in seconds, of the last streams. Returns
    /// `None` if people could watch none of them.
    pub async fn usual_start_seconds(&self) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT CAST(AVG(start_ms) AS BIGINT) AS start_ms FROM \
                   (SELECT started_at_ms - created_at_ms AS start_ms FROM streams \
                   ORDER BY created_at_ms DESC, id DESC LIMIT $1) AS recent";
        let Some(row) = self.one(sql, [RECENT.into()]).await? else {
            return Ok(None);
        };
        let start_ms: Option<i64> = row.get("start_ms")?;
        Ok(start_ms.map(seconds))
    }

    /// Returns the figures of all streams that are kept.
    pub async fn stream_figures(&self) -> Result<StreamFigures, StoreError> {
        let sql = "SELECT COUNT(*) AS n_total, \
                   COUNT(CASE WHEN state = 'ended' AND started_at_ms IS NOT NULL THEN 1 END) AS n_successful, \
                   COUNT(CASE WHEN state = 'failed' THEN 1 END) AS n_failed, \
                   CAST(COALESCE(SUM(ended_at_ms - started_at_ms), 0) AS BIGINT) AS streaming_ms, \
                   CAST(COALESCE(SUM(cost_nanousd), 0) AS BIGINT) AS cost_nanousd, \
                   CAST(COALESCE(AVG(started_at_ms - created_at_ms), 0) AS BIGINT) AS start_ms FROM streams";
        let Some(row) = self.one(sql, []).await? else {
            return Ok(StreamFigures::default());
        };
        let count = |column: &str| {
            row.get::<i64>(column)
                .map(|n| u64::try_from(n).unwrap_or(0))
        };
        Ok(StreamFigures {
            n_total: count("n_total")?,
            n_successful: count("n_successful")?,
            n_failed: count("n_failed")?,
            streaming_seconds: seconds(row.get("streaming_ms")?),
            cost_usd: usd(row.get("cost_nanousd")?),
            average_start_seconds: seconds(row.get("start_ms")?),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact for thousands of years")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1e3
}

fn stream(row: &Row) -> Result<StreamRow, StoreError> {
    let state: &str = row.get("state")?;
    let state = StreamState::ALL.into_iter().find(|one| one.name() == state);
    let time = |column: &str| {
        let at: Option<i64> = row.get(column)?;
        at.map(timestamp).transpose()
    };
    let n_steps: i64 = row.get("n_steps")?;
    Ok(StreamRow {
        id: row.get("id")?,
        request: row.get("request")?,
        state: state.ok_or_else(|| StoreError::Unreadable("state of a stream".to_owned()))?,
        session: row.get::<Option<Uuid>>("session_id")?.map(SessionId),
        watch_link: row.get("watch_link_id")?,
        error_code: row.get("error_code")?,
        error_message: row.get("error_message")?,
        n_steps: u64::try_from(n_steps).unwrap_or_default(),
        cost_usd: usd(row.get("cost_nanousd")?),
        created_at: timestamp(row.get("created_at_ms")?)?,
        started_at: time("started_at_ms")?,
        ended_at: time("ended_at_ms")?,
    })
}
