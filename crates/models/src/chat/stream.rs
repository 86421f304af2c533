//! Answers in the format that chat completions stream.

use std::collections::BTreeMap;

use deskhand_core::model::{Chunk, End, ModelError, Original, ToolCall, Usage};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{VENDOR, request::REASONING};
use crate::{
    space::Space,
    surface::Surface,
    talk::{State, StreamedAnswer},
    tool_input,
};

/// The part of an answer that has been received.
#[derive(Debug)]
pub(crate) struct ChatAnswer {
    space: Space,
    surface: Surface,
    model: String,
    text: String,
    is_thinking: bool,
    /// The reasoning that the server wants back.
    reasoning: Map<String, Value>,
    /// The calls by their index in the answer.
    calls: BTreeMap<u64, PartialCall>,
    usage: Usage,
    finish_reason: Option<String>,
    is_over: bool,
}

/// A call that is still being received.
#[derive(Debug, Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
}

impl ChatAnswer {
    pub(super) fn new(space: Space, surface: Surface, model: String) -> Self {
        Self {
            space,
            surface,
            model,
            text: String::new(),
            is_thinking: false,
            reasoning: Map::new(),
            calls: BTreeMap::new(),
            usage: Usage::default(),
            finish_reason: None,
            is_over: false,
        }
    }

    fn delta(&mut self, delta: &Value) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        self.keep_reasoning(delta);
        let said = |field: &str| delta[field].as_str().filter(|said| !said.is_empty());
        if let Some(piece) = said("reasoning_content").or(said("reasoning")) {
            chunks.extend((!self.is_thinking).then_some(Chunk::ThinkingStart));
            self.is_thinking = true;
            chunks.push(Chunk::Thinking(piece.to_owned()));
        }
        if let Some(piece) = said("content") {
            chunks.extend((self.is_thinking || self.text.is_empty()).then_some(Chunk::TextStart));
            self.is_thinking = false;
            self.text.push_str(piece);
            chunks.push(Chunk::Text(piece.to_owned()));
        }
        for (place, piece) in delta["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            // Some servers omit the index because they send each call in one piece.
            let place = piece["index"].as_u64().unwrap_or(place as u64);
            let call = self.calls.entry(place).or_default();
            let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if call.id.is_empty() {
                call.id = part(&piece["id"]);
            }
            call.name.push_str(&part(&piece["function"]["name"]));
            call.arguments
                .push_str(&part(&piece["function"]["arguments"]));
        }
        chunks
    }

    fn keep_reasoning(&mut self, delta: &Value) {
        for field in REASONING {
            match (&delta[field], self.reasoning.get_mut(field)) {
                (Value::String(piece), Some(Value::String(so_far))) => so_far.push_str(piece),
                (Value::Array(more), Some(Value::Array(so_far))) => so_far.extend_from_slice(more),
                (first @ (Value::String(_) | Value::Array(_)), None) => {
                    self.reasoning.insert(field.to_owned(), first.clone());
                }
                _ => {}
            }
        }
    }

    fn end(&mut self) -> Vec<Chunk> {
        self.is_over = true;
        // Calls that were cut off in the middle are dropped.
        let is_cut = self.finish_reason.as_deref() == Some("length");
        let mut sent = Vec::new();
        let mut chunks = Vec::new();
        for call in std::mem::take(&mut self.calls).into_values() {
            let arguments = if call.arguments.trim().is_empty() {
                "{}"
            } else {
                &call.arguments
            };
            let input = serde_json::from_str::<Value>(arguments);
            if is_cut && input.is_err() {
                continue;
            }
            let id = Some(call.id).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(|| format!("call_{}", Uuid::now_v7().simple()));
            // Some servers fail on arguments that they cannot parse, so those are not sent back.
            let repeated = if input.is_ok() { arguments } else { "{}" };
            sent.push(json!({
                "id": id,
                "type": "function",
                "function": {"name": call.name, "arguments": repeated},
            }));
            let (tool, read, input) = match input {
                Ok(input) => {
                    let (tool, read) =
                        tool_input::read_on(self.surface, &call.name, &input, &self.space);
                    (tool, read, input)
                }
                Err(error) => (
                    call.name,
                    Err(format!("the arguments are not valid JSON: {error}")),
                    arguments.into(),
                ),
            };
            let (input, problem) = match read {
                Ok(input) => (input, None),
                Err(problem) => (input, Some(problem)),
            };
            chunks.push(Chunk::Call(ToolCall {
                id,
                tool,
                input,
                checks: Vec::new(),
                problem,
            }));
        }
        // Keep the message for the next request.
        if !sent.is_empty() || !self.text.is_empty() {
            let mut message = json!({"role": "assistant", "content": self.text});
            if !sent.is_empty() {
                message["tool_calls"] = sent.into();
            }
            for (field, value) in std::mem::take(&mut self.reasoning) {
                message[field] = value;
            }
            chunks.push(Chunk::Original(Original {
                vendor: VENDOR.to_owned(),
                data: json!({"model": self.model, "message": message}),
            }));
        }
        let end = if is_cut { End::Unfinished } else { End::Done };
        chunks.extend([Chunk::End(end)]);
        chunks
    }
}

impl StreamedAnswer for ChatAnswer {
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError> {
        if !event["error"].is_null() {
            return Err(super::broke_off(&event["error"]));
        }
        let usage = &event["usage"];
        if usage.is_object() {
            let count = |value: &Value| value.as_u64().unwrap_or_default();
            let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]);
            self.usage = Usage {
                input: count(&usage["prompt_tokens"]).saturating_sub(cached),
                cache_read: cached,
                output: count(&usage["completion_tokens"]),
                ..Usage::default()
            };
        }
        let choice = &event["choices"][0];
        let chunks = self.delta(&choice["delta"]);
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish_reason = Some(reason.to_owned());
        }
        if self.finish_reason.as_deref() == Some("content_filter") {
            return Err(ModelError::Refused(
                "the model's answer was held back by a content filter".to_owned(),
            ));
        }
        Ok(chunks)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn state(&self) -> State {
        if self.is_over {
            State::Whole
        } else {
            State::Open
        }
    }

    /// Ends the answer with the stream. Usage comes after the last piece, so there is no earlier sign of the end.
    fn close(&mut self) -> Result<Vec<Chunk>, ModelError> {
        if self.finish_reason.is_none() {
            return Err(ModelError::unavailable("its answer ended early"));
        }
        Ok(self.end())
    }
}
