//! Requests as chat completions take them.

use deskhand_core::model::Item;
use serde_json::{Value, json};

use super::{
    PointUnit, VENDOR, offer,
    request::{self, ChatForm},
};
use crate::{
    surface::Surface,
    testing::{self, failed, prompt, shown},
};

pub(super) const FORM: ChatForm = ChatForm {
    offer: offer::MOST,
    surface: Surface::Screen,
    unit: PointUnit::Pixels,
};

fn messages(model: &str) -> Value {
    let message = json!({
        "role": "assistant",
        "content": "",
        "reasoning_content": "so",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
            {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
        ],
    });
    let items = vec![
        prompt("go"),
        testing::answer(VENDOR, &json!({"model": "qwen3-vl", "message": message})),
        // In another order than they were asked for, and one is missing.
        Item::Results(vec![failed("c", "It broke."), shown("a", "Done.")]),
    ];
    request::body(model, FORM, &testing::request(items))["messages"].clone()
}

#[test]
fn reasoning_goes_back_only_to_the_model_that_thought_it() {
    assert_eq!(messages("qwen3-vl")[2]["reasoning_content"], "so");
    assert_eq!(messages("llama")[2].get("reasoning_content"), None);
    assert_eq!(messages("llama")[2]["tool_calls"][0]["id"], "a");
}

#[test]
fn results_stand_in_the_order_of_the_calls_and_pictures_after_them() {
    let messages = messages("qwen3-vl");
    let told: Vec<(&str, &str)> = messages.as_array().unwrap()[3..6]
        .iter()
        .map(|message| {
            let text = |field: &str| message[field].as_str().unwrap();
            (text("tool_call_id"), text("content"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", "Done."),
            ("b", "Not executed: the turn was interrupted."),
            ("c", "It broke."),
        ]
    );
    let pictures = messages[6]["content"].as_array().unwrap();
    let kinds: Vec<&Value> = pictures.iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["text", "image_url", "image_url"]);
}
