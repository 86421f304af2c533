//! Streams of the shapes that OpenAI sends, in whatever pieces they come.

use deskhand_core::model::{Chunk, End, ModelError, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::OpenAiAnswer;
use crate::{
    surface::Surface,
    testing::{
        self, after_what_was_said, broken_off, calls, error, events, lengths, space, tool_calls,
        whole, written,
    },
};

const STREAM: &str = include_str!("../../tests/it/streams/openai.sse");
const PREVIEW: &str = include_str!("../../tests/it/streams/openai_preview.sse");

fn read(body: &str, lengths: &[usize]) -> Vec<Result<Chunk, ModelError>> {
    testing::read(body, lengths, |_| {
        OpenAiAnswer::new(space(), Surface::Screen, "gpt-6-sol".to_owned())
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
        cache_read: 4000,
        output: 77,
        ..Usage::default()
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

fn overloaded() -> Value {
    json!({"type": "error", "code": "overloaded", "message": "so"})
}

#[test]
fn an_error_in_the_middle_comes_after_what_was_said() {
    for stream in [STREAM, PREVIEW] {
        let told = after_what_was_said(read, stream, &overloaded());
        assert_eq!(told, ModelError::unavailable("so"));
    }
}

#[test]
fn a_refusal_is_said_in_words() {
    let part =
        json!({"type": "response.content_part.added", "part": {"type": "refusal", "refusal": ""}});
    let delta = json!({"type": "response.refusal.delta", "delta": "I do not."});
    let item = json!({"type": "response.output_item.done", "item": {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I do not."}]}});
    let completed = json!({"type": "response.completed", "response": {}});
    let chunks = whole(read(&events(&[part, delta, item, completed]), &[]));
    assert_eq!(
        chunks[..2],
        [Chunk::TextStart, Chunk::Text("I do not.".to_owned())]
    );
    assert_eq!(chunks.last(), Some(&Chunk::End(End::Done)));
}

#[test]
fn nothing_but_reasoning_is_an_empty_answer_unless_it_became_too_long() {
    let item = json!({"type": "response.output_item.done", "item": {"type": "reasoning", "id": "rs_1", "summary": []}});
    let end = |last: &Value| whole(read(&events(&[item.clone(), last.clone()]), &[])).pop();
    let completed = json!({"type": "response.completed", "response": {}});
    assert_eq!(end(&completed), Some(Chunk::End(End::Done)));
    let incomplete = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}});
    assert_eq!(end(&incomplete), Some(Chunk::End(End::Unfinished)));
    // Words that were cut off are no less cut off for being about what comes next.
    let aside = json!({"type": "response.output_item.done", "item": {"type": "message", "phase": "commentary", "content": []}});
    let cut = whole(read(&events(&[aside, incomplete]), &[])).pop();
    assert_eq!(cut, Some(Chunk::End(End::Unfinished)));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in lengths(), written in written()) {
        let filtered = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}});
        let streams = [
            STREAM.to_owned(),
            PREVIEW.to_owned(),
            broken_off(STREAM, &overloaded()),
            broken_off(STREAM, &filtered),
            STREAM[..STREAM.len() / 2].to_owned(),
        ];
        for stream in streams {
            prop_assert_eq!(read(&written.put(&stream), &lengths), read(&stream, &[]));
        }
    }
}
