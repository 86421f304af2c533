//! Looking again while the screen is not yet as expected.

use deskhand_core::model::{CallResult, Item};
use insta::assert_snapshot;
use serde_json::json;

use crate::fixtures::{Answer, Folder, picture, prompt, result, with_image};

const WAITS: &str = r##"
steps:
  - calls: [{bash: {command: start}}]
  - expect: {text_contains: started, colour: "#1f7a4d"}
    retry: {times: 2, wait_ms: 250}
    text: There it is.
    calls: [{computer: {action: click, at: {find: "#1f7a4d"}}}]
  - text: "{{ last_result }}"
"##;

fn white() -> CallResult {
    with_image(picture(8, 8, &[]))
}

fn green() -> CallResult {
    with_image(picture(8, 8, &[([0x1f, 0x7a, 0x4d], [2, 2, 3, 3])]))
}

fn inputs(answer: &Answer) -> Vec<serde_json::Value> {
    answer.calls.iter().map(|call| call.input.clone()).collect()
}

/// The conversation after the first step and this many looks that showed nothing.
async fn after_looks(folder: &Folder, n_looks: usize) -> Vec<Item> {
    let mut items = vec![prompt("go")];
    let first = folder.answer(&items).await.unwrap();
    items.extend([
        first.item(),
        Item::Results(vec![result("started"), white()]),
    ]);
    for _ in 0..n_looks {
        let look = folder.answer(&items).await.unwrap();
        assert_eq!(
            inputs(&look),
            [
                json!({"action": "wait", "ms": 250}),
                json!({"action": "screenshot"})
            ]
        );
        items.extend([look.item(), Item::Results(vec![result("Waited."), white()])]);
    }
    items
}

#[tokio::test(start_paused = true)]
async fn the_step_is_played_when_the_screen_is_as_expected_at_last() {
    let folder = Folder::with(WAITS);
    let mut items = after_looks(&folder, 1).await;
    let look = folder.answer(&items).await.unwrap();
    items.extend([look.item(), Item::Results(vec![result("Waited."), green()])]);

    let click = folder.answer(&items).await.unwrap();
    assert_eq!(click.text, "There it is.");
    assert_eq!(
        inputs(&click),
        [json!({"action": "click", "at": {"x": 3, "y": 3}})]
    );

    items.extend([click.item(), Item::Results(vec![result("Clicked.")])]);
    assert_eq!(folder.answer(&items).await.unwrap().text, "Clicked.");
}

#[tokio::test(start_paused = true)]
async fn every_call_of_a_turn_has_its_own_id() {
    let folder = Folder::with(WAITS);
    let items = after_looks(&folder, 2).await;
    let ids: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            Item::Answer { calls, .. } => Some(calls),
            Item::Prompt { .. }
            | Item::Steering { .. }
            | Item::Files(_)
            | Item::Note { .. }
            | Item::HandedBack { .. }
            | Item::Results(_)
            | Item::CutOff { .. } => None,
        })
        .flatten()
        .map(|call| &*call.id)
        .collect();
    assert_eq!(
        ids,
        [
            "turn1-step1-call1",
            "look1-turn1-step2-call1",
            "look1-turn1-step2-call2",
            "look2-turn1-step2-call1",
            "look2-turn1-step2-call2",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn looking_ends_after_as_many_times_as_written() {
    let folder = Folder::with(WAITS);
    let items = after_looks(&folder, 2).await;
    assert_snapshot!(folder.rejection(&items).await, @"test.yaml did not go as written: step 2 of turn 1 expected the colour #1f7a4d in 1 or more pixels, and was shown a picture of 8×8 with it in 0");
}

#[tokio::test(start_paused = true)]
async fn what_looking_cannot_mend_is_refused_at_once() {
    let folder = Folder::with(WAITS);
    let mut items = vec![prompt("go")];
    let first = folder.answer(&items).await.unwrap();
    items.extend([
        first.item(),
        Item::Results(vec![result("not there"), white()]),
    ]);
    assert_snapshot!(folder.rejection(&items).await, @r#"test.yaml did not go as written: step 2 of turn 1 expected a result that contains "started", and was shown "not there\nTook a picture.""#);
}
