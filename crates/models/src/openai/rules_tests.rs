//! What OpenAI wants of every request, whatever happened in the conversation.

use std::collections::BTreeMap;

use deskhand_core::model::{CallResult, Item};
use deskhand_testkit::keep_vendor_request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{VENDOR, offer::OpenAiOffer, request};
use crate::{
    conversations::{By, Sent, beginnings, items, steps},
    surface::Surface,
    testing,
};

const MODELS: [&str; 2] = ["gpt-6-sol", "computer-use-preview"];

fn input(model: &str, items: &[Item]) -> Vec<Value> {
    let request = testing::request(items.to_vec());
    let body = request::body(model, OpenAiOffer::to(model), Surface::Screen, &request);
    keep_vendor_request("/responses", &BTreeMap::new(), &body);
    body["input"].as_array().unwrap().clone()
}

/// Calls of the computer, every other one to be looked at by a person, and of the shell in turn.
fn sent(model: &str, index: usize, by: By, text: &str, n_calls: usize) -> Sent {
    let mut output = vec![
        json!({"type": "reasoning", "id": format!("rs_{index}"), "summary": [], "encrypted_content": "x"}),
    ];
    if !text.trim().is_empty() {
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        output.push(json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}));
    }
    let mut ids = Vec::new();
    for place in 0..n_calls {
        let call = format!("c{index}_{place}");
        if place % 2 == 0 {
            let checks = if index.is_multiple_of(2) {
                json!([{"id": "sc"}])
            } else {
                json!([])
            };
            output.push(json!({"type": "computer_call", "id": format!("cu_{call}"), "status": "completed", "call_id": call, "actions": [{"type": "wait"}], "pending_safety_checks": checks}));
            ids.push(format!("{call}#0"));
        } else {
            output.push(json!({"type": "function_call", "call_id": call, "name": "bash", "arguments": "{}"}));
            ids.push(call);
        }
    }
    let model = if by == By::Sibling { "gpt-5.5" } else { model };
    (json!({"model": model, "output": output}), ids)
}

/// What is wrong with a request's input.
fn fault(input: &[Value], items: &[Item]) -> Option<String> {
    let mut open: Vec<&Value> = Vec::new();
    for item in input {
        let kind = item["type"].as_str().unwrap_or_default();
        match kind {
            "computer_call" | "function_call" => open.push(item),
            "computer_call_output" | "function_call_output" => {
                let is_call = |call: &Value| call["call_id"] == item["call_id"];
                let Some(place) = open.iter().position(|call| is_call(call)) else {
                    return Some("no call is answered".to_owned());
                };
                let call = open.remove(place);
                if kind != format!("{}_output", call["type"].as_str().unwrap()) {
                    return Some("a call is answered as another kind".to_owned());
                }
                if kind == "computer_call_output" {
                    if !item["output"]["image_url"].is_string() {
                        return Some("a screenshot is missing".to_owned());
                    }
                    let has_checks = call["pending_safety_checks"][0].is_object();
                    let is_agreed = item["acknowledged_safety_checks"][0].is_object();
                    if has_checks != is_agreed || (has_checks && !went_through(call, items)) {
                        return Some("what was agreed to is not what was asked".to_owned());
                    }
                }
            }
            "reasoning" => {}
            "message" if !open.is_empty() && item["role"] == "user" => {
                return Some("somebody speaks before calls are answered".to_owned());
            }
            "message" => {}
            other => return Some(format!("there is a {other}")),
        }
    }
    (!open.is_empty()).then(|| "calls are not answered".to_owned())
}

/// Whether the log says that a call was carried out.
fn went_through(call: &Value, items: &[Item]) -> bool {
    let id = format!("{}#0", call["call_id"].as_str().unwrap());
    let is_it = |result: &CallResult| result.call == id && !result.is_error;
    items.iter().any(|item| {
        if let Item::Results(results) = item {
            results.iter().any(is_it)
        } else {
            false
        }
    })
}

proptest! {
    #[test]
    fn any_conversation_is_taken(steps in steps(), model in proptest::sample::select(&MODELS[..])) {
        let items = items(VENDOR, &steps, |index, by, text, n_calls| sent(model, index, by, text, n_calls));
        let mut before: Vec<Value> = Vec::new();
        for beginning in beginnings(&items) {
            let input = input(model, beginning);
            prop_assert_eq!(fault(&input, beginning), None, "{:#?}", input);
            prop_assert!(input.starts_with(&before));
            before = input;
        }
    }
}
