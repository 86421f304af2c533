//! Listens to the model: its stream becomes `thinking` and `text` events as it speaks.
//!
//! Vendors stream word by word. An event per word would fill the log, so pieces are joined and written when their
//! block ends, and otherwise every [`FLUSH_EVERY`].

use std::time::Duration;

use deskhand_core::{
    event::{Cost, EventBody, Said},
    id::TurnId,
    model::{Chunk, End, ModelError, ModelRequest, Original, ToolCall, Usage},
};
use futures::StreamExt;
use tokio::time::Instant;

use crate::{
    cut::Cut,
    estimate::{estimate, text_tokens},
    ports::TurnLogError,
    work::Work,
};

/// Short enough for people to read along.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_millis(100);
/// The code of a turn that the model refused to continue.
pub(crate) const REFUSED: &str = "model_refused";

/// The code of a turn whose request the vendor rejected.
pub(crate) const REJECTED: &str = "model_failed";

/// A complete answer of the model.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) end: End,
}

/// The reason why there is no complete answer.
#[derive(Debug)]
pub(crate) enum Unheard {
    /// The turn ends.
    Cut(Cut),
    /// The model may be called again.
    Later {
        message: String,
        /// The delay before a retry that the vendor asks for.
        after: Option<Duration>,
        /// The text before the answer ended early.
        text: String,
        /// True if the vendor reported tokens for it.
        has_cost: bool,
    },
    /// The conversation does not fit into the model's window.
    TooLong { message: String },
    /// The model refuses to answer.
    Refused { message: String },
}

impl From<Cut> for Unheard {
    fn from(cut: Cut) -> Self {
        Self::Cut(cut)
    }
}

impl From<TurnLogError> for Unheard {
    fn from(error: TurnLogError) -> Self {
        Self::Cut(error.into())
    }
}

/// The parts of an answer besides its text and thinking.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    calls: Vec<ToolCall>,
    original: Option<Original>,
    pub(crate) usage: Usage,
    /// True if the vendor has begun to answer.
    pub(crate) has_begun: bool,
    /// `None` until the answer is complete.
    pub(crate) end: Option<End>,
}

impl Heard {
    /// Estimates the usage of an answer that broke off before the vendor reported any. Some report it only at the end,
    /// and charge for what they have said.
    pub(crate) fn estimate(&mut self, request: Usage, said: &str) {
        if self.has_begun && self.usage == Usage::default() {
            self.usage = Usage {
                output: text_tokens(said),
                ..request
            };
        }
    }
}

impl Work {
    /// Calls the model and logs its words. Calls are only returned once the answer is complete: nothing of an answer
    /// that breaks off is carried out.
    pub(crate) async fn listen(&mut self, request: ModelRequest) -> Result<Spoken, Unheard> {
        let mut speech = Speech::new(self.turn, self.n_blocks);
        let mut heard = Heard::default();
        let estimated = estimate(&request);
        let result = self.hear(request, &mut speech, &mut heard).await;
        self.n_blocks = speech.n_blocks;
        if result.is_err() && self.model.model.price().is_some() {
            heard.estimate(estimated, &speech.said());
        }
        // The log keeps the words of an answer that broke off. A complete answer is stored in one piece, so that it
        // never has to be requested again.
        let mut bodies: Vec<_> = speech.take().into_iter().collect();
        let end = match result {
            Ok(end) => end,
            Err(unheard @ Unheard::Cut(Cut::LogLost(_))) => return Err(unheard),
            Err(unheard) => {
                // The tokens of a broken answer cost money too.
                let has_cost = heard.usage != Usage::default();
                bodies.extend(has_cost.then(|| EventBody::Cost(self.cost(&heard))));
                self.journal.append(bodies).await?;
                return Err(match unheard {
                    Unheard::Later { message, after, .. } => Unheard::Later {
                        message,
                        after,
                        text: speech.said(),
                        has_cost,
                    },
                    unheard @ (Unheard::Cut(_)
                    | Unheard::TooLong { .. }
                    | Unheard::Refused { .. }) => unheard,
                });
            }
        };
        self.scale.learn(heard.usage.prompt(), estimated.input);
        bodies.extend(heard.calls.iter().map(|call| self.tool_use(call)));
        bodies.push(EventBody::Cost(self.cost(&heard)));
        self.journal.append_answer(bodies, heard.original).await?;
        Ok(Spoken {
            text: speech.said(),
            calls: heard.calls,
            end,
        })
    }

    pub(crate) fn cost(&self, heard: &Heard) -> Cost {
        let price = self.model.model.price();
        Cost {
            turn: self.turn,
            step: self.n_steps,
            usd: price.map_or(0.0, |price| price.of(&heard.usage)),
            model: self.model.name.clone(),
            usage: heard.usage,
            unpriced: price.is_none(),
            unfinished: heard.end == Some(End::Unfinished),
            aside: heard.end == Some(End::Aside),
            broken_off: heard.end.is_none(),
            summary: false,
        }
    }

    /// Reads an answer to its end. Partial text is kept even if the stream ends early.
    async fn hear(
        &mut self,
        request: ModelRequest,
        speech: &mut Speech,
        heard: &mut Heard,
    ) -> Result<End, Unheard> {
        let mut stream = self.model.model.stream(request);
        let stopped = self.signals.stopped();
        tokio::pin!(stopped);
        let too_long = tokio::time::sleep(self.limits.longest_answer);
        tokio::pin!(too_long);
        loop {
            // Wait for the next chunk, and log pending words when they are due.
            let flush_at = speech.flush_at;
            let chunk = tokio::select! {
                biased;
                cut = &mut stopped => return Err(cut.into()),
                () = &mut too_long => return Err(later("it took too long to answer")),
                () = until(flush_at), if flush_at.is_some() => {
                    self.journal.append(speech.take().into_iter().collect()).await?;
                    continue;
                }
                chunk = stream.next() => chunk,
            };
            heard.has_begun |= matches!(chunk, Some(Ok(_)));
            // Take in the chunk. A block that ends is logged at once.
            let due = match chunk {
                Some(Ok(Chunk::ThinkingStart)) => speech.begin(Voice::Thinking),
                Some(Ok(Chunk::Thinking(piece))) => speech.push(Voice::Thinking, &piece),
                Some(Ok(Chunk::TextStart)) => speech.begin(Voice::Text),
                Some(Ok(Chunk::Text(piece))) => speech.push(Voice::Text, &piece),
                Some(Ok(Chunk::Call(call))) => {
                    heard.calls.push(call);
                    speech.end()
                }
                Some(Ok(Chunk::Original(original))) => {
                    heard.original = Some(original);
                    None
                }
                Some(Ok(Chunk::Usage(usage))) => {
                    heard.usage = usage;
                    None
                }
                Some(Ok(Chunk::End(end))) => {
                    heard.end = Some(end);
                    return Ok(end);
                }
                Some(Err(error)) => return Err(failed(error)),
                None => return Err(later("its answer ended early")),
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

fn later(message: &str) -> Unheard {
    failed(ModelError::unavailable(message))
}

pub(crate) fn failed(error: ModelError) -> Unheard {
    // Our messages have no full stop, those of vendors may have one.
    let plain = |problem: &str| problem.trim_end_matches('.').to_owned();
    let (code, message) = match error {
        ModelError::Rejected(problem) => (
            REJECTED,
            format!("The model could not go on: {}.", plain(&problem)),
        ),
        ModelError::TooLong(problem) => {
            let message = plain(&problem);
            return Unheard::TooLong { message };
        }
        ModelError::Refused(problem) => {
            let message = plain(&problem);
            return Unheard::Refused { message };
        }
        ModelError::Unavailable {
            message,
            retry_after,
        } => {
            return Unheard::Later {
                message: plain(&message),
                after: retry_after,
                text: String::new(),
                has_cost: false,
            };
        }
    };
    Unheard::Cut(Cut::Failed { code, message })
}

pub(crate) fn refused(message: &str) -> Cut {
    Cut::Failed {
        code: REFUSED,
        message: format!("{message}. Say it in another way, or choose another model."),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Thinking,
    Text,
}

/// The words that are not logged yet.
#[derive(Debug)]
struct Speech {
    turn: TurnId,
    voice: Option<Voice>,
    /// True if the current block has a number, which it gets with its first words.
    numbered: bool,
    n_blocks: u32,
    pending: String,
    flush_at: Option<Instant>,
    /// The answer's text blocks so far.
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

    /// Ends the current block and returns the part of it that is not logged yet.
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

    /// Returns all text so far.
    fn said(&self) -> String {
        self.texts.join("\n\n")
    }

    /// Returns the event for the words that are not logged yet.
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
