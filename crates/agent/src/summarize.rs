//! Shortens a conversation that becomes too long for the model's window.
//!
//! First the results of old calls are shortened to a line each. If that is not enough, the model writes a summary, which
//! becomes an event. Vendors that do the same themselves are left to do it; if a conversation is too long for them
//! nevertheless, it is shortened here.

use std::fmt::Write;

use deskhand_core::{
    event::{Cost, EventBody, Summarized},
    message::Role,
    model::{Chunk, Item, ModelError, ModelRequest, Pictures, Usage},
};
use futures::StreamExt;
use tokio::time::Instant;

use crate::{
    ask::{LONGEST_OUTAGE, gone},
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
/// The part of the window, in percent, that everything since the newest summary must fill before the next one. A summary
/// costs as much as a step, and frees nothing where the system text, the tools and the newest message need the room.
const WORTHWHILE_PERCENT: u64 = 10;
/// The maximum length of a summary, in bytes.
const LONGEST_SUMMARY_BYTES: usize = 12_000;
/// The number of newest calls that a summary without the model lists.
const N_LISTED: usize = 40;

const ASK: &str = "[The conversation has become too long for you. Write a summary with which you can go on after \
                   everything before this point is gone, and call no tool. Say what the task is and how far it is, what \
                   you did and what came of it, which files, pages, names and numbers matter, what you tried that did \
                   not work, and what comes next. You keep your plan and the messages and answers of people, so leave \
                   those out. But of messages longer than a few lines you may keep only the beginning: repeat what \
                   still matters in them.]";
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
    /// Shortens the conversation if the next request would nearly fill the model's window, or cost more for its length.
    /// Returns true if it was summarized, so that the model should be shown the screen again, or if another model took
    /// over. What cannot be made shorter is left to the vendor's judgement.
    pub(crate) async fn fit_window(&mut self) -> Result<bool, Cut> {
        let window = self.model.model.window();
        let Some(tokens) = window.tokens.filter(|_| !window.vendor_summarizes) else {
            return Ok(false);
        };
        // The room up to a surcharge is as good as a window.
        let long = self.model.model.price().and_then(|price| price.long);
        let tokens = long.map_or(tokens, |long| tokens.min(long.over_tokens));
        let request = self.request().await?;
        if self.scale.tokens(&request) <= tokens * FULL_PERCENT / 100 {
            return Ok(false);
        }
        if !self.is_worthwhile(&request, tokens) {
            return Ok(false);
        }
        self.shorten(request, tokens * ENOUGH_PERCENT / 100).await
    }

    /// Returns true if shortening would free a good part of the window.
    fn is_worthwhile(&self, request: &ModelRequest, window: u64) -> bool {
        let log = &self.journal.bodies;
        if context::n_covered(log) == 0 {
            return true;
        }
        // The first item stands for the part that is covered already.
        let mut covered = request.clone();
        covered.items.truncate(1);
        let rest = self
            .scale
            .tokens(request)
            .saturating_sub(self.scale.tokens(&covered));
        has_more_to_cover(log) && rest >= window * WORTHWHILE_PERCENT / 100
    }

    /// Shortens the conversation after the vendor found it too long. Returns true as [`fit_window`](Self::fit_window) does,
    /// and `None` if it cannot be made shorter.
    pub(crate) async fn shorten_now(&mut self) -> Result<Option<bool>, Cut> {
        if !has_more_to_cover(&self.journal.bodies) {
            return Ok(None);
        }
        let request = self.request().await?;
        let tokens = self.scale.tokens(&request);
        let window = self.model.model.window().tokens.unwrap_or(tokens);
        let enough = window.min(tokens) * ENOUGH_PERCENT / 100;
        self.shorten(request, enough).await.map(Some)
    }

    /// Shortens old results if that leaves at most `enough` tokens. Otherwise summarizes, and returns true.
    async fn shorten(&mut self, mut request: ModelRequest, enough: u64) -> Result<bool, Cut> {
        if self.model.model.pictures() == Pictures::Newest {
            let mut shortened = request.clone();
            context::shorten_results(&mut shortened.items);
            if self.scale.tokens(&shortened) <= enough {
                let turn = self.turn;
                let event = EventBody::Summary(Summarized { turn, text: None });
                self.journal.append(vec![event]).await?;
                return Ok(false);
            }
        }
        self.fit_for_summary(&mut request, enough);
        self.summarize(request).await?;
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

    /// Asks the model for a summary until it gives one, and logs it. Returns without one if another model took over, which
    /// may have more room.
    async fn summarize(&mut self, request: ModelRequest) -> Result<(), Cut> {
        let turn = self.turn;
        let began = Instant::now();
        let mut attempt = 0;
        loop {
            let mut heard = Heard::default();
            let answer = self.hear_summary(request.clone(), &mut heard).await;
            let mut bodies = Vec::from_iter(self.cost_of_summary(&heard));
            let text = match answer {
                Ok(text) => text,
                // The next request would get the same answer, and the session would have ended for good.
                Err(Unheard::TooLong { message } | Unheard::Refused { message }) => {
                    tracing::warn!(turn.id = %turn, model = self.model.name, message, "the model gave no summary");
                    None
                }
                Err(Unheard::Cut(cut)) => {
                    self.journal.append(bodies).await?;
                    return Err(cut);
                }
                Err(Unheard::Later { message, after, .. }) => {
                    attempt += 1;
                    tracing::warn!(turn.id = %turn, model = self.model.name, attempt, message, "the model gave no summary yet");
                    let has_cost = !bodies.is_empty();
                    self.journal.append(bodies).await?;
                    if began.elapsed() > LONGEST_OUTAGE {
                        return Err(gone(&message));
                    }
                    if self.wait_for_vendor(attempt, message, after).await? {
                        return Ok(());
                    }
                    if has_cost {
                        self.stay_within_bounds_of_step().await?;
                    }
                    continue;
                }
            };
            let text = Some(text.unwrap_or_else(|| listed(&self.journal.bodies)));
            bodies.push(EventBody::Summary(Summarized { turn, text }));
            self.journal.append(bodies).await?;
            return Ok(());
        }
    }

    /// Returns the cost of one request for a summary, if it used any tokens.
    fn cost_of_summary(&self, heard: &Heard) -> Option<EventBody> {
        if heard.usage == Usage::default() {
            return None;
        }
        let cost = self.cost(heard);
        Some(EventBody::Cost(Cost {
            summary: true,
            ..cost
        }))
    }

    /// Listens to a summary. Returns `None` if the answer has no text.
    async fn hear_summary(
        &mut self,
        request: ModelRequest,
        heard: &mut Heard,
    ) -> Result<Option<String>, Unheard> {
        let estimated = estimate(&request);
        let mut text = String::new();
        let result = self.hear_text(request, &mut text, heard).await;
        if result.is_err() && self.model.model.price().is_some() {
            heard.estimate(estimated, &text);
        }
        result?;
        text.truncate(text.floor_char_boundary(LONGEST_SUMMARY_BYTES));
        Ok((!text.trim().is_empty()).then_some(text))
    }

    async fn hear_text(
        &mut self,
        request: ModelRequest,
        text: &mut String,
        heard: &mut Heard,
    ) -> Result<(), Unheard> {
        let mut stream = self.model.model.stream(request);
        let too_long = tokio::time::sleep(self.limits.longest_answer);
        tokio::pin!(too_long);
        loop {
            let chunk = tokio::select! {
                biased;
                cut = self.signals.stopped() => return Err(cut.into()),
                () = &mut too_long => return Err(failed(ModelError::unavailable("it took too long to answer"))),
                chunk = stream.next() => chunk,
            };
            heard.has_begun |= matches!(chunk, Some(Ok(_)));
            match chunk {
                Some(Ok(Chunk::Text(piece))) => text.push_str(&piece),
                Some(Ok(Chunk::Usage(usage))) => heard.usage = usage,
                Some(Ok(Chunk::End(end))) => {
                    heard.end = Some(end);
                    return Ok(());
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
    }
}

/// Returns true if a summary would make room: there is none yet, or the model has answered or people have said something
/// since the newest one.
fn has_more_to_cover(log: &[EventBody]) -> bool {
    let rest = context::uncovered(log);
    let is_more = |body: &EventBody| {
        matches!(body, EventBody::Cost(cost) if !cost.summary && !cost.broken_off)
            || matches!(body, EventBody::Message(message) if message.role == Role::User)
    };
    rest.len() == log.len() || rest.iter().any(is_more)
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
