//! Requests for chat completions, with the computer as functions.

use deskhand_core::model::{CallResult, Image, Item, ModelRequest, Original};
use serde_json::{Value, json};

use super::VENDOR;
use crate::{
    functions::{self, Function},
    images::data_url,
    retell,
};

/// The body of a request.
pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let functions = [
        functions::computer(request.shown),
        functions::bash(),
        functions::editor(),
    ]
    .into_iter()
    .chain(functions::of_every_model());
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    messages.extend(conversation(&request.items));
    json!({
        "model": model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages,
        "tools": functions.map(tool).collect::<Vec<_>>(),
    })
}

fn tool(function: Function) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": function.name,
            "description": function.description,
            "parameters": function.parameters,
        },
    })
}

fn conversation(items: &[Item]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut is_repeated = false;
    for item in items {
        match item {
            Item::Prompt { text } | Item::Steering { text } => messages.push(said("user", text)),
            Item::Answer {
                text,
                calls,
                original,
                ..
            } => {
                let message = message(original.as_ref());
                is_repeated = message.is_some();
                let retold = || said("assistant", &retell::answer(text, calls));
                messages.push(message.cloned().unwrap_or_else(retold));
            }
            Item::HandedBack { text, image } => messages.push(shown(text, image.iter())),
            Item::Results(results) => messages.extend(answers(results, is_repeated)),
            Item::CutOff { text } => {
                if !text.trim().is_empty() {
                    messages.push(said("assistant", text));
                }
                messages.push(said("user", retell::GO_ON));
            }
        }
    }
    messages
}

/// An answer as it was sent.
fn message(original: Option<&Original>) -> Option<&Value> {
    let original = original.filter(|original| original.vendor == VENDOR)?;
    Some(&original.data["message"]).filter(|message| message.is_object())
}

/// What came of an answer's calls. A function's result is text; pictures are shown by the user.
fn answers(results: &[CallResult], is_repeated: bool) -> Vec<Value> {
    let mut messages: Vec<Value> = if is_repeated {
        let tools = results.iter().map(
            |result| json!({"role": "tool", "tool_call_id": result.call, "content": result.text}),
        );
        tools.collect()
    } else {
        let told: Vec<String> = results.iter().map(retell::result).collect();
        vec![said("user", &told.join("\n"))]
    };
    let mut pictures = results
        .iter()
        .filter_map(|result| result.image.as_ref())
        .peekable();
    if pictures.peek().is_some() {
        messages.push(shown("[The screen after that:]", pictures));
    }
    messages
}

/// Words and pictures, as from the user.
fn shown<'a>(text: &str, images: impl Iterator<Item = &'a Image>) -> Value {
    let words = json!({"type": "text", "text": text});
    let pictures =
        images.map(|image| json!({"type": "image_url", "image_url": {"url": data_url(image)}}));
    let content: Vec<Value> = std::iter::once(words).chain(pictures).collect();
    json!({"role": "user", "content": content})
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}
