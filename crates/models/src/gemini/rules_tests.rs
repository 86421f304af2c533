//! What Google wants of every request, whatever happened in the conversation.

use std::collections::BTreeMap;

use deskhand_core::model::{CallResult, Item};
use deskhand_testkit::keep_vendor_request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{VENDOR, offer::MOST, request};
use crate::{
    conversations::{By, Sent, beginnings, goes_on, items, steps},
    testing,
};

const MODELS: [&str; 2] = [
    "gemini-3.6-flash",
    "gemini-2.5-computer-use-preview-10-2025",
];

fn contents(model: &str, items: &[Item]) -> Vec<Value> {
    let body = request::body(model, MOST, &testing::request(items.to_vec()));
    keep_vendor_request(":streamGenerateContent", &BTreeMap::new(), &body);
    body["contents"].as_array().unwrap().clone()
}

/// Calls of which every other one is to be agreed to.
fn sent(model: &str, index: usize, by: By, text: &str, n_calls: usize) -> Sent {
    let ids: Vec<String> = (0..n_calls)
        .map(|call| format!("c{index}_{call}"))
        .collect();
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(json!({"text": text}));
    }
    for (place, id) in ids.iter().enumerate() {
        let args = if (index + place).is_multiple_of(3) {
            json!({"safety_decision": {"decision": "require_confirmation"}})
        } else {
            json!({})
        };
        parts.push(json!({
            "functionCall": {"id": id, "name": format!("f{place}"), "args": args},
            "thoughtSignature": "c2ln",
        }));
    }
    let model = if by == By::Sibling {
        "gemini-3.5-flash"
    } else {
        model
    };
    (json!({"model": model, "parts": parts, "calls": ids}), ids)
}

fn named<'a>(content: &'a Value, kind: &str) -> Vec<&'a Value> {
    let parts = content["parts"].as_array().unwrap().iter();
    parts
        .map(|part| &part[kind])
        .filter(|part| part.is_object())
        .collect()
}

/// What is wrong with a request's contents.
fn fault(contents: &[Value], items: &[Item]) -> Option<String> {
    if contents[0]["role"] != "user" {
        return Some("it does not begin with the user".to_owned());
    }
    let nothing = json!({"parts": []});
    for (index, content) in contents.iter().enumerate() {
        let parts = content["parts"].as_array().unwrap();
        let is_blank = |part: &Value| {
            part["text"]
                .as_str()
                .is_some_and(|text| text.trim().is_empty())
        };
        if parts.is_empty() || parts.iter().any(is_blank) {
            return Some(format!("content {index} says nothing"));
        }
        let before = index
            .checked_sub(1)
            .map_or(&nothing, |before| &contents[before]);
        let (calls, responses) = (
            named(before, "functionCall"),
            named(content, "functionResponse"),
        );
        if !responses.is_empty() && responses.len() != parts.len() {
            return Some(format!("content {index} mixes responses with others"));
        }
        let names = |parts: &[&Value]| -> Vec<Value> {
            parts.iter().map(|part| part["name"].clone()).collect()
        };
        if names(&calls) != names(&responses) {
            return Some(format!(
                "content {index} does not answer the calls before it"
            ));
        }
        for (call, response) in calls.iter().zip(&responses) {
            let is_asked = call["args"]["safety_decision"].is_object();
            let is_agreed = response["response"]["safety_acknowledgement"] == "true";
            if is_asked != is_agreed || (is_asked && !went_through(&call["id"], items)) {
                return Some(format!(
                    "content {index}: what was agreed to is not what was asked"
                ));
            }
        }
    }
    let last = contents.last().unwrap();
    (!named(last, "functionCall").is_empty()).then(|| "calls are not answered".to_owned())
}

/// Whether the log says that a call was carried out.
fn went_through(id: &Value, items: &[Item]) -> bool {
    let is_it = |result: &CallResult| *id == *result.call && !result.is_error;
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
            let contents = contents(model, beginning);
            prop_assert_eq!(fault(&contents, beginning), None, "{:#?}", contents);
            prop_assert!(goes_on(&before, &contents, "parts"), "{before:#?}\n{contents:#?}");
            before = contents;
        }
    }
}
