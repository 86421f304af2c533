//! What Anthropic wants of every request, whatever happened in the conversation.

use std::collections::BTreeMap;

use deskhand_core::model::Item;
use deskhand_testkit::keep_vendor_request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{EarlierThinking, VENDOR, offer::AnthropicOffer, request};
use crate::{
    conversations::{By, Sent, beginnings, goes_on, items, steps},
    testing,
};

const MODELS: [&str; 5] = [
    "claude-opus-5-5",
    "claude-opus-5",
    "claude-opus-4-7",
    "claude-sonnet-4-5",
    "claude-2",
];

fn body(model: &str, items: &[Item]) -> Value {
    let request = testing::request(items.to_vec());
    let offer = AnthropicOffer::to(model);
    let mut body = request::body(
        model,
        offer,
        EarlierThinking::Kept,
        30_000_000,
        &request,
        &[],
    );
    body["model"] = model.into();
    keep_vendor_request("/v1/messages", &BTreeMap::new(), &body);
    body
}

/// Calls of the computer and of the browser in their newest forms, and of the shell, in turn.
fn sent(model: &str, index: usize, by: By, text: &str, n_calls: usize) -> Sent {
    let ids: Vec<String> = (0..n_calls)
        .map(|call| format!("t{index}_{call}"))
        .collect();
    let mut content = vec![json!({"type": "thinking", "thinking": "…", "signature": "s"})];
    if !text.trim().is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for (place, id) in ids.iter().enumerate() {
        let member = |set: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "toolset_name": set, "input": {}});
        content.push(match (index + place) % 4 {
            0 => member("computer", "screenshot"),
            1 => json!({"type": "tool_use", "id": id, "name": "bash", "input": {"command": "ls"}}),
            2 => member("browser", "left_click"),
            _ => member("browser", "new_tab"),
        });
    }
    if content.len() == 1 {
        content.clear();
    }
    let model = if by == By::Sibling {
        "claude-fable-5"
    } else {
        model
    };
    (json!({"model": model, "content": content}), ids)
}

fn blocks(message: &Value) -> &Vec<Value> {
    message["content"].as_array().unwrap()
}

/// What is wrong with the messages.
fn fault(messages: &[Value]) -> Option<String> {
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Some(format!("message {index} is not the {role}'s"));
        }
        if blocks(message).is_empty() {
            return Some(format!("message {index} is empty"));
        }
        let parts = blocks(message).iter().flat_map(|block| {
            let inner = block["content"].as_array().into_iter().flatten();
            std::iter::once(block).chain(inner)
        });
        for part in parts {
            let text = part["text"].as_str();
            if part["type"] == "text" && text.is_none_or(|text| text.trim().is_empty()) {
                return Some(format!("message {index} has text without words"));
            }
        }
        let before = index.checked_sub(1).map(|before| &messages[before]);
        if let Some(fault) = results_fault(before, message) {
            return Some(format!("message {index}: {fault}"));
        }
    }
    None
}

/// What is wrong with the results at the beginning of a message.
fn results_fault(before: Option<&Value>, message: &Value) -> Option<String> {
    let calls = before.into_iter().flat_map(blocks);
    let calls: Vec<&Value> = calls.filter(|block| block["type"] == "tool_use").collect();
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let results: Vec<&Value> = blocks(message).iter().take_while(is_result).collect();
    if blocks(message).iter().filter(is_result).count() != results.len() {
        return Some("a result stands behind something else".to_owned());
    }
    let ids = |blocks: &[&Value], field: &str| -> Vec<Value> {
        blocks.iter().map(|block| block[field].clone()).collect()
    };
    if ids(&calls, "id") != ids(&results, "tool_use_id") {
        return Some("calls and results do not match".to_owned());
    }
    for (call, result) in calls.iter().zip(&results) {
        if call.get("toolset_name") != result.get("toolset_name") {
            return Some("a result is of another set of tools".to_owned());
        }
        let has_picture = blocks(result).iter().any(|part| part["type"] == "image");
        if result["is_error"] == true && has_picture {
            return Some("an error has a picture".to_owned());
        }
        if let Some(fault) = state_fault(call, result) {
            return Some(fault.to_owned());
        }
    }
    None
}

/// What is wrong with the state of the browser in a result.
fn state_fault(call: &Value, result: &Value) -> Option<&'static str> {
    let is_state = |part: &&Value| part["type"] == "browser_state";
    let states: Vec<&Value> = blocks(result).iter().filter(is_state).collect();
    let is_member = call["toolset_name"] == "browser";
    if !states.is_empty() && (!is_member || result["is_error"] == true) {
        return Some("the state of the browser is in another result");
    }
    if is_member && call["name"] == "new_tab" && result["is_error"] != true {
        let is_only = states.len() == 1 && blocks(result).len() == 1;
        let opened = &states.first()?["state_changes"][0]["tab_id"];
        let is_active = states[0]["tabs"]
            .as_array()?
            .iter()
            .any(|tab| tab["active"] == true && tab["tab_id"] == *opened);
        return (!is_only || !is_active).then_some("a new tab is not reported as it must be");
    }
    let is_one = |state: &&Value| {
        let tabs = state["tabs"].as_array().into_iter().flatten();
        tabs.filter(|tab| tab["active"] == true).count() == 1
    };
    let is_good = states.len() <= 1 && states.iter().all(is_one);
    (!is_good).then_some("the state of the browser is not one")
}

fn without_marks(body: &Value) -> Vec<Value> {
    let mut messages = body["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    messages
}

proptest! {
    #[test]
    fn any_conversation_is_taken(steps in steps(), model in proptest::sample::select(&MODELS[..])) {
        let items = items(VENDOR, &steps, |index, by, text, n_calls| sent(model, index, by, text, n_calls));
        let mut before: Vec<Value> = Vec::new();
        let first = body(model, &[testing::prompt("begin")]);
        for beginning in beginnings(&items) {
            let body = body(model, beginning);
            for field in ["tools", "system", "thinking"] {
                prop_assert_eq!(body[field].to_string(), first[field].to_string());
            }
            let messages = body["messages"].as_array().unwrap();
            prop_assert_eq!(fault(messages), None, "{:#}", body["messages"]);
            prop_assert!(body.to_string().matches("cache_control").count() <= 4);
            let messages = without_marks(&body);
            prop_assert!(goes_on(&before, &messages, "content"), "{before:#?}\n{messages:#?}");
            before = messages;
        }
    }
}
