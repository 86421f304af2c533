//! Streams of the shapes that OpenAI sends, in whatever pieces they come.

use deskhand_core::model::{Chunk, End, ModelError, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::stream::Answer;
use crate::testing::{self, calls, error, events, space, tool_calls, whole};

const STREAM: &str = include_str!("../../tests/it/streams/openai.sse");
const PREVIEW: &str = include_str!("../../tests/it/streams/openai_preview.sse");

fn read(body: &str, lengths: &[usize]) -> Vec<Result<Chunk, ModelError>> {
    testing::read(body, lengths, |_| {
        Answer::new(space(), "gpt-6-sol".to_owned())
    })
}

#[test]
fn a_batch_is_read_whole() {
    let chunks = whole(read(STREAM, &[]));
    let click = json!({"action": "click", "button": "left", "count": 1, "at": {"x": 640, "y": 60}});
    assert_eq!(
        calls(&chunks),
        [
            json!(["call_1#0", "computer", click]),
            json!(["call_1#1", "computer", {"action": "type", "text": "fern"}]),
            json!(["call_1#2", "computer", {"action": "key", "keys": "ENTER", "repeat": 1}]),
            json!(["call_2", "bash", {"shell": "run", "command": "ls"}]),
        ]
    );
    let [
        Chunk::ThinkingStart,
        Chunk::Thinking(_),
        Chunk::Thinking(_),
        Chunk::TextStart,
        Chunk::Text(_),
        Chunk::Text(_),
        ..,
        Chunk::Original(original),
        Chunk::Usage(usage),
        Chunk::End(End::Done),
    ] = &chunks[..]
    else {
        panic!("{chunks:?}");
    };
    assert_eq!(original.data["output"][0]["encrypted_content"], "gAAA");
    let told = Usage {
        input: 312,
        cache_write: 0,
        cache_read: 4000,
        output: 77,
    };
    assert_eq!(*usage, told);
}

#[test]
fn the_first_form_has_one_action_and_checks_wait_for_a_person() {
    let chunks = whole(read(PREVIEW, &[]));
    let call = tool_calls(&chunks)[0];
    assert_eq!(call.id, "call_1#0");
    assert_eq!(call.checks[0].prompt, "The page gives orders.");
}

#[test]
fn words_about_what_comes_next_are_not_the_end() {
    let message = |phase| json!({"type": "response.output_item.done", "item": {"type": "message", "phase": phase, "content": []}});
    let completed = json!({"type": "response.completed", "response": {}});
    let end = |phase| {
        let chunks = whole(read(&events(&[message(phase), completed.clone()]), &[]));
        chunks.last().cloned()
    };
    assert_eq!(end("commentary"), Some(Chunk::End(End::Aside)));
    assert_eq!(end("final_answer"), Some(Chunk::End(End::Done)));
}

#[test]
fn answers_that_do_not_come_whole_say_why() {
    let incomplete = |reason: &str| json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}, "usage": {"input_tokens": 5, "output_tokens": 2}}});
    let cut = read(&events(&[incomplete("max_output_tokens")]), &[]);
    assert_eq!(whole(cut).last(), Some(&Chunk::End(End::Unfinished)));
    let held_back = read(&events(&[incomplete("content_filter")]), &[]);
    assert!(matches!(held_back[0], Ok(Chunk::Usage(_))));
    assert!(matches!(error(held_back), ModelError::Refused(_)));
    let failed = |code: &str| {
        let event = json!({"type": "response.failed", "response": {"error": {"code": code, "message": "so"}}});
        error(read(&events(&[event]), &[]))
    };
    assert_eq!(failed("server_error"), ModelError::unavailable("so"));
    assert_eq!(
        failed("invalid_prompt"),
        ModelError::Rejected("so".to_owned())
    );
    let told = error(read(
        &events(&[json!({"type": "error", "code": "slow_down", "message": "so"})]),
        &[],
    ));
    assert_eq!(told, ModelError::unavailable("so"));
    let half = error(read(&STREAM[..STREAM.len() / 2], &[]));
    assert!(matches!(half, ModelError::Unavailable { .. }));
    // A call that was cut off is no call.
    let item = json!({"type": "response.output_item.done", "item": {"type": "function_call", "status": "incomplete", "call_id": "c", "name": "bash", "arguments": "{\"comm"}});
    let cut = whole(read(&events(&[item, incomplete("max_output_tokens")]), &[]));
    assert!(calls(&cut).is_empty());
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in prop::collection::vec(1_usize..200, 1..40)) {
        prop_assert_eq!(read(STREAM, &lengths), read(STREAM, &[]));
    }
}
