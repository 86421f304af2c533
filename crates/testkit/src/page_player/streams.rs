//! Answers as vendors stream them, and the pictures in requests to them.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

pub(super) fn anthropic(calls: &[(String, Value)]) -> Vec<Value> {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    for (id, call) in calls {
        events.extend([
            json!({"type": "content_block_start", "content_block": {
                "type": "tool_use", "id": id, "name": call["name"], "toolset_name": "browser", "input": {},
            }}),
            json!({"type": "content_block_delta", "delta": {
                "type": "input_json_delta", "partial_json": call["input"].to_string(),
            }}),
            json!({"type": "content_block_stop"}),
        ]);
    }
    if calls.is_empty() {
        events.extend([
            json!({"type": "content_block_start", "content_block": {"type": "text", "text": "Done."}}),
            json!({"type": "content_block_stop"}),
        ]);
    }
    events.extend([
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]);
    events
}

/// Actions of one answer are one call.
pub(super) fn openai(calls: &[(String, Value)]) -> Vec<Value> {
    let actions: Vec<Value> = calls
        .iter()
        .map(|(_, call)| call["action"].clone())
        .collect();
    let item = match calls.first() {
        None => json!({"type": "message", "role": "assistant", "content": []}),
        Some((id, call)) if call["name"].is_string() => json!({
            "type": "function_call", "call_id": id, "name": call["name"], "arguments": call["input"].to_string(),
        }),
        Some((id, call)) if actions.len() == 1 => json!({
            "type": "computer_call", "call_id": id, "status": "completed", "action": call["action"],
        }),
        Some((id, _)) => json!({
            "type": "computer_call", "call_id": id, "status": "completed", "actions": actions,
        }),
    };
    let mut events = Vec::new();
    if calls.is_empty() {
        events.extend([
            json!({"type": "response.content_part.added"}),
            json!({"type": "response.output_text.delta", "delta": "Done."}),
        ]);
    }
    events.extend([
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"usage": {}}}),
    ]);
    events
}

pub(super) fn gemini(calls: &[(String, Value)]) -> Vec<Value> {
    let mut parts: Vec<Value> = calls
        .iter()
        .map(|(id, call)| json!({"functionCall": {"id": id, "name": call["name"], "args": call["args"]}}))
        .collect();
    if parts.is_empty() {
        parts.push(json!({"text": "Done."}));
    }
    let content = json!({"role": "model", "parts": parts});
    vec![json!({"candidates": [{"content": content, "finishReason": "STOP"}]})]
}

pub(super) fn chat(calls: &[(String, Value)]) -> Vec<Value> {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, call))| {
            let function = json!({"name": call["name"], "arguments": call["input"].to_string()});
            json!({"index": index, "id": id, "type": "function", "function": function})
        })
        .collect();
    let delta = if calls.is_empty() {
        json!({"content": "Done."})
    } else {
        json!({"tool_calls": calls})
    };
    vec![
        json!({"choices": [{"delta": delta}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ]
}

/// Returns the size of the newest picture in a request to Gemini, which is a JPEG.
pub(super) fn picture_size(body: &Value) -> (u32, u32) {
    let mut newest = (1024, 768);
    visit(body, &mut |value| {
        let data = value["inlineData"]["data"].as_str();
        if let Some(size) = data.and_then(jpeg_size) {
            newest = size;
        }
    });
    newest
}

fn visit(value: &Value, see: &mut impl FnMut(&Value)) {
    see(value);
    match value {
        Value::Array(values) => values.iter().for_each(|value| visit(value, see)),
        Value::Object(fields) => fields.values().for_each(|value| visit(value, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Reads the size from the frame header of a JPEG.
fn jpeg_size(base64: &str) -> Option<(u32, u32)> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    if !bytes.starts_with(&[0xff, 0xd8]) {
        return None;
    }
    let mut at = 2;
    loop {
        let (marker, rest) = (bytes.get(at + 1)?, bytes.get(at + 2..)?);
        let number = |place: usize| {
            let pair = rest.get(place..place + 2)?;
            Some(u32::from(pair[0]) * 256 + u32::from(pair[1]))
        };
        if matches!(marker, 0xc0..=0xc2) {
            return Some((number(5)?, number(3)?));
        }
        at += 2 + usize::try_from(number(0)?).ok()?;
    }
}
