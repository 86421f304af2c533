//! Streams of the shapes that chat completions have, in whatever pieces they come.

use deskhand_core::model::{Chunk, End, ModelError, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::ChatAnswer;
use crate::{
    surface::Surface,
    testing::{
        self, after_what_was_said, broken_off, calls, error, events, lengths, space, whole, written,
    },
};

const STREAM: &str = include_str!("../../tests/it/streams/chat.sse");

fn read(body: &str, lengths: &[usize]) -> Vec<Result<Chunk, ModelError>> {
    testing::read(body, lengths, |_| {
        ChatAnswer::new(space(), Surface::Screen, "qwen3-vl".to_owned())
    })
}

fn piece(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({"choices": [{"delta": delta, "finish_reason": finish_reason}]})
}

#[test]
fn several_calls_are_put_together() {
    let chunks = whole(read(STREAM, &[]));
    let click = json!({"action": "click", "button": "left", "count": 1, "at": {"x": 640, "y": 60}});
    assert_eq!(
        calls(&chunks),
        [
            json!(["call_a", "computer", click]),
            json!(["call_b", "computer", {"action": "type", "text": "fern"}]),
            json!(["call_c", "bash", {"shell": "run", "command": "ls"}]),
        ]
    );
    let [.., Chunk::Usage(usage), Chunk::End(End::Done)] = &chunks[..] else {
        panic!("{chunks:?}");
    };
    let told = Usage {
        input: 312,
        cache_read: 4000,
        output: 77,
        ..Usage::default()
    };
    assert_eq!(*usage, told);
}

#[test]
fn calls_without_ids_and_places_are_calls() {
    let call =
        |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
    let delta = json!({"tool_calls": [call("bash", "{\"command\": \"ls\"}"), call("computer", "{\"action\": \"scre")]});
    let chunks = whole(read(&events(&[piece(&delta, Some("tool_calls"))]), &[]));
    let [
        Chunk::Call(first),
        Chunk::Call(second),
        Chunk::Original(original),
        ..,
    ] = &chunks[..]
    else {
        panic!("{chunks:?}");
    };
    assert!(first.id != second.id && first.problem.is_none());
    let problem = second.problem.as_deref().unwrap();
    assert!(
        problem.starts_with("the arguments are not valid JSON"),
        "{problem}"
    );
    let sent = &original.data["message"]["tool_calls"];
    assert_eq!(sent[0]["id"], json!(first.id));
    assert_eq!(sent[1]["function"]["arguments"], "{}");
}

#[test]
fn answers_that_do_not_come_whole_say_why() {
    let words = piece(&json!({"content": "So"}), None);
    let end = |reason: &str| events(&[words.clone(), piece(&json!({}), Some(reason))]);
    let cut = whole(read(&end("length"), &[]));
    assert_eq!(cut.last(), Some(&Chunk::End(End::Unfinished)));
    let held_back = error(read(&end("content_filter"), &[]));
    assert!(matches!(held_back, ModelError::Refused(_)));
    let half = error(read(&events(&[words]), &[]));
    assert!(matches!(half, ModelError::Unavailable { .. }));
    let failed = |told: Value| error(read(&events(&[json!({"error": told})]), &[]));
    assert_eq!(failed(json!("so")), ModelError::unavailable("so"));
    assert_eq!(
        failed(json!({"code": 400, "message": "so"})),
        ModelError::Rejected("so".to_owned())
    );
}

#[test]
fn an_error_in_the_middle_comes_after_what_was_said() {
    let told = after_what_was_said(read, STREAM, &json!({"error": "so"}));
    assert_eq!(told, ModelError::unavailable("so"));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in lengths(), written in written()) {
        let streams = [
            STREAM.to_owned(),
            broken_off(STREAM, &json!({"error": {"code": 502, "message": "so"}})),
            broken_off(STREAM, &piece(&json!({}), Some("content_filter"))),
            broken_off(STREAM, &piece(&json!({}), Some("length"))),
            STREAM[..STREAM.len() / 2].to_owned(),
        ];
        for stream in streams {
            prop_assert_eq!(read(&written.put(&stream), &lengths), read(&stream, &[]));
        }
    }
}
