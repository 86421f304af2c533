//! Requests as OpenAI takes them.

use deskhand_core::model::Item;
use serde_json::{Value, json};

use super::{VENDOR, offer::OpenAiOffer, request};
use crate::{
    surface::Surface,
    testing::{self, answer, prompt},
};

const MODEL: &str = "gpt-6.1-terra";

fn input(items: Vec<Item>) -> Value {
    let offer = OpenAiOffer::to(MODEL);
    request::body(MODEL, offer, Surface::Screen, &testing::request(items))["input"].clone()
}

#[test]
fn everything_before_a_summary_is_left_out() {
    let summary = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "x"});
    let said = |id: &str| json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": []});
    let output = |items: Value| json!({"model": MODEL, "output": items});
    let items = vec![
        prompt("first"),
        answer(VENDOR, &output(json!([said("msg_1")]))),
        prompt("second"),
        answer(VENDOR, &output(json!([summary, said("msg_2")]))),
        prompt("third"),
    ];
    let input = input(items);
    let told: Vec<&str> = input
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            item["id"]
                .as_str()
                .or(item["content"][0]["text"].as_str())
                .unwrap()
        })
        .collect();
    assert_eq!(told, ["cmp_1", "msg_2", "third"]);
}
