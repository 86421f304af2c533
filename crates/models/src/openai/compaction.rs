//! Summaries that OpenAI writes of long conversations.

use deskhand_core::{model::REFUSED_BECAUSE, tool::ASK_USER};
use serde_json::{Value, json};

use super::request::said;

/// The length of a conversation, in tokens, from which OpenAI summarizes it. Prompts that are a third longer cost more.
const SUMMARIZE_FROM_TOKENS: u32 = 200_000;
/// The most bytes that are told of the arguments of a call that people refused.
const MOST_ARGUMENT_BYTES: usize = 400;

/// Returns the rules by which OpenAI summarizes.
pub(super) fn rules() -> Value {
    json!([{"type": "compaction", "compact_threshold": SUMMARIZE_FROM_TOKENS}])
}

/// Drops everything before the newest summary, except the messages and answers of people, and their words about calls that
/// they refused.
pub(super) fn newest(mut input: Vec<Value>) -> Vec<Value> {
    let newest = input.iter().rposition(|item| item["type"] == "compaction");
    let rest = input.split_off(newest.unwrap_or(0));
    let answers = |item: &Value| answer(item, &input);
    let mut kept: Vec<Value> = input
        .iter()
        .filter_map(|item| words(item).or_else(|| answers(item)))
        .collect();
    kept.extend(rest);
    kept
}

/// Returns a message of people without its pictures.
fn words(item: &Value) -> Option<Value> {
    let parts = item["content"]
        .as_array()
        .filter(|_| item["role"] == "user")?;
    let texts = parts.iter().filter(|part| part["type"] == "input_text");
    let texts: Vec<&Value> = texts.collect();
    let mut item = item.clone();
    item["content"] = json!(texts);
    (!texts.is_empty()).then_some(item)
}

/// Returns the answer to a question to people, or their words about a call that they refused.
fn answer(item: &Value, input: &[Value]) -> Option<Value> {
    if item["type"] != "function_call_output" {
        return None;
    }
    let mut calls = input.iter().filter(|call| call["type"] == "function_call");
    let call = calls.find(|call| call["call_id"] == item["call_id"])?;
    let output = item["output"].as_str().unwrap_or_default();
    let name = call["name"].as_str().unwrap_or_default();
    let arguments = call["arguments"].as_str().unwrap_or_default();
    let told = if name == ASK_USER {
        format!("[You asked with {arguments}. The answer: {output}]")
    } else if output.starts_with(REFUSED_BECAUSE) {
        let end = arguments.floor_char_boundary(MOST_ARGUMENT_BYTES);
        format!("[You called {name} with {}. {output}]", &arguments[..end])
    } else {
        return None;
    };
    Some(said("user", &told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_before_the_newest_summary_is_sent_again_but_the_words_of_people() {
        let picture = json!({"type": "input_image", "image_url": "data:…"});
        let summary = |id: &str| json!({"type": "compaction", "id": id, "encrypted_content": "x"});
        let ask = json!({"type": "function_call", "call_id": "a", "name": "ask_user", "arguments": "{\"question\":\"Which?\"}"});
        let refusal = format!("{REFUSED_BECAUSE} Use the branch review.");
        let input = vec![
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}, picture]}),
            json!({"type": "reasoning", "id": "r"}),
            ask,
            json!({"type": "function_call_output", "call_id": "a", "output": "The second."}),
            json!({"type": "function_call", "call_id": "n", "name": "bash", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "n", "output": refusal}),
            summary("1"),
            json!({"type": "function_call", "call_id": "b", "name": "bash", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "b", "output": "long"}),
            summary("2"),
            json!({"type": "computer_call", "call_id": "c"}),
        ];
        assert_eq!(
            newest(input.clone()),
            [
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}]}),
                said(
                    "user",
                    "[You asked with {\"question\":\"Which?\"}. The answer: The second.]"
                ),
                said("user", &format!("[You called bash with {{}}. {refusal}]")),
                summary("2"),
                json!({"type": "computer_call", "call_id": "c"}),
            ]
        );
        let without = input[..4].to_vec();
        assert_eq!(
            newest(without.clone()),
            without,
            "without a summary, all of it is sent"
        );
    }
}
