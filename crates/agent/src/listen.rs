//! Listening to the model: its stream becomes `thinking` and `text` events as it speaks.
//!
//! Vendors stream word by word. An event per word would fill the log, so pieces are put together
//! and written when their block ends, and otherwise every [`FLUSH_EVERY`].

use std::time::Duration;

use deskhand_core::{
    event::{Cost, EventBody, Said},
    id::TurnId,
    model::{Chunk, ModelError, ModelRequest, ToolCall},
};
use futures::StreamExt;
use tokio::time::Instant;

use crate::work::{Cut, Work};

/// Quick enough to read along.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// A whole answer of the model.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
}

impl Work {
    /// Asks the model and writes down what it says. Calls are only given back once the answer is
    /// whole: of an answer that breaks off, nothing is carried out.
    pub(crate) async fn listen(&mut self, request: ModelRequest) -> Result<Spoken, Cut> {
        let mut speech = Speech::new(self.turn, self.n_blocks);
        let heard = self.hear(request, &mut speech).await;
        self.n_blocks = speech.n_blocks;
        // What was said before it broke off was said. An answer that is whole is stored whole, so
        // that it never has to be asked for again.
        let mut bodies: Vec<_> = speech.take().into_iter().collect();
        if let Ok(calls) = &heard {
            bodies.extend(calls.iter().map(|call| self.tool_use(call)));
            bodies.push(EventBody::Cost(Cost {
                turn: self.turn,
                step: self.n_steps,
                usd: 0.0,
            }));
        }
        self.journal.append(bodies).await?;
        let calls = heard?;
        Ok(Spoken {
            text: speech.texts.join("\n\n"),
            calls,
        })
    }

    async fn hear(
        &mut self,
        request: ModelRequest,
        speech: &mut Speech,
    ) -> Result<Vec<ToolCall>, Cut> {
        let mut stream = self.model.stream(request);
        let interruption = self.interruption();
        tokio::pin!(interruption);
        let mut calls = Vec::new();
        loop {
            let flush_at = speech.flush_at;
            let chunk = tokio::select! {
                biased;
                cut = &mut interruption => return Err(cut),
                () = until(flush_at), if flush_at.is_some() => {
                    self.journal.append(speech.take().into_iter().collect()).await?;
                    continue;
                }
                chunk = stream.next() => chunk,
            };
            let due = match chunk {
                Some(Ok(Chunk::ThinkingStart)) => speech.begin(Voice::Thinking),
                Some(Ok(Chunk::Thinking(piece))) => speech.push(Voice::Thinking, &piece),
                Some(Ok(Chunk::TextStart)) => speech.begin(Voice::Text),
                Some(Ok(Chunk::Text(piece))) => speech.push(Voice::Text, &piece),
                Some(Ok(Chunk::Call(call))) => {
                    calls.push(call);
                    speech.end()
                }
                Some(Ok(Chunk::End)) => return Ok(calls),
                Some(Err(error)) => return Err(failed(&error)),
                None => {
                    let error = ModelError::Unavailable("its answer broke off".to_owned());
                    return Err(failed(&error));
                }
            };
            self.journal.append(due.into_iter().collect()).await?;
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn failed(error: &ModelError) -> Cut {
    // Messages of ours have no full stop, those of vendors may.
    let message = match error {
        ModelError::Rejected(problem) => {
            format!(
                "The model could not go on: {}.",
                problem.trim_end_matches('.')
            )
        }
        ModelError::Unavailable(problem) => format!(
            "The model is not available: {}. Send the message again later.",
            problem.trim_end_matches('.')
        ),
    };
    Cut::Failed {
        code: "model_failed",
        message,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Thinking,
    Text,
}

/// What was said and is not yet written down.
#[derive(Debug)]
struct Speech {
    turn: TurnId,
    voice: Option<Voice>,
    /// Whether the current block has a number, which it gets with its first words.
    numbered: bool,
    n_blocks: u32,
    pending: String,
    flush_at: Option<Instant>,
    /// The answer's text blocks as far as they were said.
    texts: Vec<String>,
}

impl Speech {
    fn new(turn: TurnId, n_blocks: u32) -> Self {
        Self {
            turn,
            voice: None,
            numbered: false,
            n_blocks,
            pending: String::new(),
            flush_at: None,
            texts: Vec::new(),
        }
    }

    /// Ends the current block and gives what of it is still to be written down.
    fn end(&mut self) -> Option<EventBody> {
        let due = self.take();
        self.voice = None;
        due
    }

    fn begin(&mut self, voice: Voice) -> Option<EventBody> {
        let due = self.end();
        self.voice = Some(voice);
        self.numbered = false;
        due
    }

    fn push(&mut self, voice: Voice, piece: &str) -> Option<EventBody> {
        let due = if self.voice == Some(voice) {
            None
        } else {
            self.begin(voice)
        };
        if piece.is_empty() {
            return due;
        }
        if !self.numbered {
            self.numbered = true;
            self.n_blocks += 1;
            if voice == Voice::Text {
                self.texts.push(String::new());
            }
        }
        if voice == Voice::Text
            && let Some(text) = self.texts.last_mut()
        {
            text.push_str(piece);
        }
        self.pending.push_str(piece);
        self.flush_at
            .get_or_insert_with(|| Instant::now() + FLUSH_EVERY);
        due
    }

    /// The event for what is not yet written down.
    fn take(&mut self) -> Option<EventBody> {
        self.flush_at = None;
        if self.pending.is_empty() {
            return None;
        }
        let said = Said {
            turn: self.turn,
            block: self.n_blocks - 1,
            text: std::mem::take(&mut self.pending),
        };
        Some(match self.voice? {
            Voice::Thinking => EventBody::Thinking(said),
            Voice::Text => EventBody::Text(said),
        })
    }
}
