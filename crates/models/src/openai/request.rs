//! Requests to OpenAI's Responses API.

use deskhand_core::model::{CallResult, Image, Item, ModelRequest, Original};
use serde_json::{Value, json};

use super::VENDOR;
use crate::{
    call_ids,
    functions::{self, Function},
    images::data_url,
    retell,
};

/// The body of a request.
pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let is_preview = is_preview(model);
    let mut body = json!({
        "model": model,
        "instructions": request.system,
        "input": input(&request.items, is_preview),
        "tools": tools(request, is_preview),
        "stream": true,
        // Nothing is kept there: the log is the memory.
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    });
    if is_preview {
        body["truncation"] = "auto".into();
    }
    body
}

/// Whether this is the model of the first form of the computer.
fn is_preview(model: &str) -> bool {
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
    let functions = [functions::bash(), functions::editor()]
        .into_iter()
        .chain(functions::of_every_model());
    std::iter::once(computer)
        .chain(functions.map(function))
        .collect()
}

fn function(function: Function) -> Value {
    json!({
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
        "strict": false,
    })
}

fn input(items: &[Item], is_preview: bool) -> Vec<Value> {
    let mut input = Vec::new();
    let mut items = items.iter().peekable();
    while let Some(item) = items.next() {
        match item {
            Item::Prompt { text } | Item::Steering { text } => input.push(said("user", text)),
            Item::Answer {
                text,
                calls,
                original,
                ..
            } => {
                let results = match items.peek() {
                    Some(Item::Results(results)) => results.as_slice(),
                    _ => &[],
                };
                match output(original.as_ref()).filter(|output| can_be_repeated(output, results)) {
                    Some(output) => {
                        input.extend(output.iter().cloned());
                        input.extend(outputs(output, results, is_preview));
                    }
                    None => {
                        input.push(said("assistant", &retell::answer(text, calls)));
                        input.extend(results.iter().map(retold));
                    }
                }
                if !results.is_empty() {
                    items.next();
                }
            }
            Item::HandedBack { text, image } => input.push(shown(text, image.as_ref())),
            Item::Results(results) => input.extend(results.iter().map(retold)),
            Item::CutOff { text } => {
                if !text.trim().is_empty() {
                    input.push(said("assistant", text));
                }
                input.push(said("user", retell::GO_ON));
            }
        }
    }
    input
}

/// The items of an answer as OpenAI sent them.
fn output(original: Option<&Original>) -> Option<&Vec<Value>> {
    let original = original.filter(|original| original.vendor == VENDOR)?;
    original.data["output"]
        .as_array()
        .filter(|output| !output.is_empty())
}

/// Whether an answer can be sent back as it was. Every call of the computer wants a picture, and every
/// safety check a person's yes: a call without either is told in words.
fn can_be_repeated(output: &[Value], results: &[CallResult]) -> bool {
    output.iter().all(|item| {
        let mut of_item = results_of(item, results).peekable();
        match item["type"].as_str() {
            Some("computer_call") => {
                let was_refused =
                    has_checks(item) && of_item.peek().is_none_or(|first| first.is_error);
                !was_refused && of_item.any(|result| result.image.is_some())
            }
            Some("function_call") => of_item.peek().is_some(),
            _ => true,
        }
    })
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

/// What came of an answer's calls. The computer's can only show a picture, so what failed is told beside it.
fn outputs(output: &[Value], results: &[CallResult], is_preview: bool) -> Vec<Value> {
    let mut outputs = Vec::new();
    let mut problems = Vec::new();
    for item in output {
        let of_item: Vec<&CallResult> = results_of(item, results).collect();
        match item["type"].as_str() {
            Some("computer_call") => {
                let picture = of_item
                    .iter()
                    .rev()
                    .find_map(|result| result.image.as_ref());
                let mut screenshot = json!({
                    "type": "computer_screenshot",
                    "image_url": picture.map(data_url),
                });
                if !is_preview {
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
                outputs.push(told);
                let failed = of_item.iter().filter(|result| result.is_error);
                problems.extend(failed.map(|result| result.text.as_str()));
            }
            Some("function_call") => {
                let text: Vec<&str> = of_item.iter().map(|result| result.text.as_str()).collect();
                outputs.push(json!({
                    "type": "function_call_output",
                    "call_id": item["call_id"],
                    "output": text.join("\n"),
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

fn retold(result: &CallResult) -> Value {
    shown(&retell::result(result), result.image.as_ref())
}

/// Words and a picture, as from the user.
fn shown(text: &str, image: Option<&Image>) -> Value {
    let mut content = vec![json!({"type": "input_text", "text": text})];
    if let Some(image) = image {
        content
            .push(json!({"type": "input_image", "image_url": data_url(image), "detail": "high"}));
    }
    json!({"type": "message", "role": "user", "content": content})
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}
