//! What Gemini's models say, as calls.

use deskhand_core::{action::ScreenSize, model::ToolCall};
use serde_json::{Value, json};

use super::calls::read;
use crate::space::Space;

fn read_call(name: &str, args: &Value) -> Vec<ToolCall> {
    let screen = ScreenSize {
        width: 1440,
        height: 900,
    };
    read(
        "c1",
        &json!({"name": name, "args": args}),
        &Space::thousandths(screen),
    )
}

fn inputs(name: &str, args: &Value) -> Vec<Value> {
    let calls = read_call(name, args);
    assert!(calls.iter().all(|call| call.problem.is_none()), "{calls:?}");
    calls.into_iter().map(|call| call.input).collect()
}

#[test]
fn both_sets_of_actions_are_understood() {
    let click =
        json!({"action": "click", "button": "left", "count": 1, "at": {"x": 720, "y": 450}});
    assert_eq!(
        inputs("click", &json!({"x": 500, "y": 500, "intent": "…"})),
        std::slice::from_ref(&click)
    );
    assert_eq!(inputs("click_at", &json!({"x": 500, "y": 500})), [click]);
    let drag = json!({"action": "drag", "path": [{"x": 0, "y": 0}, {"x": 1439, "y": 899}]});
    assert_eq!(
        inputs(
            "drag_and_drop",
            &json!({"start_x": 0, "start_y": 0, "end_x": 999, "end_y": 999})
        ),
        std::slice::from_ref(&drag)
    );
    assert_eq!(
        inputs(
            "drag_and_drop",
            &json!({"x": 0, "y": 0, "destination_x": 999, "destination_y": 999})
        ),
        [drag]
    );
    let typed = inputs("type_text_at", &json!({"x": 1, "y": 1, "text": "hi"}));
    let actions: Vec<&Value> = typed.iter().map(|input| &input["action"]).collect();
    assert_eq!(actions, ["click", "key", "key", "type", "key"]);
    assert_eq!(inputs("type", &json!({"text": "hi"})).len(), 1);
    assert_eq!(
        inputs("type", &json!({"text": "hi", "press_enter": true})).len(),
        2
    );
    assert_eq!(
        inputs("key_combination", &json!({"keys": "Control+A"}))[0]["keys"],
        "Control+A"
    );
    assert_eq!(
        inputs("hotkey", &json!({"keys": ["ctrl", "c"]}))[0]["keys"],
        "ctrl+c"
    );
    assert_eq!(
        inputs(
            "scroll",
            &json!({"x": 1, "y": 1, "direction": "down", "magnitude_in_pixels": 420})
        )[0]["dy"],
        4
    );
    assert_eq!(
        inputs("scroll_at", &json!({"x": 1, "y": 1, "direction": "up"}))[0]["dy"],
        -7
    );
    assert_eq!(
        inputs("navigate", &json!({"url": "https://example.org"})).len(),
        3
    );
    assert_eq!(inputs("wait", &json!({"seconds": 2}))[0]["ms"], 2000);
    assert_eq!(
        inputs("bash", &json!({"command": "ls"})),
        [json!({"shell": "run", "command": "ls"})]
    );
}

#[test]
fn what_needs_a_person_is_asked_once() {
    let decision = json!({"decision": "require_confirmation", "explanation": "It buys something."});
    let calls = read_call(
        "type",
        &json!({"text": "x", "press_enter": true, "safety_decision": decision}),
    );
    assert_eq!(calls[0].checks[0].prompt, "It buys something.");
    assert!(calls[1].checks.is_empty());
}

#[test]
fn what_makes_no_sense_is_told() {
    let told = |name, args: &Value| read_call(name, args)[0].problem.clone().unwrap();
    assert_eq!(
        told("click", &json!({"x": 1001, "y": 1})),
        "(1001, 1) is outside the 1000×1000 picture"
    );
    assert_eq!(
        told("open_app", &json!({"app_name": "x"})),
        "open_app is not possible on this computer"
    );
    assert_eq!(
        told("scroll", &json!({"x": 1, "y": 1, "direction": "in"})),
        "direction is up, down, left or right, not \"in\""
    );
}
