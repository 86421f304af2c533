//! Streams as they are recorded, for the bot and for administrators.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_jamie::{
    ControllerError, ErrorCode, RecordPage, SetupCheck, StreamRecord, StreamRecords,
    contract::{SessionMetrics, SessionView, StreamRequest},
};
use deskhand_store::StreamRow;
use uuid::Uuid;

use crate::controller::{Streams, failed, unreadable};

/// The time for which a bot that was away is told of ends.
const LATELY: Duration = Duration::from_hours(1);
/// The number of newest streams of which the ended ones are told.
const MAX_ENDED_LATELY: u32 = 50;

impl Streams {
    /// Describes a stream.
    pub(crate) fn view(&self, row: StreamRow) -> Result<SessionView, ControllerError> {
        let request: StreamRequest =
            serde_json::from_str(&row.request).map_err(|error| unreadable(&error))?;
        let error_code = row.error_code.as_deref();
        let links = self.0.app.watch_links();
        let n_watchers = row.session.map_or(0, |shown| links.n_watchers(shown));
        Ok(SessionView {
            session_id: row.id,
            status: row.state,
            url: request.url,
            guild_id: request.guild_id,
            channel_id: request.channel_id,
            channel_name: request.channel_name,
            requester_id: request.requester_id,
            guild_name: request.guild_name,
            status_message: request.status_message,
            watch_url: self.watch_url(row.id),
            error_code: error_code
                .map(|name| ErrorCode::by_name(name).unwrap_or(ErrorCode::Unknown)),
            error_message: row.error_message,
            created_at: row.created_at,
            started_at: row.started_at,
            ended_at: row.ended_at,
            agent_iterations: row.n_steps,
            agent_cost_usd: row.cost_usd,
            viewer_count: u64::try_from(n_watchers).unwrap_or(u64::MAX),
        })
    }

    /// Returns the newest streams that ended in the last hour.
    pub(crate) async fn find_ended_lately(&self) -> Result<Vec<SessionView>, ControllerError> {
        let page = self.0.store.stream_history(None, MAX_ENDED_LATELY).await;
        let since = self.0.clock.now() - LATELY;
        let ended = page.map_err(failed)?.rows.into_iter();
        let ended = ended.filter(|row| row.ended_at.is_some_and(|at| at >= since));
        // One that cannot be read has been logged, and does not hide the others.
        Ok(ended.filter_map(|row| self.view(row).ok()).collect())
    }

    /// Returns the records of streams. One that cannot be read is logged, and does not hide the others.
    fn records(&self, rows: Vec<StreamRow>) -> Vec<StreamRecord> {
        let records = rows.into_iter().filter_map(|row| {
            Some(StreamRecord {
                session: row.session,
                owner: self.0.owner,
                view: self.view(row).ok()?,
            })
        });
        records.collect()
    }
}

#[async_trait]
impl StreamRecords for Streams {
    async fn figures(&self) -> Result<SessionMetrics, ControllerError> {
        let figures = self.0.store.stream_figures().await.map_err(failed)?;
        Ok(SessionMetrics {
            total_sessions: figures.n_total,
            successful_sessions: figures.n_successful,
            failed_sessions: figures.n_failed,
            total_streaming_seconds: figures.streaming_seconds,
            total_cost_usd: figures.cost_usd,
            avg_start_time_seconds: figures.average_start_seconds,
        })
    }

    async fn history(
        &self,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<RecordPage, ControllerError> {
        let page = self.0.store.stream_history(before, limit).await;
        let page = page.map_err(failed)?;
        Ok(RecordPage {
            records: self.records(page.rows),
            next: page.next,
        })
    }

    async fn active(&self) -> Result<Vec<StreamRecord>, ControllerError> {
        let rows = self.0.store.open_streams().await.map_err(failed)?;
        Ok(self.records(rows))
    }

    async fn checks(&self) -> Vec<SetupCheck> {
        self.check_setup().await
    }
}
