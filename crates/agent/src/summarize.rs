//! Shortens a conversation that becomes too long for the model's window.
//!
//! First the results of old calls are shortened to a line each. If that is not enough, the model writes a summary, which
//! becomes an event. Vendors that do the same themselves are left to do it; if a conversation is too long for them
//! nevertheless, it is shortened here.

use std::fmt::Write;

use deskhand_core::{
    event::{EventBody, Summarized},
    model::{Chunk, Item, ModelError, ModelRequest, Pictures, Usage},
};
use futures::StreamExt;

use crate::{
    context,
    cut::Cut,
    estimate::estimate,
    listen::{Heard, Unheard, failed},
    work::Work,
};

/// The part of the window, in percent, from which the conversation is shortened.
const FULL_PERCENT: u64 = 80;
/// The part of the window, in percent, that shortening results must leave in use at most. Otherwise the conversation is
/// summarized.
const ENOUGH_PERCENT: u64 = 50;
/// The number of attempts to get a summary from the model.
const MOST_TRIES: u32 = 3;
/// The maximum length of a summary, in bytes.
const LONGEST_SUMMARY_BYTES: usize = 12_000;
/// The number of newest calls that a summary without the model lists.
const N_LISTED: usize = 40;

const ASK: &str = "[The conversation has become too long for you. Write a summary with which you can go on after \
                   everything before this point is gone, and call no tool. Say what the task is and how far it is, what \
                   you did and what came of it, which files, pages, names and numbers matter, what you tried that did \
                   not work, and what comes next. Leave out the messages and answers of people and your plan: you keep \
                   those.]";
const NO_SUMMARY: &str = "You could not write a summary. These are the newest things that you did:";

/// The relation of a vendor's count of tokens to our estimate, from the newest answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenScale {
    counted: u64,
    estimated: u64,
}

impl Default for TokenScale {
    fn default() -> Self {
        Self {
            counted: 1,
            estimated: 1,
        }
    }
}

impl TokenScale {
    /// Compares the tokens that a vendor counted with the estimate of the same request. Without a count, nothing changes.
    pub(crate) fn learn(&mut self, counted: u64, estimated: u64) {
        if counted > 0 && estimated > 0 {
            // One odd report must not make every later conversation too long or too short.
            self.counted = counted.clamp(estimated / 4, estimated.saturating_mul(4));
            self.estimated = estimated;
        }
    }

    fn tokens(self, request: &ModelRequest) -> u64 {
        estimate(request).input.saturating_mul(self.counted) / self.estimated
    }
}

impl Work {
    /// Shortens the conversation if the next request would nearly fill the model's window. Returns true if the
    /// conversation was summarized: the model should then be shown the screen again.
    pub(crate) async fn fit_window(&mut self) -> Result<bool, Cut> {
        let window = self.model.model.window();
        let Some(tokens) = window.tokens.filter(|_| !window.vendor_summarizes) else {
            return Ok(false);
        };
        let request = self.request().await?;
        if self.scale.tokens(&request) <= tokens * FULL_PERCENT / 100 {
            return Ok(false);
        }
        self.shorten(request, tokens * ENOUGH_PERCENT / 100).await
    }

    /// Shortens the conversation after the vendor found it too long.
    pub(crate) async fn shorten_now(&mut self) -> Result<bool, Cut> {
        let request = self.request().await?;
        let tokens = self.scale.tokens(&request);
        let window = self.model.model.window().tokens.unwrap_or(tokens);
        let enough = window.min(tokens) * ENOUGH_PERCENT / 100;
        self.shorten(request, enough).await
    }

    /// Shortens old results if that leaves at most `enough` tokens. Otherwise summarizes, and returns true.
    async fn shorten(&mut self, mut request: ModelRequest, enough: u64) -> Result<bool, Cut> {
        let turn = self.turn;
        if self.model.model.pictures() == Pictures::Newest {
            let mut shortened = request.clone();
            context::shorten_results(&mut shortened.items);
            if self.scale.tokens(&shortened) <= enough {
                let event = EventBody::Summary(Summarized { turn, text: None });
                self.journal.append(vec![event]).await?;
                return Ok(false);
            }
        }
        self.fit_for_summary(&mut request, enough);
        let (text, heard) = self.summary(request).await?;
        let mut bodies = Vec::new();
        if heard.usage != Usage::default() {
            let mut cost = self.cost(&heard);
            cost.summary = true;
            bodies.push(EventBody::Cost(cost));
        }
        let text = Some(text.unwrap_or_else(|| listed(&self.journal.bodies)));
        bodies.push(EventBody::Summary(Summarized { turn, text }));
        self.journal.append(bodies).await?;
        Ok(true)
    }

    /// Makes room in the request that asks for a summary: without pictures, then without the oldest answers.
    fn fit_for_summary(&self, request: &mut ModelRequest, enough: u64) {
        context::shorten_all(&mut request.items);
        while self.scale.tokens(request) > enough {
            let is_answer = |item: &Item| matches!(item, Item::Answer { .. } | Item::CutOff { .. });
            let Some(index) = request.items.iter().position(is_answer) else {
                break;
            };
            request.items.remove(index);
            if let Some(Item::Results(_)) = request.items.get(index) {
                request.items.remove(index);
            }
        }
        let text = ASK.to_owned();
        request.items.push(Item::Steering { text });
    }

    /// Asks the model for a summary. Returns `None` with its usage if it gave none.
    async fn summary(&mut self, request: ModelRequest) -> Result<(Option<String>, Heard), Cut> {
        let mut usage = Usage::default();
        for attempt in 1..=MOST_TRIES {
            let mut heard = Heard::default();
            let answer = self.hear_summary(request.clone(), &mut heard).await;
            usage = usage.plus(heard.usage);
            heard.usage = usage;
            match answer {
                Ok(text) => return Ok((text, heard)),
                Err(Unheard::Later { message, after, .. }) if attempt < MOST_TRIES => {
                    self.wait_for_vendor(attempt, message, after).await?;
                }
                Err(Unheard::Cut(Cut::Failed { message, .. }))
                | Err(Unheard::Later { message, .. } | Unheard::TooLong { message }) => {
                    tracing::warn!(turn.id = %self.turn, model = self.model.name, message, "the model gave no summary");
                    return Ok((None, heard));
                }
                Err(Unheard::Cut(cut)) => return Err(cut),
            }
        }
        Ok((None, Heard::default()))
    }

    async fn hear_summary(
        &mut self,
        request: ModelRequest,
        heard: &mut Heard,
    ) -> Result<Option<String>, Unheard> {
        let mut stream = self.model.model.stream(request);
        let too_long = tokio::time::sleep(self.limits.longest_answer);
        tokio::pin!(too_long);
        let mut text = String::new();
        loop {
            let chunk = tokio::select! {
                biased;
                cut = self.signals.stopped() => return Err(cut.into()),
                () = &mut too_long => return Err(failed(ModelError::unavailable("it took too long to answer"))),
                chunk = stream.next() => chunk,
            };
            match chunk {
                Some(Ok(Chunk::Text(piece))) => text.push_str(&piece),
                Some(Ok(Chunk::Usage(usage))) => heard.usage = usage,
                Some(Ok(Chunk::End(end))) => {
                    heard.end = Some(end);
                    break;
                }
                Some(Ok(
                    Chunk::ThinkingStart
                    | Chunk::Thinking(_)
                    | Chunk::TextStart
                    | Chunk::Call(_)
                    | Chunk::Original(_),
                )) => {}
                Some(Err(error)) => return Err(failed(error)),
                None => return Err(failed(ModelError::unavailable("its answer ended early"))),
            }
        }
        text.truncate(text.floor_char_boundary(LONGEST_SUMMARY_BYTES));
        Ok((!text.trim().is_empty()).then_some(text))
    }
}

/// Returns the newest summary, and a list of the calls since then, for a model that gives no summary.
fn listed(log: &[EventBody]) -> String {
    let n_covered = context::n_covered(log);
    let mut text = match log[..n_covered].last() {
        Some(EventBody::Summary(Summarized {
            text: Some(text), ..
        })) => format!("{text}\n\n"),
        _ => String::new(),
    };
    text.truncate(text.floor_char_boundary(LONGEST_SUMMARY_BYTES / 2));
    text.push_str(NO_SUMMARY);
    let calls: Vec<_> = log[n_covered..]
        .iter()
        .filter_map(|body| {
            let EventBody::ToolUse(call) = body else {
                return None;
            };
            call.turn.and(call.description.as_deref())
        })
        .collect();
    for call in &calls[calls.len().saturating_sub(N_LISTED)..] {
        let _ = write!(text, "\n- {call}");
    }
    text
}
