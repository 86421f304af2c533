//! One control link: sends pending messages and handles those of the runner.

use bytes::Bytes;
use deskhand_core::sandbox::{ComputerError, MOST_PORTS};
use deskhand_runner_protocol::{FromRunner, Outcome, StreamFailure, ToRunner};
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio_tungstenite::tungstenite::Message;

use super::{Link, Socket, Status, lease::ConfirmedHolder, requests::RequestResult};

/// The error for a control link that a newer one has replaced, or whose sandbox is gone.
struct Replaced;

impl Link {
    /// Serves a control link until it breaks or a newer one replaces it.
    pub(super) async fn serve_control(&self, socket: Socket) {
        let generation = {
            let mut state = self.state();
            state.generation += 1;
            state.is_ready = false;
            state.generation
        };
        // An older link may be waiting for something to send. This wakes it, so that it notices its replacement.
        self.wake.notify_waiters();
        let (sink, stream) = socket.split();
        // Both directions run at once, since neither side may wait for the other to read first.
        tokio::select! {
            () = self.send_all(generation, sink) => {}
            () = self.hear_all(generation, stream) => {}
        }
        let mut state = self.state();
        if state.generation == generation && state.is_ready && !state.has_ended {
            state.is_ready = false;
            drop(state);
            self.status.send_if_modified(|status| {
                let was_ready = matches!(status, Status::Ready(_));
                if was_ready {
                    *status = Status::Broken;
                }
                was_ready
            });
            tracing::debug!("the runner's control link broke; waiting for it to reconnect");
        }
    }

    async fn send_all(&self, generation: u64, mut sink: SplitSink<Socket, Message>) {
        loop {
            let mut woken = std::pin::pin!(self.wake.notified());
            woken.as_mut().enable();
            match self.next_message(generation) {
                Ok(Some(message)) => {
                    if sink.send(Message::Binary(message)).await.is_err() {
                        return;
                    }
                }
                Ok(None) => woken.await,
                Err(Replaced) => return,
            }
        }
    }

    async fn hear_all(&self, generation: u64, mut stream: SplitStream<Socket>) {
        while let Some(Ok(message)) = stream.next().await {
            let Message::Binary(message) = message else {
                continue;
            };
            match FromRunner::unpack(&message) {
                Ok((head, body)) => {
                    if self.hear(generation, head, body).is_err() {
                        return;
                    }
                }
                Err(error) => tracing::warn!(%error, "the runner sent an unknown message"),
            }
        }
    }

    /// Returns the next message for this control link.
    ///
    /// The lease holder comes first, so that no request reaches a runner that does not know it. Requests come
    /// before everything else, so that a request is known before it is cancelled.
    fn next_message(&self, generation: u64) -> Result<Option<Bytes>, Replaced> {
        let mut state = self.state();
        if state.generation != generation || state.has_ended {
            return Err(Replaced);
        }
        if !state.is_ready {
            return Ok(None);
        }
        if let Some(holder) = state.holder_for(generation) {
            return Ok(Some(holder));
        }
        if let Some(request) = state.requests.next_for(generation) {
            return Ok(Some(request));
        }
        while let Some(note) = state.notes.pop_front() {
            match note.pack() {
                Ok(message) => return Ok(Some(message)),
                Err(error) => tracing::warn!(%error, "could not encode a message to the runner"),
            }
        }
        Ok(None)
    }

    fn hear(&self, generation: u64, head: FromRunner, body: Bytes) -> Result<(), Replaced> {
        let mut state = self.state();
        if state.generation != generation || state.has_ended {
            return Err(Replaced);
        }
        match head {
            FromRunner::Ready { screen } => {
                state.is_ready = true;
                state.was_ready = true;
                self.status.send_replace(Status::Ready(screen));
            }
            FromRunner::StartFailed { problem } => {
                self.status.send_replace(Status::StartFailed(problem));
            }
            FromRunner::Progress { id } => state.requests.progress(id, body),
            FromRunner::Result { id, outcome } => {
                state.requests.answer(id, result_of(outcome));
                state.notes.push_back(ToRunner::Ack { id });
            }
            FromRunner::LeaseHolderSet { number, problem } => {
                let newest = ConfirmedHolder { number, problem };
                self.confirmed_holder.send_if_modified(|confirmed| {
                    let is_newer = newest.number > confirmed.number;
                    if is_newer {
                        *confirmed = newest;
                    }
                    is_newer
                });
            }
            FromRunner::Notice { text } => {
                tracing::info!(text, "the runner sent a notice");
                state.last_notice = Some(text);
            }
            FromRunner::LastWords { text } => state.last_words = Some(text),
            FromRunner::StreamFailed {
                stream,
                problem,
                reason,
            } => {
                if let Some(asker) = state.streams.remove(&stream) {
                    // The caller may be gone.
                    let _ = asker.send(Err(failure_of(reason, problem)));
                }
            }
            FromRunner::Ports { mut ports } => {
                ports.truncate(MOST_PORTS);
                state.ports = ports;
            }
        }
        drop(state);
        self.wake.notify_waiters();
        Ok(())
    }
}

fn failure_of(reason: StreamFailure, problem: String) -> ComputerError {
    match reason {
        StreamFailure::Other => ComputerError::Failed(problem),
        StreamFailure::Refused => ComputerError::Refused { was_begun: false },
        StreamFailure::NothingListens { port } => ComputerError::NothingListens(port),
        StreamFailure::NoSoundCard => ComputerError::NoSoundCard,
    }
}

fn result_of(outcome: Outcome) -> RequestResult {
    match outcome {
        Outcome::Done(reply) => Ok(reply),
        Outcome::Failed { problem } => Err(ComputerError::Failed(problem)),
        Outcome::Cancelled => Err(ComputerError::Cancelled),
        Outcome::Refused { was_begun } => Err(ComputerError::Refused { was_begun }),
    }
}
