//! Streams of the shapes that Anthropic sends, in whatever pieces they come.

use deskhand_core::model::{Chunk, End, ModelError, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{generation::ToolVersion, stream::AnthropicAnswer};
use crate::testing::{
    self, after_what_was_said, broken_off, calls, error, events, lengths, space, whole, written,
};

const BATCH: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":12,"cache_creation_input_tokens":300,"cache_read_input_tokens":4000,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"The shop is open. "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Grüße, 谢谢 🌿"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I order "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"now."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_A","name":"left_click","toolset_name":"computer","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"coordinate\": [640, 60]}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_B","name":"bash","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"comm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"and\": \"ls\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":77}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn read(body: &str, lengths: &[usize]) -> Vec<Result<Chunk, ModelError>> {
    testing::read(body, lengths, |said| {
        let tools = ToolVersion::Toolset20260801;
        AnthropicAnswer::new(space(), "claude-opus-5".to_owned(), tools, said)
    })
}

#[test]
fn a_batch_is_read_whole() {
    let chunks = whole(read(BATCH, &[]));
    let thinking: Vec<_> = chunks
        .iter()
        .filter(|chunk| matches!(chunk, Chunk::Thinking(_)))
        .collect();
    assert_eq!(thinking.len(), 2);
    let click = json!({"action": "click", "button": "left", "count": 1, "at": {"x": 640, "y": 60}});
    let list = json!({"shell": "run", "command": "ls"});
    assert_eq!(
        calls(&chunks),
        [
            json!(["toolu_A", "computer", click]),
            json!(["toolu_B", "bash", list])
        ]
    );
    let [
        ..,
        Chunk::Original(original),
        Chunk::Usage(usage),
        Chunk::End(End::Done),
    ] = &chunks[..]
    else {
        panic!("{chunks:?}");
    };
    let usage_told = Usage {
        input: 12,
        cache_write: 300,
        cache_read: 4000,
        output: 77,
        ..Usage::default()
    };
    assert_eq!(*usage, usage_told);
    let content = original.data["content"].as_array().unwrap();
    assert_eq!(
        content[0],
        json!({"type": "thinking", "thinking": "The shop is open. Grüße, 谢谢 🌿", "signature": "c2ln"})
    );
    assert_eq!(
        content[1],
        json!({"type": "redacted_thinking", "data": "b3BhcXVl"})
    );
    assert_eq!(content[3]["toolset_name"], "computer");
    assert_eq!(content[4]["input"], json!({"command": "ls"}));
}

#[test]
fn a_call_that_was_cut_off_is_dropped_and_told() {
    let cut = cut_call();
    let chunks = whole(read(&cut, &[]));
    assert_eq!(calls(&chunks).len(), 1);
    assert_eq!(chunks.last(), Some(&Chunk::End(End::Unfinished)));
    let [
        ..,
        Chunk::Original(original),
        Chunk::Usage(_),
        Chunk::End(_),
    ] = &chunks[..]
    else {
        panic!("{chunks:?}");
    };
    let original = original.data.to_string();
    assert!(original.contains("toolu_A") && !original.contains("toolu_B"));
}

/// An answer that became too long in the middle of its second call.
fn cut_call() -> String {
    let tool_use = r#""stop_reason":"tool_use""#;
    let max_tokens = r#""stop_reason":"max_tokens""#;
    BATCH
        .replace(r#"and\": \"ls\"}"#, r#"and\": \"l"#)
        .replace(tool_use, max_tokens)
}

fn refusal() -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "no"}}, "usage": {"output_tokens": 4}})
}

fn overloaded() -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
}

#[test]
fn errors_in_the_middle_are_told_apart() {
    let broken = |kind: &str| {
        let event = json!({"type": "error", "error": {"type": kind, "message": "so"}});
        error(read(&events(&[event]), &[]))
    };
    assert_eq!(broken("overloaded_error"), ModelError::unavailable("so"));
    assert_eq!(
        broken("invalid_request_error"),
        ModelError::Rejected("so".to_owned())
    );
    let half = &BATCH[..BATCH.len() / 2];
    assert!(matches!(
        error(read(half, &[])),
        ModelError::Unavailable { .. }
    ));
}

#[test]
fn a_refusal_is_told_with_what_it_took() {
    let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}});
    let read = read(&events(&[start, refusal()]), &[]);
    let usage = |output| {
        Chunk::Usage(Usage {
            input: 9,
            output,
            ..Usage::default()
        })
    };
    let refused = ModelError::Refused("the model refused to go on: no".to_owned());
    assert_eq!(read, [Ok(usage(1)), Ok(usage(4)), Err(refused)]);
}

#[test]
fn an_answer_that_is_nothing_but_thinking_is_not_sent_back() {
    let body = events(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "so"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
        json!({"type": "message_stop"}),
    ]);
    let chunks = whole(read(&body, &[]));
    let expected = [
        Chunk::ThinkingStart,
        Chunk::Thinking("so".to_owned()),
        Chunk::End(End::Unfinished),
    ];
    assert_eq!(chunks, expected);
}

#[test]
fn a_summary_of_the_conversation_is_kept() {
    let body = events(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": null}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "All so far."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]);
    let chunks = whole(read(&body, &[]));
    let [Chunk::Original(original), Chunk::End(End::Done)] = &chunks[..] else {
        panic!("{chunks:?}");
    };
    assert_eq!(
        original.data["content"],
        json!([{"type": "compaction", "content": "All so far."}])
    );
}

#[test]
fn an_error_in_the_middle_comes_after_what_was_said() {
    assert_eq!(
        after_what_was_said(read, BATCH, &overloaded()),
        ModelError::unavailable("Overloaded")
    );
    let refused = after_what_was_said(read, BATCH, &refusal());
    assert!(matches!(refused, ModelError::Refused(_)), "{refused}");
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in lengths(), written in written()) {
        let streams = [
            BATCH.to_owned(),
            cut_call(),
            broken_off(BATCH, &overloaded()),
            broken_off(BATCH, &refusal()),
            BATCH[..BATCH.len() / 2].to_owned(),
        ];
        for stream in streams {
            prop_assert_eq!(read(&written.put(&stream), &lengths), read(&stream, &[]));
        }
    }
}
