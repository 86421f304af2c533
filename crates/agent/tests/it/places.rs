//! Places and pictures, as models see them that do not see the screen as it is.

use deskhand_core::{
    action::Point,
    event::EventBody,
    model::{CallResult, Item},
    sandbox::{Acted, SessionReply},
};
use serde_json::json;

use crate::{
    fakes::{FakeSandbox, Reaction},
    stage::{Stage, calls, prompt, says, screenshot},
};

/// The next turn of the same session, of a model whose pictures are so much smaller than the screen.
async fn next_turn(before: &Stage, scale: u16) -> Stage {
    let mut stage = Stage::new(vec![says("Done.")]);
    *stage.model.scale.lock().unwrap() = scale;
    stage.blobs = before.blobs.clone();
    stage.history.extend(before.log.bodies());
    stage.history.push(prompt("and now?"));
    stage.run().await;
    stage
}

fn results(stage: &Stage) -> Vec<CallResult> {
    let items = stage.shown().into_iter();
    let results = items.filter_map(|item| match item {
        Item::Results(results) => Some(results),
        Item::Prompt { .. }
        | Item::Steering { .. }
        | Item::Files(_)
        | Item::Note { .. }
        | Item::HandedBack { .. }
        | Item::CutOff { .. }
        | Item::Answer { .. } => None,
    });
    results.flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn each_model_is_told_places_as_it_counts_them() {
    let place = Point { x: 400, y: 300 };
    let pointed = Acted {
        pointer: Some(place),
        ..Acted::default()
    };
    let dragged = Acted {
        dragged_from: Some(place),
        pointer: Some(Point { x: 0, y: 0 }),
        frame: None,
    };
    let acted = [pointed.clone(), dragged, Acted::default(), pointed];
    let answers = acted.map(|acted| Reaction::Answer(Ok(SessionReply::Act(acted))));
    let computer = FakeSandbox::new(answers.into());
    let action = |action| ("computer", json!({ "action": action }));
    let drag = (
        "computer",
        json!({"action": "drag", "path": [{"x": 0, "y": 0}]}),
    );
    let region = json!({"x0": 40, "y0": 40, "x1": 1024, "y1": 768});
    let zoom = ("computer", json!({"action": "zoom", "region": region}));
    let answer = vec![action("click"), drag, zoom, action("cursor_position")];
    let stage = Stage::with_computers(vec![calls(answer), says("Done.")], vec![computer]);
    *stage.model.scale.lock().unwrap() = 2;
    stage.run().await;

    let told = |stage: &Stage| -> Vec<String> {
        let texts = results(stage).into_iter().map(|result| result.text);
        texts.collect()
    };
    assert_eq!(
        told(&stage),
        [
            "Clicked at (200, 150).",
            "Dragged from (200, 150) to (0, 0).",
            "Zoomed into (20, 20) to (512, 384).",
            "X=200, Y=150"
        ]
    );
    // People and the next model see the same log.
    assert!(stage.story().contains("Clicked at (400, 300)."));
    let next = next_turn(&stage, 4).await;
    assert_eq!(told(&next)[0], "Clicked at (100, 75).");
}

#[tokio::test(start_paused = true)]
async fn logs_of_earlier_versions_are_told_as_they_are() {
    let click = (
        "computer",
        json!({"action": "click", "at": {"x": 400, "y": 300}}),
    );
    let stage = Stage::new(vec![calls(vec![click]), says("Done.")]);
    stage.run().await;
    let mut later = Stage::new(vec![says("Done.")]);
    *later.model.scale.lock().unwrap() = 2;
    for mut body in stage.log.bodies() {
        if let EventBody::ToolResult(result) = &mut body {
            assert!(!result.parts.is_empty());
            result.parts.clear();
        }
        later.history.push(body);
    }
    later.history.push(prompt("and now?"));
    later.run().await;
    let text = &results(&later)[0].text;
    assert!(text.starts_with("Clicked at (400, 300)."), "{text}");
}

#[tokio::test(start_paused = true)]
async fn pictures_of_another_size_are_not_shown() {
    let region = json!({"x0": 0, "y0": 0, "x1": 100, "y1": 75});
    let zoom = ("computer", json!({"action": "zoom", "region": region}));
    let stage = Stage::new(vec![calls(vec![screenshot(), zoom]), says("Done.")]);
    *stage.model.scale.lock().unwrap() = 2;
    stage.run().await;
    let are_shown = |stage: &Stage| -> Vec<bool> {
        let results = results(stage).into_iter();
        results.map(|result| result.image.is_some()).collect()
    };
    assert_eq!(are_shown(&stage), [true, true]);
    // A part of the screen is as good in any size that is not too big.
    for (scale, expected) in [(1, [false, true]), (2, [true, true]), (3, [false, false])] {
        let next = next_turn(&stage, scale).await;
        assert_eq!(are_shown(&next), expected, "{scale}");
    }
}
