//! The worker of one stream: runs it, and stores how it ended.

use std::time::Duration;

use deskhand_core::stream::StreamState;
use deskhand_jamie::{ErrorCode, contract::StreamRequest};
use deskhand_store::{MoveStream, StoreError, StreamRow};

use crate::{
    controller::{RunningStream, Streams},
    fault::Fault,
    flow::Flow,
};

/// The time after which a stream begins again whose end could not be stored.
const UNSTORED_WAIT: Duration = Duration::from_secs(10);

/// The reason why a stream is over.
#[derive(Debug)]
enum StreamEnd {
    /// Somebody asked for it.
    Stopped,
    /// There is nothing more to show.
    Over,
    Failed(Fault),
}

impl Streams {
    /// Runs a stream to its end. If the server ends before, the stream stays as it is, and the next server resumes it.
    pub(crate) async fn run(self, row: StreamRow, running: RunningStream) {
        let id = row.id;
        let shutdown = self.0.tasks.shutdown().clone();
        let ended = match serde_json::from_str::<StreamRequest>(&row.request) {
            Ok(request) => {
                let performing = self.perform(row, &request, &running);
                shutdown.run_until_cancelled(performing).await
            }
            Err(error) => {
                tracing::error!(stream.id = %id, %error, "a stored request is unreadable, so its stream fails");
                Some(self.give_up(&row).await)
            }
        };
        running.over.cancel();
        if let Some(Err(error)) = ended {
            tracing::error!(
                stream.id = %id,
                error = &error as &dyn std::error::Error,
                "could not store the end of a stream"
            );
            // It begins again when its worker is free.
            let wait = tokio::time::sleep(UNSTORED_WAIT);
            shutdown.run_until_cancelled(wait).await;
        }
        self.release(id);
    }

    /// Ends a stream of which nothing is known but its row, so that it blocks no other.
    async fn give_up(&self, row: &StreamRow) -> Result<(), StoreError> {
        let fault = Fault::from(ErrorCode::Unknown);
        let failed = MoveStream {
            id: row.id,
            from: row.state,
            to: StreamState::Failed,
            at: self.0.clock.now(),
            error: Some((fault.code.name().to_owned(), fault.message)),
        };
        self.0.store.move_stream(&failed).await?;
        Ok(())
    }

    async fn perform(
        &self,
        row: StreamRow,
        request: &StreamRequest,
        running: &RunningStream,
    ) -> Result<(), StoreError> {
        let mut flow = Flow::new(self, &row, request);
        let end = if row.state == StreamState::Stopping {
            // The server ended while it was being stopped.
            StreamEnd::Stopped
        } else {
            tokio::select! {
                biased;
                () = running.stop.cancelled() => StreamEnd::Stopped,
                performed = flow.perform() => match performed {
                    Ok(()) => StreamEnd::Over,
                    Err(fault) => StreamEnd::Failed(fault),
                },
            }
        };
        // People must not watch any longer than the stream lives.
        flow.withdraw().await;
        let finished = self.finish(request, end).await;
        running.over.cancel();
        flow.end_session().await;
        finished
    }

    /// Stores the end, from whichever state the stream is in.
    async fn finish(&self, request: &StreamRequest, end: StreamEnd) -> Result<(), StoreError> {
        let id = request.session_id;
        let Some(row) = self.0.store.stream(id).await? else {
            return Ok(());
        };
        if row.state.is_final() {
            return Ok(());
        }
        let mut from = row.state;
        let error = match end {
            StreamEnd::Failed(fault) if from != StreamState::Stopping => {
                Some((fault.code, fault.message))
            }
            // A stream that somebody stops has ended, whatever else happened to it.
            StreamEnd::Failed(_) | StreamEnd::Over => None,
            StreamEnd::Stopped => {
                let stopping = StreamState::Stopping;
                self.advance(request, from, stopping, None).await?;
                from = stopping;
                None
            }
        };
        let to = match error {
            Some(_) => StreamState::Failed,
            None => StreamState::Ended,
        };
        self.advance(request, from, to, error.clone()).await?;
        self.log_end(request, error).await
    }

    async fn log_end(
        &self,
        request: &StreamRequest,
        error: Option<(ErrorCode, String)>,
    ) -> Result<(), StoreError> {
        let id = request.session_id;
        if let Some((code, message)) = error {
            tracing::warn!(
                event = "session.failed",
                session_id = %id,
                error_code = code.name(),
                error_message = message,
                "a stream failed"
            );
            return Ok(());
        }
        let row = self.0.store.stream(id).await?;
        let times = row
            .as_ref()
            .and_then(|row| row.started_at.zip(row.ended_at));
        let duration = times.map_or(0, |(from, to)| to.as_second() - from.as_second());
        tracing::info!(
            event = "session.ended",
            session_id = %id,
            duration_seconds = duration,
            cost_usd = row.map_or(0.0, |row| row.cost_usd),
            "a stream ended"
        );
        Ok(())
    }
}
