//! One answer of a model, from the request to its last piece.

use std::collections::VecDeque;

use deskhand_core::model::{Chunk, ModelError};
use futures::{StreamExt, future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use crate::sse::Events;

/// How often a model may pause in one answer.
const MOST_PAUSES: usize = 10;

/// An answer as far as it was heard.
pub(crate) trait Answer: Send + 'static {
    /// Takes the next event of the stream. What is not known is passed over: there will be more kinds.
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError>;

    fn is_over(&self) -> bool;

    /// What was said, if the model wants to be asked again at once with it.
    fn paused(&self) -> Option<Vec<Value>> {
        None
    }

    /// The end of a stream that has no other sign of it.
    fn close(&mut self) -> Result<Vec<Chunk>, ModelError> {
        Err(ModelError::unavailable("its answer broke off"))
    }
}

/// A request that was answered, and what its answer is read with.
pub(crate) type Begun<A> = Result<(Events, A), ModelError>;

/// The pieces of an answer. `begin` sends the request, given what was said before the model paused.
pub(crate) fn chunks<A: Answer>(
    begin: impl Fn(Vec<Value>) -> BoxFuture<'static, Begun<A>> + Send + 'static,
) -> BoxStream<'static, Result<Chunk, ModelError>> {
    let talk = Talk {
        begin,
        open: None,
        said: Vec::new(),
        n_pauses: 0,
        pending: VecDeque::new(),
        is_over: false,
    };
    let chunks = futures::stream::try_unfold(talk, |mut talk| async {
        Ok(talk.next().await?.map(|chunk| (chunk, talk)))
    });
    chunks.boxed()
}

struct Talk<A, F> {
    begin: F,
    open: Option<(Events, A)>,
    /// What the model said before it paused.
    said: Vec<Value>,
    n_pauses: usize,
    pending: VecDeque<Chunk>,
    is_over: bool,
}

impl<A, F> Talk<A, F>
where
    A: Answer,
    F: Fn(Vec<Value>) -> BoxFuture<'static, Begun<A>>,
{
    async fn next(&mut self) -> Result<Option<Chunk>, ModelError> {
        loop {
            if let Some(chunk) = self.pending.pop_front() {
                return Ok(Some(chunk));
            }
            if self.is_over {
                return Ok(None);
            }
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
            self.pending.extend(chunks);
            if !answer.is_over() {
                continue;
            }
            match answer.paused() {
                Some(said) if self.n_pauses < MOST_PAUSES => {
                    self.n_pauses += 1;
                    self.said = said;
                    self.open = None;
                }
                Some(_) => {
                    return Err(ModelError::Rejected(
                        "the model pauses without end".to_owned(),
                    ));
                }
                None => self.is_over = true,
            }
        }
    }
}
