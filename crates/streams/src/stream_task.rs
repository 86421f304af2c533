//! The worker of one stream: runs it, and stores how it ended.

use std::time::Duration;

use deskhand_core::stream::StreamState;
use deskhand_jamie::{ErrorCode, contract::StreamRequest};
use deskhand_store::{MoveStream, StoreError, StreamRow};
use uuid::Uuid;

use crate::{
    controller::{RunningStream, Streams},
    fault::Fault,
    flow::Flow,
};

/// The delay before another try for a stream whose end could not be stored.
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

impl StreamEnd {
    /// Returns the state that follows `from` on the way to this end. A stream that somebody stops has ended, whatever
    /// else happened to it.
    fn next(&self, from: StreamState) -> StreamState {
        match (self, from) {
            (_, StreamState::Stopping) | (Self::Over, StreamState::Streaming) => StreamState::Ended,
            (Self::Failed(_), _) => StreamState::Failed,
            (Self::Stopped | Self::Over, _) => StreamState::Stopping,
        }
    }
}

/// The progress of storing a stream's end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EndStored {
    /// The stream is not over.
    #[default]
    NotYet,
    Done,
    /// The database did not take it, or the server is ending. It is tried again.
    Failed,
}

impl RunningStream {
    /// Asks the worker for the end of the stream, and waits until it is stored. Returns false if it could not be.
    pub(crate) async fn end(&self) -> bool {
        self.stop.cancel();
        let mut stored = self.stored.subscribe();
        let stored = stored.wait_for(|stored| *stored != EndStored::NotYet);
        // The sender is part of this, so waiting cannot fail.
        stored.await.is_ok_and(|stored| *stored == EndStored::Done)
    }

    fn note_end(&self, is_stored: bool) {
        self.stored.send_replace(match is_stored {
            true => EndStored::Done,
            false => EndStored::Failed,
        });
    }
}

impl Streams {
    /// Runs a stream to its end. If the server ends before, the stream stays as it is, and the next server resumes it.
    pub(crate) async fn run(self, id: Uuid, running: RunningStream) {
        let shutdown = self.0.tasks.shutdown().clone();
        let working = Box::pin(self.work(id, &running));
        let is_stored = match shutdown.run_until_cancelled(working).await {
            Some(Ok(())) => true,
            Some(Err(error)) => {
                log_unstored(id, &error);
                false
            }
            None => *running.stored.borrow() == EndStored::Done,
        };
        running.note_end(is_stored);
        if !is_stored {
            // It is taken up again when its worker is free.
            let wait = tokio::time::sleep(UNSTORED_WAIT);
            shutdown.run_until_cancelled(wait).await;
        }
        self.release(id);
    }

    async fn work(&self, id: Uuid, running: &RunningStream) -> Result<(), StoreError> {
        // The stream may have ended since it was found among those that have not.
        let row = self.0.store.stream(id).await?;
        let Some(row) = row.filter(|row| !row.state.is_final()) else {
            return Ok(());
        };
        match serde_json::from_str::<StreamRequest>(&row.request) {
            Ok(request) => {
                self.perform(row, &request, running).await;
                Ok(())
            }
            Err(error) => {
                tracing::error!(stream.id = %id, %error, "a stored request is unreadable, so its stream fails");
                self.give_up(&row).await
            }
        }
    }

    /// Ends a stream whose request cannot be read, so that it does not block others.
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

    async fn perform(&self, row: StreamRow, request: &StreamRequest, running: &RunningStream) {
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
        loop {
            // People must not watch any longer than the stream lives.
            flow.withdraw().await;
            let finished = self.finish(request, &end).await;
            running.note_end(finished.is_ok());
            flow.end_session().await;
            let Err(error) = finished else {
                return;
            };
            log_unstored(row.id, &error);
            tokio::time::sleep(UNSTORED_WAIT).await;
        }
    }

    /// Stores the end, from whichever state the stream is in.
    async fn finish(&self, request: &StreamRequest, end: &StreamEnd) -> Result<(), StoreError> {
        loop {
            let row = self.0.store.stream(request.session_id).await?;
            let Some(row) = row.filter(|row| !row.state.is_final()) else {
                return Ok(());
            };
            let to = end.next(row.state);
            let error = match end {
                StreamEnd::Failed(fault) if to == StreamState::Failed => {
                    Some((fault.code, fault.message.clone()))
                }
                StreamEnd::Failed(_) | StreamEnd::Stopped | StreamEnd::Over => None,
            };
            let has_moved = self.advance(request, row.state, to, error.clone()).await?;
            if has_moved && to.is_final() {
                self.log_end(request, error).await;
                return Ok(());
            }
        }
    }

    async fn log_end(&self, request: &StreamRequest, error: Option<(ErrorCode, String)>) {
        let id = request.session_id;
        if let Some((code, message)) = error {
            tracing::warn!(
                event = "session.failed",
                session_id = %id,
                error_code = code.name(),
                error_message = message,
                "a stream failed"
            );
            return;
        }
        // The end is stored, so a log line without figures is the worst that can happen.
        let row = self.0.store.stream(id).await.ok().flatten();
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
    }
}

fn log_unstored(id: Uuid, error: &StoreError) {
    tracing::error!(
        stream.id = %id,
        error = error as &dyn std::error::Error,
        "could not read a stream or store its end; trying again soon"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_reached_by_legal_moves() {
        let fault = Fault::from(ErrorCode::Unknown);
        for end in [
            StreamEnd::Stopped,
            StreamEnd::Over,
            StreamEnd::Failed(fault),
        ] {
            for mut state in StreamState::ALL {
                while !state.is_final() {
                    let next = end.next(state);
                    assert!(state.may_become(next), "{end:?}: {state:?} to {next:?}");
                    state = next;
                }
            }
        }
    }
}
