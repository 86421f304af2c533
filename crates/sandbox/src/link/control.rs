//! One control link: sending what waits, and taking in what the runner says.

use bytes::Bytes;
use deskhand_core::sandbox::{ComputerError, ComputerReply, Frame};
use deskhand_runner_protocol::{FromRunner, Outcome, ToRunner, codec};
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio_tungstenite::tungstenite::Message;

use super::{Link, Socket, Status, requests::Answer};

/// A newer control link has taken this one's place, or the sandbox is gone.
struct Replaced;

impl Link {
    /// Serves a control link until it breaks or a newer one takes its place.
    pub(super) async fn serve_control(&self, socket: Socket) {
        let generation = {
            let mut state = self.state();
            state.generation += 1;
            state.is_ready = false;
            state.generation
        };
        // The older link is waiting for something to send; this lets it see that it is old.
        self.wake.notify_waiters();
        let (sink, stream) = socket.split();
        // Both directions at once: neither side may wait for the other to read first.
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
            tracing::debug!("the runner's control link broke; it should dial again");
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
            match codec::unpack::<FromRunner>(&message) {
                Ok((head, body)) => {
                    if self.hear(generation, head, body).is_err() {
                        return;
                    }
                }
                Err(error) => tracing::warn!(%error, "the runner said something unknown"),
            }
        }
    }

    /// Who drives comes first, so that nothing is asked of a runner that does not know. Requests come
    /// before everything else, so that a request is known before it is cancelled.
    fn next_message(&self, generation: u64) -> Result<Option<Bytes>, Replaced> {
        let mut state = self.state();
        if state.generation != generation || state.has_ended {
            return Err(Replaced);
        }
        if !state.is_ready {
            return Ok(None);
        }
        if let Some(driver) = state.driver_for(generation) {
            return Ok(Some(driver));
        }
        if let Some(request) = state.requests.next_for(generation) {
            return Ok(Some(request));
        }
        while let Some(note) = state.notes.pop_front() {
            match codec::pack(&note, &[]) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => tracing::warn!(%error, "a note to the runner was not written"),
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
                self.status.send_replace(Status::Ready(screen));
            }
            FromRunner::StartFailed { problem } => {
                self.status.send_replace(Status::StartFailed(problem));
            }
            FromRunner::Progress { id } => state.requests.progress(id, body),
            FromRunner::Result { id, outcome } => {
                state.requests.answer(id, answer_of(outcome, body));
                state.notes.push_back(ToRunner::Ack { id });
            }
            FromRunner::DriverSet { number } => {
                self.known_driver
                    .send_modify(|known| *known = number.max(*known));
            }
            FromRunner::Notice { text } => {
                tracing::info!(text, "the runner gave notice");
                state.last_notice = Some(text);
            }
            FromRunner::StreamFailed { stream, problem } => {
                if let Some(asker) = state.streams.remove(&stream) {
                    // Whoever asked may be gone.
                    let _ = asker.send(Err(problem));
                }
            }
        }
        drop(state);
        self.wake.notify_waiters();
        Ok(())
    }
}

fn answer_of(outcome: Outcome, body: Bytes) -> Answer {
    match outcome {
        Outcome::Acted { text, frame } => Ok(ComputerReply::Acted {
            text,
            frame: frame.map(|head| Frame {
                bytes: body,
                format: head.format,
                size: head.size,
                pointer: head.pointer,
            }),
        }),
        Outcome::Shell { output } => Ok(ComputerReply::Shell(output)),
        Outcome::Edited { text } => Ok(ComputerReply::Edited { text }),
        Outcome::Failed { problem } => Err(ComputerError::Failed(problem)),
        Outcome::Cancelled => Err(ComputerError::Cancelled),
        Outcome::Refused { was_begun } => Err(ComputerError::Refused { was_begun }),
    }
}
