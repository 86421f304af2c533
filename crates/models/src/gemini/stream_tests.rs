//! Streams of the shapes that Google sends, in whatever pieces they come.

use deskhand_core::model::{Chunk, End, ModelError, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::GeminiAnswer;
use crate::{
    space::Space,
    surface::Surface,
    testing::{
        self, SCREEN, after_what_was_said, broken_off, calls, error, events, lengths, tool_calls,
        whole, written,
    },
};

const STREAM: &str = include_str!("../../tests/it/streams/gemini.sse");
const FIRST: &str = include_str!("../../tests/it/streams/gemini_first.sse");

fn read(body: &str, lengths: &[usize]) -> Vec<Result<Chunk, ModelError>> {
    testing::read(body, lengths, |_| {
        GeminiAnswer::new(
            Space::thousandths(SCREEN),
            Surface::Screen,
            "gemini-3.6-flash".to_owned(),
        )
    })
}

fn finished(reason: &str, parts: &Value) -> String {
    events(&[json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})])
}

#[test]
fn several_calls_are_read_and_signatures_kept() {
    let chunks = whole(read(STREAM, &[]));
    let click = json!({"action": "click", "button": "left", "count": 1, "at": {"x": 640, "y": 60}});
    assert_eq!(
        calls(&chunks),
        [
            json!(["fc_a#0", "computer", click]),
            json!(["fc_b#0", "computer", {"action": "type", "text": "fern"}]),
            json!(["fc_b#1", "computer", {"action": "key", "keys": "Return", "repeat": 1}]),
            json!(["fc_c", "bash", {"shell": "run", "command": "ls"}]),
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
    let parts = &original.data["parts"];
    assert_eq!(parts[0], json!({"text": "I fill it in."}));
    assert_eq!(parts[1]["thoughtSignature"], "c2lnbmVk");
    let told = Usage {
        input: 312,
        cache_read: 4000,
        output: 77,
        ..Usage::default()
    };
    assert_eq!(*usage, told);
}

#[test]
fn only_the_call_that_needs_it_waits_for_a_person() {
    let chunks = whole(read(FIRST, &[]));
    let calls = tool_calls(&chunks).into_iter();
    let checks: Vec<usize> = calls.map(|call| call.checks.len()).collect();
    // The field is clicked, emptied, typed into and sent; then the page is scrolled.
    assert_eq!(checks, [1, 0, 0, 0, 0, 0]);
}

#[test]
fn signed_parts_without_words_are_kept() {
    let parts = json!([{"text": "Done."}, {"text": "", "thoughtSignature": "s"}, {"text": ""}]);
    let chunks = whole(read(&finished("STOP", &parts), &[]));
    let [.., Chunk::Original(original), Chunk::End(_)] = &chunks[..] else {
        panic!("{chunks:?}");
    };
    let kept = json!([{"text": "Done."}, {"text": "", "thoughtSignature": "s"}]);
    assert_eq!(original.data["parts"], kept);
}

#[test]
fn answers_that_do_not_come_whole_say_why() {
    let words = json!([{"text": "So"}]);
    let cut = whole(read(&finished("MAX_TOKENS", &words), &[]));
    assert_eq!(cut.last(), Some(&Chunk::End(End::Unfinished)));
    let held_back = error(read(&finished("SAFETY", &words), &[]));
    assert!(matches!(held_back, ModelError::Refused(_)));
    let blocked = events(&[json!({"promptFeedback": {"blockReason": "OTHER"}})]);
    assert!(matches!(error(read(&blocked, &[])), ModelError::Refused(_)));
    let failed = |code: u16| {
        let event = json!({"error": {"code": code, "message": "so"}});
        error(read(&events(&[event]), &[]))
    };
    assert_eq!(failed(503), ModelError::unavailable("so"));
    assert_eq!(failed(400), ModelError::Rejected("so".to_owned()));
    let half = error(read(&STREAM[..STREAM.len() / 2], &[]));
    assert!(matches!(half, ModelError::Unavailable { .. }));
}

fn overloaded() -> Value {
    json!({"error": {"code": 503, "message": "so"}})
}

/// With ids, which are made up where there are none.
fn first_with_ids() -> String {
    let call = r#"{"functionCall":{"#;
    let (before, after) = FIRST.split_once(call).unwrap();
    format!(
        "{before}{call}\"id\":\"a\",{}",
        after.replace(call, &format!("{call}\"id\":\"b\","))
    )
}

#[test]
fn an_error_in_the_middle_comes_after_what_was_said() {
    let told = after_what_was_said(read, STREAM, &overloaded());
    assert_eq!(told, ModelError::unavailable("so"));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lengths in lengths(), written in written()) {
        let blocked = json!({"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": {"promptTokenCount": 7}});
        let streams = [
            STREAM.to_owned(),
            first_with_ids(),
            broken_off(STREAM, &overloaded()),
            broken_off(STREAM, &blocked),
            STREAM[..STREAM.len() / 2].to_owned(),
        ];
        for stream in streams {
            prop_assert_eq!(read(&written.put(&stream), &lengths), read(&stream, &[]));
        }
    }
}
