//! Turns a conversation into the chunks that come next.

use std::time::Duration;

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{Chunk, End, ModelError, ModelRequest, ToolCall, Usage},
};
use serde_json::{Value, json};

use super::{
    call,
    check::{Shift, Spot, with_points},
    conversation::Conversation,
    expect::{Mismatch, StepSight, Values},
    picture::Colour,
    scenario::{Retry, Scenario, Step, UsageFile},
    trouble::{Ending, Failures, Trouble},
};
use crate::space::Space;

/// The maximum number of words in a chunk.
const WORDS_PER_CHUNK: usize = 3;
/// The maximum length of a chunk, for languages that do not separate words with spaces.
const LONGEST_CHUNK_CHARS: usize = 32;

/// A chunk of an answer, or the error that ends it.
type Streamed = Result<Chunk, ModelError>;

/// A chunk of the answer and the delay before it.
#[derive(Debug)]
pub(super) struct Beat {
    pub(super) delay: Duration,
    pub(super) chunk: Streamed,
}

impl Beat {
    pub(super) fn failure(error: ModelError) -> Self {
        Self {
            delay: Duration::ZERO,
            chunk: Err(error),
        }
    }
}

/// Returns the scenario's answer to this request. `source` names the scenario in messages.
pub(super) fn beats(
    scenario: &Scenario,
    source: &str,
    failures: &Failures,
    request: &ModelRequest,
) -> Vec<Beat> {
    let conversation = Conversation::read(&request.items);
    // Find the step to play. The last one is repeated after a late message.
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
    let pointing = scenario.role.map(|role| Pointing {
        space: role.view.space(request.screen).over_page(request.page),
        picture: request.shown,
    });
    // Play the step, or look again if the screen is not yet as expected.
    match answer(steps, step, &conversation, pointing) {
        Ok(answer) => {
            let trouble = failures.next(conversation.place(), &step.error.0);
            delays.pace(match trouble.map(Trouble::ending) {
                Some(ending) => answer.troubled(ending),
                None => answer.whole(),
            })
        }
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

/// The way in which the played model points at places.
#[derive(Clone, Copy)]
struct Pointing {
    space: Space,
    /// The size of the pictures that the model is shown.
    picture: ScreenSize,
}

impl Pointing {
    fn said(&self, spot: &Spot) -> Spot {
        // A value that is too large for a point is outside every picture.
        let far = |value: i64| i32::try_from(value).unwrap_or(i32::MAX);
        let at = Point {
            x: far(spot.x),
            y: far(spot.y),
        };
        let said = self.space.seen(at, self.picture);
        Spot {
            x: said.x.into(),
            y: said.y.into(),
        }
    }
}

/// An answer before any scripted error is applied to it.
struct ScriptedAnswer {
    thinking: String,
    /// The text, without the part that was said before the answer was cut off.
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    end: End,
}

fn answer(
    steps: &[Step],
    step: &Step,
    conversation: &Conversation<'_>,
    pointing: Option<Pointing>,
) -> Result<ScriptedAnswer, Mismatch> {
    let sight = StepSight::new(conversation);
    sight.check(&step.expect)?;
    let values = Values::take(steps, conversation)?;
    let mut find = |colour: Colour, shift: Shift| {
        let found = sight.find(colour)?;
        let spot = Spot {
            x: found.x.saturating_add(shift.dx),
            y: found.y.saturating_add(shift.dy),
        };
        let said = pointing.map(|pointing| pointing.said(&spot));
        Ok::<_, Mismatch>(said.unwrap_or(spot))
    };
    let mut calls = Vec::new();
    for (index, call) in step.calls.iter().enumerate() {
        let found = with_points(call.input(), &mut find)?;
        // The first call waits for the step's checks, and the others wait for the first.
        let of_step = if index == 0 {
            step.checks()
        } else {
            Vec::new()
        };
        let call = ToolCall {
            id: conversation.call_id(index),
            tool: call.tool.clone(),
            input: filled(found, &values)?,
            checks: of_step.into_iter().chain(call.checks()).collect(),
            problem: None,
        };
        calls.push(match pointing {
            Some(pointing) => call::on_screen(call, &pointing.space),
            None => call,
        });
    }
    Ok(ScriptedAnswer {
        thinking: values.fill(&step.thinking)?,
        text: conversation.rest(&values.fill(&step.text)?).to_owned(),
        calls,
        usage: step.usage.map(UsageFile::read),
        end: if step.unfinished {
            End::Unfinished
        } else {
            End::Done
        },
    })
}

impl ScriptedAnswer {
    fn whole(self) -> Vec<Streamed> {
        let end = Chunk::End(self.end);
        self.ended(Ok(end))
    }

    /// Returns the chunks of an answer that a scripted error changes.
    fn troubled(self, ending: Ending) -> Vec<Streamed> {
        match ending {
            Ending::NoAnswer(error) => vec![Err(error)],
            Ending::Nothing => {
                let thinking = String::new();
                Self {
                    thinking,
                    ..self.up_to(0)
                }
                .ended(Ok(Chunk::End(End::Done)))
            }
            Ending::TooLong => self.up_to(0).ended(Ok(Chunk::End(End::Unfinished))),
            Ending::BrokenOff(None, error) => self.ended(Err(error)),
            Ending::BrokenOff(Some(n_chars), error) => self.up_to(n_chars).ended(Err(error)),
        }
    }

    /// Returns the answer with the first `n_chars` characters of its text and without calls.
    fn up_to(self, n_chars: usize) -> Self {
        Self {
            text: self.text.chars().take(n_chars).collect(),
            calls: Vec::new(),
            ..self
        }
    }

    fn ended(self, end: Streamed) -> Vec<Streamed> {
        let mut chunks = Vec::new();
        if !self.thinking.is_empty() {
            chunks.push(Chunk::ThinkingStart);
            chunks.extend(pieces(&self.thinking).map(|piece| Chunk::Thinking(piece.to_owned())));
        }
        if !self.text.is_empty() {
            chunks.push(Chunk::TextStart);
            chunks.extend(pieces(&self.text).map(|piece| Chunk::Text(piece.to_owned())));
        }
        chunks.extend(self.calls.into_iter().map(Chunk::Call));
        chunks.extend(self.usage.map(Chunk::Usage));
        chunks.into_iter().map(Ok).chain([end]).collect()
    }
}

/// Waits a little and takes a screenshot, so that the same step can be tried on a newer picture.
fn look_again(retry: Retry, conversation: &Conversation<'_>) -> Vec<Streamed> {
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

/// Fills in the placeholders in every text of a call's input.
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

/// The delays of a step.
struct Delays {
    first: Duration,
    chunk: Duration,
}

impl Delays {
    fn pace(&self, chunks: Vec<Streamed>) -> Vec<Beat> {
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
