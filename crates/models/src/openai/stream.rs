//! Answers in the format that OpenAI streams.

use deskhand_core::model::{Chunk, End, ModelError, Original, Usage};
use serde_json::{Value, json};

use super::{VENDOR, calls};
use crate::{
    space::Space,
    surface::Surface,
    talk::{State, StreamedAnswer},
};

/// The part of an answer that has been received.
#[derive(Debug)]
pub(crate) struct OpenAiAnswer {
    space: Space,
    surface: Surface,
    model: String,
    output: Vec<Value>,
    n_calls: usize,
    usage: Usage,
    /// The last message announces what the model does next.
    is_commentary: bool,
    is_over: bool,
}

impl OpenAiAnswer {
    pub(super) fn new(space: Space, surface: Surface, model: String) -> Self {
        Self {
            space,
            surface,
            model,
            output: Vec::new(),
            n_calls: 0,
            usage: Usage::default(),
            is_commentary: false,
            is_over: false,
        }
    }
}

impl StreamedAnswer for OpenAiAnswer {
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError> {
        let piece = || event["delta"].as_str().unwrap_or_default().to_owned();
        Ok(match event["type"].as_str() {
            Some("response.content_part.added") => vec![Chunk::TextStart],
            Some("response.output_text.delta" | "response.refusal.delta") => {
                vec![Chunk::Text(piece())]
            }
            Some("response.reasoning_summary_part.added") => vec![Chunk::ThinkingStart],
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                vec![Chunk::Thinking(piece())]
            }
            Some("response.output_item.done") => self.end_item(&event["item"]),
            Some("response.completed") => self.end(&event["response"], End::Done),
            Some("response.incomplete") => self.incomplete(&event["response"])?,
            Some("response.failed") => {
                self.count(&event["response"]["usage"]);
                return Err(super::broke_off(&event["response"]["error"]));
            }
            Some("error") => {
                let error = if event["error"].is_object() {
                    &event["error"]
                } else {
                    event
                };
                return Err(super::broke_off(error));
            }
            _ => Vec::new(),
        })
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
}

impl OpenAiAnswer {
    fn end_item(&mut self, item: &Value) -> Vec<Chunk> {
        if item["status"] == "incomplete" {
            return Vec::new();
        }
        if item["type"] == "message" {
            self.is_commentary = item["phase"] == "commentary";
        }
        self.output.push(item.clone());
        let calls = calls::read(item, &self.space, self.surface);
        self.n_calls += calls.len();
        calls.into_iter().map(Chunk::Call).collect()
    }

    fn incomplete(&mut self, response: &Value) -> Result<Vec<Chunk>, ModelError> {
        match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => {
                self.count(&response["usage"]);
                Err(ModelError::Refused(
                    "the model's answer was held back by OpenAI's content filter".to_owned(),
                ))
            }
            _ => Ok(self.end(response, End::Unfinished)),
        }
    }

    fn end(&mut self, response: &Value, end: End) -> Vec<Chunk> {
        self.is_over = true;
        self.count(&response["usage"]);
        let end = if end == End::Done && self.is_commentary && self.n_calls == 0 {
            End::Aside
        } else {
            end
        };
        let original = (!self.output.is_empty()).then(|| {
            Chunk::Original(Original {
                vendor: VENDOR.to_owned(),
                data: json!({"model": self.model, "output": self.output}),
            })
        });
        original.into_iter().chain([Chunk::End(end)]).collect()
    }

    fn count(&mut self, usage: &Value) {
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let details = &usage["input_tokens_details"];
        let cached = count(&details["cached_tokens"]);
        let written = count(&details["cache_write_tokens"]);
        self.usage = Usage {
            input: count(&usage["input_tokens"]).saturating_sub(cached + written),
            cache_write: written,
            cache_read: cached,
            output: count(&usage["output_tokens"]),
            ..Usage::default()
        };
    }
}
