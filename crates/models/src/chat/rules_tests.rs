//! What chat completions want of every request, whatever happened in the conversation.

use std::collections::BTreeMap;

use deskhand_core::model::Item;
use deskhand_testkit::keep_vendor_request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{VENDOR, request, request_tests::FORM};
use crate::{
    conversations::{By, Sent, beginnings, items, steps},
    testing,
};

const MODEL: &str = "qwen3-vl";

fn messages(items: &[Item]) -> Vec<Value> {
    let body = request::body(MODEL, FORM, &testing::request(items.to_vec()));
    keep_vendor_request("/chat/completions", &BTreeMap::new(), &body);
    body["messages"].as_array().unwrap().clone()
}

fn sent(index: usize, by: By, text: &str, n_calls: usize) -> Sent {
    let ids: Vec<String> = (0..n_calls)
        .map(|call| format!("c{index}_{call}"))
        .collect();
    let mut message = json!({"role": "assistant", "content": text, "reasoning_content": "so"});
    let calls = ids.iter().map(
        |id| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}}),
    );
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let model = if by == By::Sibling { "llama" } else { MODEL };
    (json!({"model": model, "message": message}), ids)
}

/// What is wrong with a request's messages.
fn fault(messages: &[Value]) -> Option<String> {
    let mut open: Vec<Value> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            if open.is_empty() || open.remove(0) != message["tool_call_id"] {
                return Some(format!("message {index} answers no call"));
            }
        } else if !open.is_empty() {
            return Some(format!("message {index} stands before the results"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.map(|call| call["id"].clone()));
    }
    (!open.is_empty()).then(|| "calls are not answered".to_owned())
}

proptest! {
    #[test]
    fn any_conversation_is_taken(steps in steps()) {
        let items = items(VENDOR, &steps, sent);
        let mut before: Vec<Value> = Vec::new();
        for beginning in beginnings(&items) {
            let messages = messages(beginning);
            prop_assert_eq!(fault(&messages), None, "{:#?}", messages);
            prop_assert!(messages.starts_with(&before));
            before = messages;
        }
    }
}
