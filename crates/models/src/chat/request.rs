//! Requests for chat completions, with the computer as functions.

use deskhand_core::{
    model::{Image, ModelRequest, ShownFile},
    tool::{NativeTool, POINTS_ARE_PIXELS, ToolSpec},
};
use serde_json::{Value, json};

use super::{VENDOR, offer::ChatOffer, unit::PointUnit};
use crate::{
    computer_function,
    exchange::{self, ConversationPart, Exchange},
    images::{data_url, file_data_url, file_label},
    retell,
    space::Space,
    surface::Surface,
    tool_input::function_name,
};

/// The text beside pictures that results came with.
const AFTER_THAT: &str = "[The screen after that:]";
/// The sentence of a tool's description for models that point at thousandths.
const POINTS_ARE_THOUSANDTHS: &str =
    "coordinates count from 0 to 1000 in each direction, whatever the size of the picture";
/// The fields of an answer that may be sent back only to the model that produced them.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning_details"];

/// The form of a request, beside the conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChatForm {
    pub(super) offer: ChatOffer,
    pub(super) surface: Surface,
    pub(super) unit: PointUnit,
}

/// Writes the body of a request.
pub(super) fn body(model: &str, form: ChatForm, request: &ModelRequest) -> Value {
    let mut writer = ChatWriter {
        model,
        surface: form.surface,
        space: form.unit.space_of(request),
        messages: vec![said("system", &request.system)],
    };
    for part in exchange::parts(&request.items) {
        writer.write(part);
    }
    let mut body = json!({
        "model": model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": writer.messages,
        "tools": request.tools.iter().map(|one| tool(one, form)).collect::<Vec<_>>(),
    });
    if let Some(effort) = request.options.effort.filter(|_| form.offer.effort) {
        body["reasoning_effort"] = effort.as_str().into();
    }
    body
}

fn tool(tool: &ToolSpec, form: ChatForm) -> Value {
    let is_page = form.surface == Surface::PageFunction;
    let function = if tool.native == Some(NativeTool::Browser) && is_page {
        json!({
            "name": computer_function::NAME,
            "description": in_unit(computer_function::DESCRIPTION, form.unit),
            "parameters": computer_function::parameters(),
        })
    } else {
        json!({
            "name": function_name(tool),
            "description": in_unit(&tool.description, form.unit),
            "parameters": tool.parameters,
        })
    };
    json!({"type": "function", "function": function})
}

/// Returns a description that says how the model counts.
fn in_unit(description: &str, unit: PointUnit) -> String {
    match unit {
        PointUnit::Pixels => description.to_owned(),
        PointUnit::Thousandths => description.replace(POINTS_ARE_PIXELS, POINTS_ARE_THOUSANDTHS),
    }
}

/// Writes the conversation.
struct ChatWriter<'a> {
    model: &'a str,
    surface: Surface,
    space: Space,
    messages: Vec<Value>,
}

impl ChatWriter<'_> {
    fn write(&mut self, part: ConversationPart<'_>) {
        let messages = &mut self.messages;
        match part {
            ConversationPart::Said(text) => messages.push(said("user", text)),
            ConversationPart::Shown { text, image } => messages.push(shown(text, image)),
            ConversationPart::Files(files) => messages.push(attached(files)),
            ConversationPart::Exchange(exchange) => match sent(&exchange, self.model) {
                Some(message) => {
                    messages.push(message.clone());
                    messages.extend(results(&exchange, &message, self.surface));
                }
                None => {
                    if retell::is_something(exchange.text) {
                        messages.push(said("assistant", exchange.text));
                    }
                    messages.extend(retell::done(&exchange, &self.space).into_iter().map(told));
                }
            },
            ConversationPart::Stray(results) => {
                messages.extend(results.iter().map(retell::stray).map(told));
            }
            ConversationPart::CutOff(text) => {
                if retell::is_something(text) {
                    messages.push(said("assistant", text));
                }
                messages.push(said("user", retell::GO_ON));
            }
        }
    }
}

/// Returns an answer as it was received, without the reasoning if another model produced it.
fn sent(exchange: &Exchange<'_>, model: &str) -> Option<Value> {
    let original = exchange.original(VENDOR)?;
    let mut message = original["message"].clone();
    let fields = message.as_object_mut()?;
    if original["model"].as_str().is_some_and(|by| by != model) {
        for field in REASONING {
            fields.remove(field);
        }
    }
    Some(message)
}

/// Returns the results of an answer's calls. A function's result is text, so the user shows the pictures.
fn results(exchange: &Exchange<'_>, message: &Value, surface: Surface) -> Vec<Value> {
    let calls = message["tool_calls"].as_array();
    let mut messages = Vec::new();
    let mut pictures = Vec::new();
    for call in calls.into_iter().flatten() {
        let result = exchange.result(call["id"].as_str().unwrap_or_default());
        let is_page =
            surface == Surface::PageFunction && call["function"]["name"] == computer_function::NAME;
        let text = if is_page {
            // The picture is in the text.
            computer_function::result(result)
        } else {
            pictures.extend(result.and_then(|result| result.image.as_ref()));
            result
                .map_or(retell::NOT_DONE, |result| &result.text)
                .to_owned()
        };
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": text}));
    }
    if !pictures.is_empty() {
        messages.push(shown(AFTER_THAT, pictures));
    }
    messages
}

fn told((text, image): retell::Told<'_>) -> Value {
    shown(&text, image)
}

/// Returns text and pictures as a message from the user.
fn shown<'a>(text: &str, images: impl IntoIterator<Item = &'a Image>) -> Value {
    let words = json!({"type": "text", "text": text});
    let pictures = images
        .into_iter()
        .map(|image| json!({"type": "image_url", "image_url": {"url": data_url(image)}}));
    let content: Vec<Value> = std::iter::once(words).chain(pictures).collect();
    json!({"role": "user", "content": content})
}

/// Returns attached pictures as a message from the user. Chat completions have no common format for other files.
fn attached(files: &[ShownFile]) -> Value {
    let pictures = files.iter().filter(|file| file.is_picture());
    let content = pictures.flat_map(|file| {
        [
            json!({"type": "text", "text": file_label(file)}),
            json!({"type": "image_url", "image_url": {"url": file_data_url(file)}}),
        ]
    });
    json!({"role": "user", "content": content.collect::<Vec<_>>()})
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}
