//! Answers in the format that Gemini streams.

use deskhand_core::model::{Chunk, End, ModelError, Original, Usage};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{VENDOR, calls};
use crate::{
    space::Space,
    surface::Surface,
    talk::{State, StreamedAnswer},
};

/// The part of an answer that has been received.
#[derive(Debug)]
pub(crate) struct GeminiAnswer {
    space: Space,
    surface: Surface,
    model: String,
    parts: Vec<Value>,
    /// The ids of the function calls among the parts.
    ids: Vec<String>,
    /// True if the last piece was thinking, and `None` before the first piece and after a call.
    is_thought: Option<bool>,
    usage: Usage,
    finish_reason: Option<String>,
    is_over: bool,
}

impl GeminiAnswer {
    pub(super) fn new(space: Space, surface: Surface, model: String) -> Self {
        Self {
            space,
            surface,
            model,
            parts: Vec::new(),
            ids: Vec::new(),
            is_thought: None,
            usage: Usage::default(),
            finish_reason: None,
            is_over: false,
        }
    }

    fn part(&mut self, part: &Value) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        if let Some(text) = part["text"].as_str() {
            let is_thought = part["thought"] == true;
            let is_new = self.is_thought.replace(is_thought) != Some(is_thought);
            let (start, piece): (_, fn(String) -> Chunk) = if is_thought {
                (Chunk::ThinkingStart, Chunk::Thinking)
            } else {
                (Chunk::TextStart, Chunk::Text)
            };
            chunks.extend(is_new.then_some(start));
            chunks.push(piece(text.to_owned()));
        } else if part["functionCall"].is_object() {
            let call = &part["functionCall"];
            let sent = call["id"]
                .as_str()
                .filter(|id| !id.is_empty())
                .map(str::to_owned);
            let id = sent.unwrap_or_else(|| format!("call_{}", Uuid::now_v7().simple()));
            chunks.extend(
                calls::read(&id, call, &self.space, self.surface)
                    .into_iter()
                    .map(Chunk::Call),
            );
            self.ids.push(id);
            self.is_thought = None;
        }
        self.keep(part);
        chunks
    }

    /// Keeps a part for the next request. Thinking is sent back only if Google signed it.
    fn keep(&mut self, part: &Value) {
        let is_signed = part["thoughtSignature"].is_string();
        if part["thought"] == true && !is_signed {
            return;
        }
        let is_words =
            |part: &Value| part["text"].is_string() && part["thoughtSignature"].is_null();
        if let Some(text) = part["text"].as_str().filter(|_| !is_signed) {
            if let Some(last) = self.parts.last_mut().filter(|last| is_words(last)) {
                let so_far = last["text"].as_str().unwrap_or_default();
                last["text"] = format!("{so_far}{text}").into();
                return;
            }
            if text.is_empty() {
                return;
            }
        }
        self.parts.push(part.clone());
    }

    fn count(&mut self, usage: &Value) {
        let count = |field: &str| usage[field].as_u64().unwrap_or_default();
        let cached = count("cachedContentTokenCount");
        self.usage = Usage {
            input: count("promptTokenCount").saturating_sub(cached),
            cache_read: cached,
            output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
            ..Usage::default()
        };
    }
}

impl StreamedAnswer for GeminiAnswer {
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError> {
        if event["error"].is_object() {
            return Err(super::broke_off(&event["error"]));
        }
        if let Some(reason) = event["promptFeedback"]["blockReason"].as_str() {
            return Err(refused(reason));
        }
        if event["usageMetadata"].is_object() {
            self.count(&event["usageMetadata"]);
        }
        let candidate = &event["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        let chunks = parts
            .into_iter()
            .flatten()
            .flat_map(|part| self.part(part))
            .collect();
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.finish_reason = Some(reason.to_owned());
        }
        Ok(chunks)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn state(&self) -> State {
        match self.finish_reason.as_deref() {
            _ if !self.is_over => State::Open,
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") if self.ids.is_empty() => {
                State::Garbled(ModelError::unavailable(
                    "it wrote a tool call that cannot be read",
                ))
            }
            _ => State::Whole,
        }
    }

    fn close(&mut self) -> Result<Vec<Chunk>, ModelError> {
        let end = match self.finish_reason.as_deref() {
            None => return Err(ModelError::unavailable("its answer ended early")),
            Some("MAX_TOKENS") => End::Unfinished,
            Some(
                reason @ ("SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "RECITATION"
                | "IMAGE_SAFETY"),
            ) => return Err(refused(reason)),
            Some(_) => End::Done,
        };
        self.is_over = true;
        let original = (!self.parts.is_empty()).then(|| {
            Chunk::Original(Original {
                vendor: VENDOR.to_owned(),
                data: json!({"model": self.model, "parts": self.parts, "calls": self.ids}),
            })
        });
        Ok(original.into_iter().chain([Chunk::End(end)]).collect())
    }
}

fn refused(reason: &str) -> ModelError {
    ModelError::Refused(format!("Google held the model's answer back ({reason})"))
}
