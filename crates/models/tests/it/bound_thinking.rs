//! Thinking that the vendor has bound to another beginning of the conversation.

use deskhand_core::model::{CallResult, Item, ModelError, ToolCall};
use serde_json::{Value, json};

use crate::{fixtures::prompt, server::Reply, wire::Wire};

const MODEL: &str = "anthropic/claude-opus-5-5";
const TOOLSET: &str = include_str!("streams/anthropic_toolset.sse");

fn refusal() -> Reply {
    Reply::refusal(
        400,
        &json!({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "messages.1.content.0: The block is bound to a different conversation.",
        }}),
    )
}

fn done(_index: usize, call: &ToolCall) -> CallResult {
    CallResult {
        call: call.id.clone(),
        text: "Done.".to_owned(),
        is_error: false,
        image: None,
        browser: None,
    }
}

/// The blocks of all answers in a request, by their types.
fn answers(body: &Value) -> Vec<Vec<String>> {
    let messages = body["messages"].as_array().unwrap().iter();
    let answers = messages.filter(|message| message["role"] == "assistant");
    let kinds = |message: &Value| {
        let blocks = message["content"].as_array().unwrap().iter();
        let kinds = blocks.map(|block| block["type"].as_str().unwrap().to_owned());
        kinds.collect()
    };
    answers.map(kinds).collect()
}

fn has_thinking(kinds: &[String]) -> bool {
    kinds.iter().any(|kind| kind == "thinking")
}

/// Asks for an answer, and adds it and its results to the conversation.
async fn go_on(wire: &Wire, items: &mut Vec<Item>) {
    let heard = wire.heard(MODEL, items).await;
    items.push(heard.item());
    items.push(heard.results(done));
}

#[tokio::test]
async fn a_request_is_repeated_once_without_thinking_that_is_bound_elsewhere() {
    let replies = [
        Reply::stream(TOOLSET),
        refusal(),
        Reply::stream(TOOLSET),
        Reply::stream(TOOLSET),
    ];
    let wire = Wire::answering(replies).await;
    let mut items = vec![prompt("go")];
    go_on(&wire, &mut items).await;
    // The vendor refuses this one.
    go_on(&wire, &mut items).await;
    let asked = wire.asked();
    assert_eq!(asked.len(), 3);
    let before = answers(&asked[1].body);
    assert!(has_thinking(&before[0]), "{before:?}");
    let repeated = answers(&asked[2].body);
    assert!(!has_thinking(&repeated[0]), "{repeated:?}");
    let is_thinking = |kind: &&String| *kind == "thinking";
    let said: Vec<&String> = before[0].iter().filter(|kind| !is_thinking(kind)).collect();
    assert_eq!(repeated[0].iter().collect::<Vec<_>>(), said);
    for field in ["system", "tools", "max_tokens", "thinking"] {
        assert_eq!(asked[1].body[field], asked[2].body[field], "{field}");
    }

    // From then on only thinking that follows the conversation as it was sent goes back: nothing is refused again.
    wire.heard(MODEL, &items).await;
    let asked = wire.asked();
    assert_eq!(asked.len(), 4);
    let next = answers(&asked[3].body);
    let with_thinking: Vec<bool> = next.iter().map(|kinds| has_thinking(kinds)).collect();
    assert_eq!(with_thinking, [false, true]);
}

#[tokio::test]
async fn a_second_refusal_is_told_and_other_refusals_are_not_repeated() {
    let wire = Wire::answering([Reply::stream(TOOLSET), refusal()]).await;
    let mut items = vec![prompt("go")];
    go_on(&wire, &mut items).await;
    let error = wire.error(MODEL, &items).await;
    assert!(matches!(error, ModelError::Rejected(_)), "{error:?}");
    assert_eq!(wire.asked().len(), 3);

    let other = json!({"error": {"message": "messages: something else"}});
    let wire = Wire::answering([Reply::refusal(400, &other)]).await;
    wire.error(MODEL, &[prompt("go")]).await;
    assert_eq!(wire.asked().len(), 1);
}
