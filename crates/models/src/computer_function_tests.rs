use deskhand_agent::tools;
use deskhand_core::{browser::OpenDialog, model::CallResult};

use super::*;
use crate::testing::{self, PAGE, SCREEN};

fn space() -> Space {
    Space::picture(SCREEN, SCREEN).over_page(Some(PAGE))
}

#[test]
fn every_action_is_a_call_of_our_tool() {
    let calls = [
        (
            json!({"type": "click", "x": 10, "y": 20}),
            json!({"action": "click", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "click", "x": 10, "y": 20, "button": "right"}),
            json!({"action": "right_click", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "doubleClick", "x": 0, "y": 0}),
            json!({"action": "double_click", "x": 1, "y": 1}),
        ),
        (
            json!({"type": "type", "text": "fern"}),
            json!({"action": "type", "text": "fern"}),
        ),
        (
            json!({"type": "press", "key": "Control+A"}),
            json!({"action": "press", "keys": "Control+A"}),
        ),
        (
            json!({"type": "navigate", "url": "a.example"}),
            json!({"action": "navigate", "url": "a.example"}),
        ),
        (
            json!({"type": "scroll", "x": 10, "y": 20, "deltaX": 0, "deltaY": 300}),
            json!({"action": "scroll", "x": 21, "y": 41, "dx": 0.0, "dy": 300.0}),
        ),
        (
            json!({"type": "wait", "ms": 500}),
            json!({"action": "pause", "seconds": 0.5}),
        ),
        (
            json!({"type": "move", "x": 10, "y": 20}),
            json!({"action": "hover", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "drag", "startX": 0, "startY": 0, "endX": 10, "endY": 20}),
            json!({"action": "drag", "x": 1, "y": 1, "to_x": 21, "to_y": 41}),
        ),
    ];
    for (action, mut expected) in calls {
        expected["look"] = true.into();
        let read = read(&json!({"action": action}), &space()).unwrap();
        assert_eq!(read, expected);
        tools::all().read("browser", &read).unwrap();
    }
    for (action, told) in [
        (
            json!({"type": "dance"}),
            "there is no action \"dance\"; the actions are click, type",
        ),
        (json!({"type": "click", "x": 1}), "y is missing"),
        (
            json!({"type": "click", "x": 1000, "y": 1}),
            "(1000, 1) is outside the 1000×500 picture",
        ),
        (
            json!({"type": "wait", "ms": 60_000}),
            "ms must be a number from 0 to 30000, not 60000",
        ),
    ] {
        let refused = read(&json!({"action": action}), &space()).unwrap_err();
        assert!(refused.starts_with(told), "{refused}");
    }
}

#[test]
fn every_result_is_a_picture_and_an_address() {
    let seen = CallResult {
        browser: Some(testing::browser_state()),
        ..testing::shown("a", "Clicked the point.")
    };
    assert_eq!(
        result(Some(&seen)),
        r#"{"browser":{"current_url":"https://shop.example/2","screenshot":"cG5n"}}"#
    );
    let mut with_dialog = seen;
    with_dialog.image = None;
    let state = with_dialog.browser.as_mut().unwrap();
    state.dialog = Some(OpenDialog {
        kind: "confirm".to_owned(),
        message: "Sure?".to_owned(),
    });
    let told: Value = serde_json::from_str(&result(Some(&with_dialog))).unwrap();
    assert_eq!(told["browser"]["screenshot"], Value::Null);
    let news = told["browser"]["news"][0].as_str().unwrap();
    assert!(news.contains("a dialog (confirm): \"Sure?\""), "{news}");
    let failed: Value =
        serde_json::from_str(&result(Some(&testing::failed("a", "It broke.")))).unwrap();
    assert_eq!(failed["error"], "It broke.");
    let given_up: Value = serde_json::from_str(&result(None)).unwrap();
    assert_eq!(given_up["error"], retell::NOT_DONE);
}
