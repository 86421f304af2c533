//! Redacts secrets from the output of a terminal on its way to a viewer.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    sandbox::ByteStream,
    terminal::{BadTerminalFrame, Framed, TerminalFrames, TerminalUpdate},
};
use futures::{Stream, StreamExt};

use super::secrets::TypedSecrets;
use crate::redactor::Redactor;

/// The time after which the possible beginning of a secret is shown if nothing follows.
const SHOW_AFTER: Duration = Duration::from_millis(30);

/// The redacted output of one terminal for one viewer.
struct CleanOutput {
    incoming: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    frames: TerminalFrames,
    /// Redacted frames that were not returned yet.
    ready: VecDeque<Bytes>,
    redactor: Redactor,
    secrets: Arc<TypedSecrets>,
    n_known: usize,
}

/// Replaces all secrets of the session in a stream, including those that are typed while it is open.
pub(super) fn redacted(stream: ByteStream, secrets: Arc<TypedSecrets>) -> ByteStream {
    let output = CleanOutput {
        incoming: stream.incoming,
        frames: TerminalFrames::default(),
        ready: VecDeque::new(),
        redactor: Redactor::new(&[]),
        secrets,
        n_known: 0,
    };
    let incoming = futures::stream::unfold(output, |mut output| async move {
        let frame = output.next().await?;
        Some((frame, output))
    });
    ByteStream {
        incoming: Box::pin(incoming),
        outgoing: stream.outgoing,
    }
}

impl CleanOutput {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            let holds_beginning = self.redactor.holds_beginning();
            let piece = tokio::select! {
                piece = self.incoming.next() => Some(piece?),
                () = tokio::time::sleep(SHOW_AFTER), if holds_beginning => None,
            };
            match piece {
                Some(piece) => {
                    if let Err(error) = self.clean(&piece) {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(
                            error,
                            "could not read a frame of a terminal; closing its stream"
                        );
                        return None;
                    }
                }
                None => {
                    let beginning = self.redactor.show_beginning();
                    self.push_output(beginning);
                }
            }
        }
    }

    fn clean(&mut self, piece: &[u8]) -> Result<(), BadTerminalFrame> {
        let earlier = std::mem::replace(&mut self.redactor, Redactor::new(&[]));
        self.redactor = self.secrets.renew(earlier, &mut self.n_known);
        self.frames.push(piece);
        while let Some(update) = self.frames.read()? {
            match update {
                TerminalUpdate::Output(bytes) if self.n_known == 0 => {
                    self.ready
                        .push_back(TerminalUpdate::Output(bytes).to_frame());
                }
                TerminalUpdate::Output(bytes) => {
                    let clean = self.redactor.push(&bytes);
                    self.push_output(clean);
                }
                TerminalUpdate::Replay(start) => {
                    self.redactor.forget();
                    self.ready
                        .push_back(TerminalUpdate::Replay(start).to_frame());
                }
                TerminalUpdate::State(state) => {
                    self.ready
                        .push_back(TerminalUpdate::State(state).to_frame());
                }
            }
        }
        Ok(())
    }

    fn push_output(&mut self, clean: Vec<u8>) {
        if !clean.is_empty() {
            let output = TerminalUpdate::Output(clean.into());
            self.ready.push_back(output.to_frame());
        }
    }
}
