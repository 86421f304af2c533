//! Requests to OpenAI's Responses API.

use deskhand_core::{
    model::{CallResult, Image, Item, ModelRequest, ShownFile},
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{VENDOR, offer::OpenAiOffer};
use crate::{
    call_ids,
    exchange::{self, ConversationPart, Exchange},
    images::{data_url, file_data_url, file_label},
    retell,
    space::Space,
    tool_input::function_name,
};

/// Writes the body of a request.
pub(super) fn body(model: &str, offer: OpenAiOffer, request: &ModelRequest) -> Value {
    let is_preview = is_preview(model);
    let writer = InputWriter {
        model,
        has_detail: offer.detail && !is_preview,
        space: Space::picture(request.screen, request.shown),
    };
    let mut body = json!({
        "model": model,
        "instructions": request.system,
        "input": writer.input(&request.items),
        "tools": tools(request, is_preview),
        "stream": true,
        // OpenAI stores nothing: the log is the memory.
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    if offer.summary {
        let summary = if is_preview { "concise" } else { "auto" };
        body["reasoning"] = json!({"summary": summary});
    }
    if is_preview {
        body["truncation"] = "auto".into();
    }
    body
}

/// Returns true if this is the model with the first form of the computer.
pub(super) fn is_preview(model: &str) -> bool {
    model.starts_with("computer-use-preview")
}

fn tools(request: &ModelRequest, is_preview: bool) -> Vec<Value> {
    let computer = if is_preview {
        json!({
            "type": "computer_use_preview",
            "display_width": request.shown.width,
            "display_height": request.shown.height,
            "environment": "linux",
        })
    } else {
        json!({"type": "computer"})
    };
    let entry = |tool: &ToolSpec| match tool.native {
        Some(NativeTool::Computer) => computer.clone(),
        Some(NativeTool::Shell | NativeTool::Editor) | None => function(tool),
    };
    request.tools.iter().map(entry).collect()
}

fn function(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": function_name(tool),
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

/// Writes the conversation.
struct InputWriter<'a> {
    model: &'a str,
    /// Screenshots are marked to be viewed without scaling.
    has_detail: bool,
    space: Space,
}

impl InputWriter<'_> {
    fn input(&self, items: &[Item]) -> Vec<Value> {
        let mut input = Vec::new();
        for part in exchange::parts(items) {
            match part {
                ConversationPart::Said(text) => input.push(said("user", text)),
                ConversationPart::Shown { text, image } => input.push(shown(text, image)),
                ConversationPart::Files(files) => input.push(attached(files)),
                ConversationPart::Exchange(exchange) => self.exchange(&exchange, &mut input),
                ConversationPart::Stray(results) => {
                    input.extend(results.iter().map(retell::stray).map(told));
                }
                ConversationPart::CutOff(text) => {
                    if retell::is_something(text) {
                        input.push(said("assistant", text));
                    }
                    input.push(said("user", retell::GO_ON));
                }
            }
        }
        input
    }

    fn exchange(&self, exchange: &Exchange<'_>, input: &mut Vec<Value>) {
        match self.sent(exchange) {
            Some(output) => {
                input.extend(output.iter().cloned());
                input.extend(self.outputs(output, exchange.results));
            }
            None => {
                if retell::is_something(exchange.text) {
                    input.push(said("assistant", exchange.text));
                }
                input.extend(retell::done(exchange, &self.space).into_iter().map(told));
            }
        }
    }

    /// Returns the items of an answer as this model sent them, if they can be sent back.
    ///
    /// Every call of the computer needs a picture, and every safety check needs a person's consent. An answer that
    /// lacks either is retold in words.
    fn sent<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a Vec<Value>> {
        let original = exchange.original(VENDOR)?;
        let output = original["output"].as_array()?;
        let is_own = original["model"]
            .as_str()
            .is_none_or(|model| model == self.model);
        let can_be_repeated = output.iter().all(|item| {
            let mut results = results_of(item, exchange.results).peekable();
            if item["type"] != "computer_call" {
                return true;
            }
            let was_refused = has_checks(item) && results.peek().is_none_or(|first| first.is_error);
            !was_refused && results.any(|result| result.image.is_some())
        });
        (is_own && can_be_repeated && !output.is_empty()).then_some(output)
    }

    /// Returns the outputs of an answer's calls.
    ///
    /// A computer call's output can only be a picture, so a separate message reports its errors.
    fn outputs(&self, output: &[Value], results: &[CallResult]) -> Vec<Value> {
        let mut outputs = Vec::new();
        let mut problems = Vec::new();
        for item in output {
            let of_item: Vec<&CallResult> = results_of(item, results).collect();
            match item["type"].as_str() {
                Some("computer_call") => {
                    outputs.push(self.screenshot(item, &of_item));
                    let failed = of_item.iter().filter(|result| result.is_error);
                    problems.extend(failed.map(|result| result.text.as_str()));
                }
                Some("function_call") => {
                    let text: Vec<&str> = of_item.iter().map(|result| &*result.text).collect();
                    let text = if of_item.is_empty() {
                        retell::NOT_DONE.to_owned()
                    } else {
                        text.join("\n")
                    };
                    outputs.push(json!({
                        "type": "function_call_output",
                        "call_id": item["call_id"],
                        "output": text,
                    }));
                }
                _ => {}
            }
        }
        if !problems.is_empty() {
            let told = format!("[The computer reports: {}]", problems.join(" "));
            outputs.push(said("user", &told));
        }
        outputs
    }

    fn screenshot(&self, item: &Value, results: &[&CallResult]) -> Value {
        let pictures = results.iter().rev();
        let picture = pictures.filter_map(|result| result.image.as_ref()).next();
        let mut screenshot = json!({
            "type": "computer_screenshot",
            "image_url": picture.map(data_url),
        });
        if self.has_detail {
            screenshot["detail"] = "original".into();
        }
        let mut told = json!({
            "type": "computer_call_output",
            "call_id": item["call_id"],
            "output": screenshot,
        });
        if has_checks(item) {
            told["acknowledged_safety_checks"] = item["pending_safety_checks"].clone();
        }
        told
    }
}

fn has_checks(item: &Value) -> bool {
    item["pending_safety_checks"]
        .as_array()
        .is_some_and(|checks| !checks.is_empty())
}

fn results_of<'a>(
    item: &'a Value,
    results: &'a [CallResult],
) -> impl Iterator<Item = &'a CallResult> {
    let call = item["call_id"].as_str();
    results
        .iter()
        .filter(move |result| Some(call_ids::whole(&result.call)) == call)
}

fn told((text, image): retell::Told<'_>) -> Value {
    shown(&text, image)
}

/// Returns text and a picture as a message from the user.
fn shown(text: &str, image: Option<&Image>) -> Value {
    let mut content = vec![json!({"type": "input_text", "text": text})];
    if let Some(image) = image {
        content
            .push(json!({"type": "input_image", "image_url": data_url(image), "detail": "high"}));
    }
    json!({"type": "message", "role": "user", "content": content})
}

/// Returns attached files as a message from the user.
fn attached(files: &[ShownFile]) -> Value {
    let content = files.iter().flat_map(|file| {
        let url = file_data_url(file);
        let block = if file.is_picture() {
            json!({"type": "input_image", "image_url": url, "detail": "high"})
        } else {
            json!({"type": "input_file", "filename": file.name, "file_data": url})
        };
        [
            json!({"type": "input_text", "text": file_label(file)}),
            block,
        ]
    });
    json!({"type": "message", "role": "user", "content": content.collect::<Vec<_>>()})
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}
