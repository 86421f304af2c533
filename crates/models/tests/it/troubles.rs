//! What vendors answer besides answers, and what becomes of it.

use std::time::Duration;

use deskhand_core::model::{Chunk, End, Item, ModelError, Models, Usage};
use deskhand_testkit::Asked;
use serde_json::{Value, json};

use crate::{
    fixtures::prompt,
    server::Reply,
    wire::{KEY, Wire},
};

const TOOLSET: &str = include_str!("streams/anthropic_toolset.sse");
const OPENAI: &str = include_str!("streams/openai.sse");
const GEMINI: &str = include_str!("streams/gemini.sse");
const CHAT: &str = include_str!("streams/chat.sse");

/// A model of each vendor, with what it answers.
const MODELS: [(&str, &str); 4] = [
    ("anthropic/claude-opus-5", TOOLSET),
    ("openai/gpt-6-sol", OPENAI),
    ("gemini/gemini-3.6-flash", GEMINI),
    ("openrouter/qwen3-vl", CHAT),
];

fn ask() -> Vec<Item> {
    vec![prompt("Order a fern.")]
}

fn error(message: &str) -> Value {
    json!({"error": {"type": "some_error", "message": message}})
}

fn tool(asked: &Asked) -> &str {
    let kind = asked.body["tools"][0]["type"].as_str();
    kind.unwrap_or("function")
}

fn events(data: &[Value]) -> String {
    let events = data.iter().map(|data| format!("data: {data}\n\n"));
    events.collect()
}

#[tokio::test]
async fn a_form_of_the_computer_that_is_refused_is_not_tried_again() {
    let told = error("claude-opus-5-5 does not support tool types: computer_toolset_20260801");
    let wire = Wire::answering([Reply::refusal(400, &told), Reply::stream(TOOLSET)]).await;
    for _ in 0..2 {
        let heard = wire.heard("anthropic/claude-opus-5-5", &ask()).await;
        assert_eq!(heard.calls.len(), 4);
    }
    wire.heard("anthropic/claude-sonnet-5-5", &ask()).await;
    let asked = wire.asked();
    let tools: Vec<&str> = asked.iter().map(tool).collect();
    assert_eq!(
        tools,
        [
            "computer_toolset_20260801",
            "computer_20251124",
            "computer_20251124",
            "computer_toolset_20260801"
        ]
    );
    let betas: Vec<Option<&str>> = asked
        .iter()
        .map(|asked| asked.headers.get("anthropic-beta").map(String::as_str))
        .collect();
    assert_eq!(
        betas[..2],
        [
            Some("context-management-2025-06-27,compact-2026-01-12"),
            Some("computer-use-2025-11-24,context-management-2025-06-27,compact-2026-01-12"),
        ]
    );
}

#[tokio::test]
async fn a_vendor_that_refuses_to_summarize_leaves_it_to_us() {
    let told = error("context_management: Extra inputs are not permitted");
    let wire = Wire::answering([Reply::refusal(400, &told), Reply::stream(TOOLSET)]).await;
    let window = || {
        let model = wire.models().model("anthropic/claude-opus-5-5").unwrap();
        model.window()
    };
    assert!(window().vendor_summarizes);
    wire.heard("anthropic/claude-opus-5-5", &ask()).await;
    assert!(!window().vendor_summarizes && window().tokens.is_some());
}

#[tokio::test]
async fn the_ladder_ends_with_a_function_and_the_refusal_is_told() {
    let wire = Wire::answering([Reply::refusal(400, &error("tools.0: no such tool type"))]).await;
    let told = wire.error("anthropic/claude-opus-5", &ask()).await;
    let expected = "anthropic/claude-opus-5: tools.0: no such tool type";
    assert_eq!(told, ModelError::Rejected(expected.to_owned()));
    assert_eq!(wire.asked().len(), 5);
}

#[tokio::test]
async fn words_that_openai_does_not_know_are_left_out() {
    let detail = json!({"error": {"message": "Unknown parameter: 'input[4].output.detail'.", "param": "input[4].output.detail"}});
    let summary = json!({"error": {"message": "Your organization must be verified to generate reasoning summaries.", "param": "reasoning.summary"}});
    let replies = [
        Reply::refusal(400, &detail),
        Reply::refusal(400, &summary),
        Reply::stream(OPENAI),
    ];
    let wire = Wire::answering(replies).await;
    for _ in 0..2 {
        wire.heard("openai/gpt-6-sol", &ask()).await;
    }
    let asked = wire.asked();
    let summaries: Vec<bool> = asked
        .iter()
        .map(|asked| asked.body["reasoning"].is_object())
        .collect();
    assert_eq!(summaries, [true, true, false, false]);
}

#[tokio::test]
async fn what_may_work_later_is_told_from_what_will_not() {
    for (model, _) in MODELS {
        for status in [408, 429, 500, 502, 503, 529] {
            let reply = Reply::refusal(status, &error("later")).header("retry-after", "7.5");
            let told = Wire::answering([reply]).await.error(model, &ask()).await;
            let expected = ModelError::Unavailable {
                message: format!("{model}: later"),
                retry_after: Some(Duration::from_millis(7500)),
            };
            assert_eq!(told, expected, "{status}");
        }
        for status in [400, 403, 404, 413, 422] {
            let wire = Wire::answering([Reply::refusal(status, &error("never"))]).await;
            let told = wire.error(model, &ask()).await;
            let question = if status == 404 {
                " (is the model's name right?)"
            } else {
                ""
            };
            let expected = ModelError::Rejected(format!("{model}: never{question}"));
            assert_eq!(told, expected, "{status}");
            assert_eq!(wire.asked().len(), 1);
        }
    }
}

#[tokio::test]
async fn keys_are_in_no_message_even_if_a_vendor_repeats_them() {
    for (model, stream) in MODELS {
        let told = error(&format!("{KEY} is wrong: use another than {KEY}"));
        let wire = Wire::answering([Reply::refusal(401, &told)]).await;
        let told = wire.error(model, &ask()).await.to_string();
        assert_eq!(
            told,
            format!("{model}: *** is wrong: use another than *** (is the key right?)")
        );
        let broken = json!({"type": "error", "error": {"type": "api_error", "code": 500, "message": format!("what is {KEY}?")}});
        let wire = Wire::answering([Reply::stream(&events(&[broken]))]).await;
        let told = wire.error(model, &ask()).await.to_string();
        assert_eq!(told, format!("{model}: what is ***?"));
        let page = Reply::stream(&format!("{stream}<html>{KEY}")).broken_at(20);
        let told = Wire::answering([page]).await.error(model, &ask()).await;
        assert!(!told.to_string().contains(KEY), "{told}");
    }
}

#[tokio::test]
async fn streams_that_break_anywhere_may_be_asked_for_again() {
    for (model, stream) in MODELS {
        for part in 0..8 {
            let at = stream.len() * part / 8;
            let wire = Wire::answering([Reply::stream(stream).broken_at(at)]).await;
            let told = wire.error(model, &ask()).await;
            assert!(
                matches!(told, ModelError::Unavailable { .. }),
                "{model} {at}: {told}"
            );
        }
    }
}

#[tokio::test]
async fn nobody_there_is_told_without_the_address() {
    let gone = Wire::answering([Reply::stream("")]).await;
    let address = gone.address().to_owned();
    drop(gone);
    let wire = Wire::with([Reply::stream("")], &[("ANTHROPIC_BASE_URL", &address)]).await;
    let told = wire.error("anthropic/claude-opus-5", &ask()).await;
    let ModelError::Unavailable { message, .. } = told else {
        panic!("{told:?}");
    };
    assert!(message.contains("it could not be reached"), "{message}");
    assert!(!message.contains("127.0.0.1"), "{message}");
}

#[tokio::test]
async fn a_pause_goes_on_at_once_and_counts_once() {
    let said = |text: &str, stop: &str| {
        events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ])
    };
    let replies = [said("I look.", "pause_turn"), said("Done.", "end_turn")];
    let wire = Wire::answering(replies.iter().map(|reply| Reply::stream(reply))).await;
    let answer = wire.ask("anthropic/claude-opus-5", &ask()).await;
    let answer: Vec<Chunk> = answer.into_iter().map(Result::unwrap).collect();
    let [
        ..,
        Chunk::Original(original),
        Chunk::Usage(usage),
        Chunk::End(End::Done),
    ] = &answer[..]
    else {
        panic!("{answer:?}");
    };
    let texts = json!([{"type": "text", "text": "I look."}, {"type": "text", "text": "Done."}]);
    assert_eq!(original.data["content"], texts);
    let both = Usage {
        input: 20,
        output: 10,
        longest_prompt: Some(10),
        ..Usage::default()
    };
    assert_eq!(*usage, both);
    let second = &wire.asked()[1].body["messages"][1];
    assert_eq!(second["role"], "assistant");
    assert_eq!(second["content"][0]["text"], "I look.");
}

#[tokio::test]
async fn an_empty_answer_is_one_and_nothing_of_it_is_sent_back() {
    let empty = events(&[
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 2}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]);
    let wire = Wire::answering([Reply::stream(&empty), Reply::stream(TOOLSET)]).await;
    let heard = wire.heard("anthropic/claude-opus-5", &ask()).await;
    let items = [ask(), vec![heard.item(), prompt("go on")]].concat();
    wire.heard("anthropic/claude-opus-5", &items).await;
    let messages = &wire.asked()[1].body["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 1);
    assert_eq!(messages[0]["content"][1]["text"], "go on");
}

#[tokio::test]
async fn a_call_that_google_could_not_write_is_asked_for_again() {
    let garbled = events(&[
        json!({"candidates": [{"content": {"role": "model"}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}),
    ]);
    let wire = Wire::answering([Reply::stream(&garbled), Reply::stream(GEMINI)]).await;
    let heard = wire.heard("gemini/gemini-3.6-flash", &ask()).await;
    assert_eq!(heard.text, "I fill it in.");
    let wire = Wire::answering([Reply::stream(&garbled)]).await;
    let told = wire.error("gemini/gemini-3.6-flash", &ask()).await;
    assert!(matches!(told, ModelError::Unavailable { .. }), "{told}");
    let told = json!({"error": {"code": 429, "message": "later", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}});
    let wire = Wire::answering([Reply::refusal(429, &told)]).await;
    let ModelError::Unavailable { retry_after, .. } =
        wire.error("gemini/gemini-3.6-flash", &ask()).await
    else {
        panic!("it is not transient");
    };
    assert_eq!(retry_after, Some(Duration::from_secs(34)));
}
