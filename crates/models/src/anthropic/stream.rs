//! Answers in the format that Anthropic streams.

use deskhand_core::model::{Chunk, End, ModelError, Original, Usage};
use serde_json::{Value, json};

use super::{
    EarlierThinking, VENDOR, calls,
    forms::{BEGINS_ANEW, is_thinking},
    generation::ToolVersion,
    usage::AnthropicUsage,
};
use crate::{
    space::Space,
    talk::{State, StreamedAnswer},
};

/// The part of an answer that has been received.
#[derive(Debug)]
pub(crate) struct AnthropicAnswer {
    space: Space,
    model: String,
    tools: ToolVersion,
    /// The earlier thinking in the request.
    thinking: EarlierThinking,
    /// Content from before the model paused.
    said: Vec<Value>,
    blocks: Vec<Block>,
    usage: AnthropicUsage,
    stop_reason: Option<String>,
    is_over: bool,
}

/// A block that is still being received.
#[derive(Debug)]
struct Block {
    value: Value,
    /// The part of a tool call's input that has been received.
    input: String,
    /// The block is complete and could be parsed.
    is_whole: bool,
}

impl AnthropicAnswer {
    pub(super) fn new(space: Space, model: String, tools: ToolVersion, said: Vec<Value>) -> Self {
        Self {
            space,
            model,
            tools,
            thinking: EarlierThinking::Kept,
            said,
            blocks: Vec::new(),
            usage: AnthropicUsage::default(),
            stop_reason: None,
            is_over: false,
        }
    }

    /// Sets the earlier thinking in the request.
    pub(super) fn following(self, thinking: EarlierThinking) -> Self {
        Self { thinking, ..self }
    }
}

impl StreamedAnswer for AnthropicAnswer {
    fn take(&mut self, event: &Value) -> Result<Vec<Chunk>, ModelError> {
        match event["type"].as_str() {
            Some("message_start") => self.usage.count(&event["message"]["usage"]),
            Some("content_block_start") => return Ok(self.begin(&event["content_block"])),
            Some("content_block_delta") => return Ok(self.go_on(&event["delta"])),
            Some("content_block_stop") => return Ok(self.end_block()),
            Some("message_delta") => {
                self.usage.count(&event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stop_reason = Some(reason.to_owned());
                }
                if self.stop_reason.as_deref() == Some("refusal") {
                    return Err(refused(&event["delta"]["stop_details"]));
                }
            }
            Some("message_stop") => return self.end(),
            Some("error") => return Err(super::broke_off(&event["error"])),
            _ => {}
        }
        Ok(Vec::new())
    }

    fn usage(&self) -> Usage {
        self.usage.total()
    }

    fn state(&self) -> State {
        if !self.is_over {
            State::Open
        } else if self.is_paused() {
            State::Paused(self.content())
        } else {
            State::Whole
        }
    }
}

impl AnthropicAnswer {
    /// Returns true if the model wants to be asked again at once, with everything that it has said so far.
    fn is_paused(&self) -> bool {
        self.stop_reason.as_deref() == Some("pause_turn")
    }

    /// Returns everything that the model has said so far.
    ///
    /// Returns nothing if that is only thinking, because the vendor would reject it.
    fn content(&self) -> Vec<Value> {
        let whole = self
            .blocks
            .iter()
            .filter(|block| block.is_whole && !is_empty(&block.value));
        let new = whole.map(|block| block.value.clone());
        let content: Vec<Value> = self.said.iter().cloned().chain(new).collect();
        let says_something = content.iter().any(|block| !is_thinking(block));
        if says_something { content } else { Vec::new() }
    }

    fn begin(&mut self, block: &Value) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        match block["type"].as_str() {
            Some("text") => {
                chunks.push(Chunk::TextStart);
                chunks.extend(said(&block["text"]).map(Chunk::Text));
            }
            Some("thinking") => {
                chunks.push(Chunk::ThinkingStart);
                chunks.extend(said(&block["thinking"]).map(Chunk::Thinking));
            }
            _ => {}
        }
        self.blocks.push(Block {
            value: block.clone(),
            input: String::new(),
            is_whole: false,
        });
        chunks
    }

    fn go_on(&mut self, delta: &Value) -> Vec<Chunk> {
        let Some(block) = self.blocks.last_mut() else {
            return Vec::new();
        };
        let piece = |field: &str| delta[field].as_str().unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") => {
                append(&mut block.value["text"], piece("text"));
                return said(&delta["text"]).map(Chunk::Text).into_iter().collect();
            }
            Some("thinking_delta") => {
                append(&mut block.value["thinking"], piece("thinking"));
                return said(&delta["thinking"])
                    .map(Chunk::Thinking)
                    .into_iter()
                    .collect();
            }
            Some("signature_delta") => append(&mut block.value["signature"], piece("signature")),
            Some("input_json_delta") => block.input.push_str(piece("partial_json")),
            Some("citations_delta") => {
                if let Some(citations) = block.value["citations"].as_array_mut() {
                    citations.push(delta["citation"].clone());
                }
            }
            Some("compaction_delta") => append(&mut block.value["content"], piece("content")),
            _ => {}
        }
        Vec::new()
    }

    fn end_block(&mut self) -> Vec<Chunk> {
        let Some(block) = self.blocks.last_mut() else {
            return Vec::new();
        };
        if !block.input.is_empty() {
            match serde_json::from_str(&block.input) {
                Ok(input) => block.value["input"] = input,
                // The input was cut off. The end of the answer reports that.
                Err(_) => return Vec::new(),
            }
        }
        block.is_whole = true;
        if block.value["type"] == "tool_use" {
            vec![Chunk::Call(calls::read(&block.value, &self.space))]
        } else {
            Vec::new()
        }
    }

    fn end(&mut self) -> Result<Vec<Chunk>, ModelError> {
        self.is_over = true;
        if self.is_paused() {
            return Ok(Vec::new());
        }
        let end = match self.stop_reason.as_deref() {
            Some("max_tokens") => End::Unfinished,
            Some("model_context_window_exceeded") => {
                return Err(ModelError::TooLong(
                    "the conversation has become too long for this model".to_owned(),
                ));
            }
            _ => End::Done,
        };
        let content = self.content();
        let mut data = json!({
            "model": self.model,
            "tools": self.tools.name(),
            "content": content,
        });
        if self.thinking == EarlierThinking::Dropped {
            data[BEGINS_ANEW] = true.into();
        }
        let original = Original {
            vendor: VENDOR.to_owned(),
            data,
        };
        let original = (!content.is_empty()).then_some(Chunk::Original(original));
        Ok(original.into_iter().chain([Chunk::End(end)]).collect())
    }
}

fn said(text: &Value) -> Option<String> {
    text.as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

fn append(text: &mut Value, piece: &str) {
    match text {
        Value::String(text) => text.push_str(piece),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            *text = piece.into();
        }
    }
}

/// Returns true if a block is empty. Anthropic sends such blocks but does not accept them back.
fn is_empty(block: &Value) -> bool {
    let is_blank = |field: &str| {
        let text = block[field].as_str();
        text.is_none_or(|text| text.trim().is_empty())
    };
    match block["type"].as_str() {
        Some("text") => is_blank("text"),
        // It was cut off before it was signed.
        Some("thinking") => is_blank("signature"),
        _ => false,
    }
}

fn refused(details: &Value) -> ModelError {
    let why = details["explanation"]
        .as_str()
        .or(details["category"].as_str());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    ModelError::Refused(format!("the model refused to go on{why}"))
}
