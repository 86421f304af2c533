//! From a conversation to the chunks that come next.

use std::time::Duration;

use deskhand_core::model::{Chunk, End, ModelError, ModelRequest, ToolCall};
use serde_json::{Value, json};

use super::{
    check::with_points,
    conversation::Conversation,
    expect::{Mismatch, Sight, Values},
    scenario::{Retry, Scenario, Step, TroubleKind},
};

/// How many words a chunk holds.
const WORDS_PER_CHUNK: usize = 3;
/// How long a chunk may be where words are not told apart by spaces.
const LONGEST_CHUNK_CHARS: usize = 32;

/// One piece of the answer and how long to wait before it.
#[derive(Debug)]
pub(super) struct Beat {
    pub(super) delay: Duration,
    pub(super) chunk: Result<Chunk, ModelError>,
}

impl Beat {
    pub(super) fn failure(error: ModelError) -> Self {
        Self {
            delay: Duration::ZERO,
            chunk: Err(error),
        }
    }
}

/// What the scenario says to this request. `source` names the scenario in messages.
pub(super) fn beats(scenario: &Scenario, source: &str, request: &ModelRequest) -> Vec<Beat> {
    let conversation = Conversation::read(&request.items);
    let steps = scenario.steps(conversation.n_prompts);
    let step = match steps.last() {
        Some(last) if conversation.goes_on_after(steps.len()) => Some(last),
        Some(_) | None => steps.get(conversation.step()),
    };
    let Some(step) = step else {
        let problem = format!(
            "does not exist: the turn is over after step {}",
            steps.len()
        );
        return vec![rejected(source, &conversation, &problem)];
    };
    let delays = Delays {
        first: Duration::from_millis(step.delay_ms),
        chunk: Duration::from_millis(step.chunk_delay_ms.unwrap_or(scenario.chunk_delay_ms)),
    };
    match answer(steps, step, &conversation) {
        Ok(answer) => delays.pace(answer),
        Err(mismatch) => match (mismatch, step.retry) {
            (Mismatch::Screen(_), Some(retry)) if conversation.n_looks() < retry.times => {
                delays.pace(look_again(retry, &conversation))
            }
            (Mismatch::Screen(problem) | Mismatch::Final(problem), _) => {
                vec![rejected(source, &conversation, &problem)]
            }
        },
    }
}

fn rejected(source: &str, conversation: &Conversation<'_>, problem: &str) -> Beat {
    Beat::failure(ModelError::Rejected(format!(
        "{source} did not go as written: step {} of turn {} {problem}",
        conversation.step() + 1,
        conversation.n_prompts.max(1)
    )))
}

fn answer(
    steps: &[Step],
    step: &Step,
    conversation: &Conversation<'_>,
) -> Result<Vec<Result<Chunk, ModelError>>, Mismatch> {
    let sight = Sight::new(conversation);
    sight.check(&step.expect)?;
    let values = Values::take(steps, conversation)?;
    let thinking = values.fill(&step.thinking)?;
    let text = values.fill(&step.text)?;

    let mut chunks = Vec::new();
    if !thinking.is_empty() {
        chunks.push(Ok(Chunk::ThinkingStart));
        chunks.extend(pieces(&thinking).map(|piece| Ok(Chunk::Thinking(piece.to_owned()))));
    }
    if !text.is_empty() {
        chunks.push(Ok(Chunk::TextStart));
        chunks.extend(pieces(&text).map(|piece| Ok(Chunk::Text(piece.to_owned()))));
    }
    for (index, call) in step.calls.iter().enumerate() {
        let found = with_points(call.input(), &mut |colour| sight.find(colour))?;
        chunks.push(Ok(Chunk::Call(ToolCall {
            id: conversation.call_id(index),
            tool: call.tool().to_owned(),
            input: filled(found, &values)?,
            // The first call waits for it, and the others wait for the first.
            checks: if index == 0 {
                step.checks()
            } else {
                Vec::new()
            },
            problem: None,
        })));
    }
    chunks.extend(step.usage.map(|usage| Ok(Chunk::Usage(usage.read()))));
    chunks.push(match &step.error {
        None => Ok(Chunk::End(End::Done)),
        Some(trouble) => Err(match trouble.kind {
            TroubleKind::Rejected => ModelError::Rejected(trouble.message.clone()),
            TroubleKind::Unavailable => ModelError::unavailable(trouble.message.clone()),
        }),
    });
    Ok(chunks)
}

/// Waits a little and looks, so that the same step can be tried again on a newer picture.
fn look_again(retry: Retry, conversation: &Conversation<'_>) -> Vec<Result<Chunk, ModelError>> {
    let calls = [
        json!({"action": "wait", "ms": retry.wait_ms}),
        json!({"action": "screenshot"}),
    ];
    let calls = calls.into_iter().enumerate().map(|(index, input)| {
        Ok(Chunk::Call(ToolCall {
            id: conversation.look_id(index),
            tool: "computer".to_owned(),
            input,
            checks: Vec::new(),
            problem: None,
        }))
    });
    calls.chain([Ok(Chunk::End(End::Done))]).collect()
}

/// Fills in the placeholders of every text in a call's input.
fn filled(value: Value, values: &Values<'_>) -> Result<Value, Mismatch> {
    Ok(match value {
        Value::String(text) => Value::String(values.fill(&text)?),
        Value::Array(elements) => Value::Array(
            elements
                .into_iter()
                .map(|element| filled(element, values))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| Ok((name, filled(value, values)?)))
                .collect::<Result<_, Mismatch>>()?,
        ),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    })
}

/// How fast a step is spoken.
struct Delays {
    first: Duration,
    chunk: Duration,
}

impl Delays {
    fn pace(&self, chunks: Vec<Result<Chunk, ModelError>>) -> Vec<Beat> {
        let mut wait = self.first;
        chunks
            .into_iter()
            .map(|chunk| {
                let spoken = matches!(chunk, Ok(Chunk::Text(_) | Chunk::Thinking(_)));
                let delay =
                    std::mem::take(&mut wait) + if spoken { self.chunk } else { Duration::ZERO };
                Beat { delay, chunk }
            })
            .collect()
    }
}

/// Cuts a text into pieces of a few words, each with the space that follows it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(piece_length(rest));
        rest = after;
        Some(piece)
    })
}

fn piece_length(text: &str) -> usize {
    let mut n_words = 0;
    let mut in_space = true;
    for (n_chars, (index, c)) in text.char_indices().enumerate() {
        if n_chars == LONGEST_CHUNK_CHARS {
            return index;
        }
        if in_space && !c.is_whitespace() {
            if n_words == WORDS_PER_CHUNK {
                return index;
            }
            n_words += 1;
        }
        in_space = c.is_whitespace();
    }
    text.len()
}
