//! Requests to Gemini's generateContent.

use deskhand_core::model::{CallResult, Image, Item, ModelRequest, Original};
use serde_json::{Value, json};

use super::{VENDOR, calls};
use crate::{
    call_ids,
    functions::{self, Function},
    images, retell,
};

/// The models whose only computer is a browser.
const BROWSER_ONLY: [&str; 3] = [
    "gemini-2.5-computer-use",
    "gemini-3-flash",
    "gemini-3.1-pro",
];

/// The body of a request.
pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let is_browser = BROWSER_ONLY.iter().any(|name| model.starts_with(name));
    let environment = if is_browser {
        "ENVIRONMENT_BROWSER"
    } else {
        "ENVIRONMENT_DESKTOP"
    };
    let functions = [functions::bash(), functions::editor()]
        .into_iter()
        .chain(functions::of_every_model());
    json!({
        "systemInstruction": {"parts": [{"text": request.system}]},
        "contents": contents(&request.items),
        "tools": [
            {"computerUse": {"environment": environment, "enablePromptInjectionDetection": true}},
            {"functionDeclarations": functions.map(declaration).collect::<Vec<_>>()},
        ],
        "generationConfig": {"thinkingConfig": {"includeThoughts": true}},
    })
}

fn declaration(function: Function) -> Value {
    json!({
        "name": function.name,
        "description": function.description,
        "parametersJsonSchema": function.parameters,
    })
}

fn contents(items: &[Item]) -> Vec<Value> {
    let mut contents: Vec<Value> = Vec::new();
    let mut last: Option<&Original> = None;
    for item in items {
        match item {
            Item::Prompt { text } | Item::Steering { text } => {
                add(&mut contents, "user", vec![words(text)])
            }
            Item::Answer {
                text,
                calls,
                original,
                ..
            } => {
                last = original
                    .as_ref()
                    .filter(|original| original.vendor == VENDOR);
                let parts = match last.and_then(|original| original.data["parts"].as_array()) {
                    Some(parts) => parts.clone(),
                    None => vec![words(&retell::answer(text, calls))],
                };
                add(&mut contents, "model", parts);
            }
            Item::HandedBack { text, image } => {
                let picture = image.as_ref().map(picture);
                let parts = std::iter::once(words(text)).chain(picture).collect();
                add(&mut contents, "user", parts);
            }
            Item::Results(results) => {
                let parts = match last {
                    Some(original) => responses(&original.data, results),
                    None => results.iter().flat_map(retold).collect(),
                };
                add(&mut contents, "user", parts);
            }
            Item::CutOff { text } => {
                if !text.trim().is_empty() {
                    add(&mut contents, "model", vec![words(text)]);
                }
                add(&mut contents, "user", vec![words(retell::GO_ON)]);
            }
        }
    }
    contents
}

fn add(contents: &mut Vec<Value>, role: &str, parts: Vec<Value>) {
    if let Some(last) = contents.last_mut().filter(|last| last["role"] == role)
        && let Some(before) = last["parts"].as_array_mut()
    {
        before.extend(parts);
    } else {
        contents.push(json!({"role": role, "parts": parts}));
    }
}

/// What came of an answer's function calls, in their order.
fn responses(original: &Value, results: &[CallResult]) -> Vec<Value> {
    let empty = Vec::new();
    let parts = original["parts"].as_array().unwrap_or(&empty);
    let ids = original["calls"].as_array().unwrap_or(&empty);
    let called = parts
        .iter()
        .map(|part| &part["functionCall"])
        .filter(|call| call.is_object());
    let responses = called.zip(ids).map(|(call, id)| {
        let of_call = results
            .iter()
            .filter(|result| Some(call_ids::whole(&result.call)) == id.as_str());
        response(call, &of_call.collect::<Vec<_>>())
    });
    responses.collect()
}

fn response(call: &Value, results: &[&CallResult]) -> Value {
    let text: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    let is_error = results.is_empty() || results.iter().any(|result| result.is_error);
    let mut response = if is_error {
        json!({"error": text.join("\n")})
    } else {
        json!({"output": text.join("\n")})
    };
    if calls::wants_confirmation(&call["args"])
        && results.first().is_some_and(|first| !first.is_error)
    {
        response["safety_acknowledgement"] = "true".into();
    }
    let mut told = json!({"name": call["name"], "response": response});
    if call["id"].is_string() {
        told["id"] = call["id"].clone();
    }
    if let Some(image) = results
        .iter()
        .rev()
        .find_map(|result| result.image.as_ref())
    {
        told["parts"] = json!([picture(image)]);
    }
    json!({"functionResponse": told})
}

fn retold(result: &CallResult) -> Vec<Value> {
    let picture = result.image.as_ref().map(picture);
    std::iter::once(words(&retell::result(result)))
        .chain(picture)
        .collect()
}

fn words(text: &str) -> Value {
    json!({"text": text})
}

fn picture(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": images::media_type(image), "data": images::base64(image)}})
}
