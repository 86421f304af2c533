//! Runs an answer from the request to its last chunk.

use std::{collections::VecDeque, time::Duration};

use deskhand_core::model::{Chunk, ModelError, Usage};
use futures::{StreamExt, future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use crate::sse::Events;

/// The maximum number of pauses in one answer.
const MOST_PAUSES: usize = 10;
/// The maximum number of retries after a garbled answer.
const MOST_RETRIES: u32 = 3;
/// The delay before the first retry. It doubles with each further one.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(200);

/// The part of an answer that has been received.
pub(crate) trait StreamedAnswer: Send + 'static {
    /// Reads the next event of the stream. Unknown events are ignored, since vendors add new ones.
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError>;

    /// Ends a stream that has no other sign of its end.
    fn close(&mut self) -> Result<Vec<Chunk>, ModelError> {
        Err(ModelError::unavailable("its answer ended early"))
    }

    /// Returns the usage so far.
    fn usage(&self) -> Usage;

    fn state(&self) -> State;
}

/// The progress of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    Open,
    Whole,
    /// The model wants to be asked again at once, with everything that it has said so far.
    Paused(Vec<Value>),
    /// The answer is unusable. Most models do better on a retry; after the last one this error is final.
    Garbled(ModelError),
}

/// The events of an answer and the value that reads them.
pub(crate) type Begun<A> = Result<(Events, A), ModelError>;

/// Streams the chunks of an answer. `begin` sends the request, given the content from before the model paused.
pub(crate) fn chunks<A: StreamedAnswer>(
    begin: impl Fn(Vec<Value>) -> BoxFuture<'static, Begun<A>> + Send + 'static,
) -> BoxStream<'static, Result<Chunk, ModelError>> {
    let talk = Talk {
        begin,
        open: None,
        said: Vec::new(),
        n_pauses: 0,
        n_repeats: 0,
        usage: Usage::default(),
        reported: Usage::default(),
        pending: VecDeque::new(),
        is_over: false,
    };
    let chunks = futures::stream::unfold(talk, |mut talk| async {
        let chunk = talk.next().await?;
        Some((chunk, talk))
    });
    chunks.boxed()
}

struct Talk<A, F> {
    begin: F,
    open: Option<(Events, A)>,
    said: Vec<Value>,
    n_pauses: usize,
    n_repeats: u32,
    /// The usage of the requests that are finished.
    usage: Usage,
    /// The total usage that was last passed on.
    reported: Usage,
    pending: VecDeque<Result<Chunk, ModelError>>,
    is_over: bool,
}

impl<A, F> Talk<A, F>
where
    A: StreamedAnswer,
    F: Fn(Vec<Value>) -> BoxFuture<'static, Begun<A>>,
{
    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        while self.pending.is_empty() && !self.is_over {
            if let Err(error) = self.go_on().await {
                self.is_over = true;
                self.settle();
                self.tell_usage();
                self.pending.push_back(Err(error));
            }
        }
        self.pending.pop_front()
    }

    /// Reads until there is more to pass on.
    async fn go_on(&mut self) -> Result<(), ModelError> {
        // Send the request if none is open.
        let (events, answer) = match &mut self.open {
            Some(open) => open,
            None => {
                let begun = (self.begin)(self.said.clone());
                self.open.insert(begun.await?)
            }
        };
        let chunks = match events.next().await {
            Some(event) => answer.take(&event?)?,
            None => answer.close()?,
        };
        let usage = self.usage.plus(answer.usage());
        match answer.state() {
            State::Open => {
                self.pending.extend(chunks.into_iter().map(Ok));
                // A caller that stops early knows the usage up to then.
                if usage != self.reported {
                    self.reported = usage;
                    self.pending.push_back(Ok(Chunk::Usage(usage)));
                }
            }
            State::Whole => self.end(chunks),
            State::Paused(_) if self.n_pauses == MOST_PAUSES => {
                return Err(ModelError::Rejected(
                    "the model paused too often".to_owned(),
                ));
            }
            State::Paused(said) => {
                self.pending.extend(chunks.into_iter().map(Ok));
                self.n_pauses += 1;
                self.said = said;
                self.settle();
            }
            State::Garbled(error) if self.n_repeats == MOST_RETRIES => return Err(error),
            State::Garbled(_) => {
                tokio::time::sleep(FIRST_RETRY_DELAY * 2_u32.pow(self.n_repeats)).await;
                self.n_repeats += 1;
                self.settle();
            }
        }
        Ok(())
    }

    fn end(&mut self, chunks: Vec<Chunk>) {
        self.is_over = true;
        self.settle();
        for chunk in chunks {
            if matches!(chunk, Chunk::End(_)) {
                self.tell_usage();
            }
            self.pending.push_back(Ok(chunk));
        }
    }

    /// Closes the open request and keeps its usage.
    fn settle(&mut self) {
        if let Some((_, answer)) = self.open.take() {
            self.usage = self.usage.plus(answer.usage());
        }
    }

    fn tell_usage(&mut self) {
        if self.usage != Usage::default() {
            self.pending.push_back(Ok(Chunk::Usage(self.usage)));
        }
    }
}
