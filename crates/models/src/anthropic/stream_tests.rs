//! Streams of the shapes that Anthropic sends, in whatever pieces they come.

use std::io;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    model::{Chunk, End, ModelError, Usage},
};
use futures::{FutureExt, TryStreamExt, stream};
use proptest::prelude::*;
use serde_json::json;

use super::{generation::ToolVersion, stream::Answer};
use crate::{space::Space, sse, talk};

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

/// What is read of a stream that comes in pieces of these lengths.
fn read(body: &str, lengths: &[usize]) -> Result<Vec<Chunk>, ModelError> {
    let mut pieces = Vec::new();
    let mut rest = Bytes::from(body.to_owned());
    let mut lengths = lengths.iter().cycle();
    while !rest.is_empty() {
        let length = lengths
            .next()
            .map_or(rest.len(), |length| (*length).clamp(1, rest.len()));
        pieces.push(Ok::<_, io::Error>(rest.split_to(length)));
    }
    let screen = ScreenSize {
        width: 1280,
        height: 800,
    };
    let space = Space::picture(screen, screen);
    let body = std::sync::Mutex::new(Some(stream::iter(pieces)));
    let chunks = talk::chunks(move |said| {
        let pieces = body
            .lock()
            .unwrap()
            .take()
            .unwrap_or_else(|| stream::iter(Vec::new()));
        let answer = Answer::new(space, ToolVersion::Toolset20260801, said);
        async move { Ok((sse::events(pieces), answer)) }.boxed()
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(chunks.try_collect())
}

fn event(data: &serde_json::Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

#[test]
fn a_batch_is_read_whole() {
    let chunks = read(BATCH, &[]).unwrap();
    let thinking: Vec<_> = chunks
        .iter()
        .filter(|chunk| matches!(chunk, Chunk::Thinking(_)))
        .collect();
    assert_eq!(thinking.len(), 2);
    let calls: Vec<_> = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::Call(call) => Some((call.id.as_str(), call.tool.as_str(), call.input.clone())),
            _ => None,
        })
        .collect();
    let click = json!({"action": "click", "button": "left", "count": 1, "at": {"x": 640, "y": 60}});
    let list = json!({"shell": "run", "command": "ls"});
    assert_eq!(
        calls,
        [("toolu_A", "computer", click), ("toolu_B", "bash", list)]
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
    let cut = BATCH
        .replace(
            r#"{\"type\":\"input_json_delta\",\"partial_json\":\"and"#,
            "",
        )
        .replace("and\\\": \\\"ls\\\"}", "and\\\": \\\"l")
        .replace(
            r#""stop_reason":"tool_use""#,
            r#""stop_reason":"max_tokens""#,
        );
    let chunks = read(&cut, &[]).unwrap();
    assert_eq!(
        chunks
            .iter()
            .filter(|chunk| matches!(chunk, Chunk::Call(_)))
            .count(),
        1
    );
    assert_eq!(chunks.last(), Some(&Chunk::End(End::Unfinished)));
}

#[test]
fn errors_in_the_middle_are_told_apart() {
    let error =
        |kind: &str| event(&json!({"type": "error", "error": {"type": kind, "message": "so"}}));
    let overloaded = read(&error("overloaded_error"), &[]);
    assert_eq!(overloaded, Err(ModelError::unavailable("so")));
    let wrong = read(&error("invalid_request_error"), &[]);
    assert_eq!(wrong, Err(ModelError::Rejected("so".to_owned())));
    let refusal = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "no"}}});
    let refused = read(&event(&refusal), &[]);
    assert_eq!(
        refused,
        Err(ModelError::Refused(
            "the model refused to go on: no".to_owned()
        ))
    );
    let half = &BATCH[..BATCH.len() / 2];
    assert!(matches!(
        read(half, &[]),
        Err(ModelError::Unavailable { .. })
    ));
}

#[test]
fn an_empty_answer_is_an_end_without_an_original() {
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}});
    let chunks = read(
        &format!(
            "{}{}",
            event(&stop),
            event(&json!({"type": "message_stop"}))
        ),
        &[],
    )
    .unwrap();
    assert!(
        matches!(chunks[..], [Chunk::Usage(_), Chunk::End(End::Done)]),
        "{chunks:?}"
    );
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in prop::collection::vec(1_usize..200, 1..40)) {
        prop_assert_eq!(read(BATCH, &lengths), read(BATCH, &[]));
    }
}
