//! Streams of the past, for administrators.

use async_trait::async_trait;
use deskhand_jamie::{
    ControllerError, RecordPage, SetupCheck, StreamRecord, StreamRecords, contract::SessionMetrics,
};
use deskhand_store::StreamRow;
use uuid::Uuid;

use crate::controller::{Streams, failed};

impl Streams {
    fn record(&self, row: StreamRow) -> Result<StreamRecord, ControllerError> {
        Ok(StreamRecord {
            session: row.session,
            owner: self.0.owner,
            view: self.view(row)?,
        })
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
        let records = page.rows.into_iter().map(|row| self.record(row));
        Ok(RecordPage {
            records: records.collect::<Result<_, _>>()?,
            next: page.next,
        })
    }

    async fn active(&self) -> Result<Vec<StreamRecord>, ControllerError> {
        let rows = self.0.store.open_streams().await.map_err(failed)?;
        rows.into_iter().map(|row| self.record(row)).collect()
    }

    async fn checks(&self) -> Vec<SetupCheck> {
        self.check_setup().await
    }
}
