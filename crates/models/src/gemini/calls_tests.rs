//! What Gemini's models say, as calls.

use deskhand_core::{action::ScreenSize, model::ToolCall};
use serde_json::{Value, json};

use super::calls::read;
use crate::{space::Space, surface::Surface};

fn read_call(name: &str, args: &Value) -> Vec<ToolCall> {
    let screen = ScreenSize {
        width: 1440,
        height: 900,
    };
    read(
        "c1",
        &json!({"name": name, "args": args}),
        &Space::thousandths(screen),
        Surface::Screen,
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
        "direction must be up, down, left or right, not \"in\""
    );
}

/// Functions with what they take and what they do.
type Table = Vec<(&'static str, Value, Vec<Value>)>;

/// The middle of the screen, and what else a function takes.
fn middle(more: &Value) -> Value {
    let mut args = json!({"x": 500, "y": 500});
    let more = more.as_object().unwrap().clone();
    args.as_object_mut().unwrap().extend(more);
    args
}

fn clicked(button: &str, count: u8) -> Value {
    json!({"action": "click", "button": button, "count": count, "at": {"x": 720, "y": 450}})
}

fn pressed(keys: &str) -> Value {
    json!({"action": "key", "keys": keys, "repeat": 1})
}

fn typed(text: &str) -> Value {
    json!({"action": "type", "text": text})
}

fn with_the_mouse() -> Table {
    let there = middle(&json!({}));
    let moved = json!({"action": "move", "at": {"x": 720, "y": 450}});
    let button = |action: &str| json!({"action": action, "button": "left"});
    vec![
        ("double_click", there.clone(), vec![clicked("left", 2)]),
        ("triple_click", there.clone(), vec![clicked("left", 3)]),
        ("middle_click", there.clone(), vec![clicked("middle", 1)]),
        ("right_click", there.clone(), vec![clicked("right", 1)]),
        ("move", there.clone(), vec![moved.clone()]),
        ("hover_at", there.clone(), vec![moved.clone()]),
        (
            "mouse_down",
            there.clone(),
            vec![moved.clone(), button("mouse_down")],
        ),
        ("mouse_up", there, vec![moved, button("mouse_up")]),
    ]
}

/// In pixels, in thousandths of the screen, and when nothing is said.
fn scrolling() -> Table {
    let scrolled = |dx: i32, dy: i32| {
        vec![json!({"action": "scroll", "at": {"x": 720, "y": 450}, "dx": dx, "dy": dy})]
    };
    let pixels = middle(&json!({"direction": "left", "magnitude_in_pixels": 200}));
    let thousandths = middle(&json!({"direction": "right", "magnitude": 500}));
    let whole = middle(&json!({"direction": "up", "magnitude": 1000}));
    vec![
        ("scroll", pixels, scrolled(-2, 0)),
        (
            "scroll",
            middle(&json!({"direction": "down"})),
            scrolled(0, 3),
        ),
        ("scroll", thousandths, scrolled(7, 0)),
        ("scroll_at", whole, scrolled(0, -9)),
        (
            "scroll_document",
            json!({"direction": "down"}),
            vec![json!({"action": "scroll", "dx": 0, "dy": 7})],
        ),
    ]
}

fn the_rest() -> Table {
    let none = || json!({});
    let looked = || vec![json!({"action": "screenshot"})];
    let waited = |ms: u32| vec![json!({"action": "wait", "ms": ms})];
    let search = ["ctrl+l", "https://www.google.com", "Return"];
    let plainly = json!({"text": "hi", "press_enter": false, "clear_before_typing": false});
    vec![
        ("press_key", json!({"key": "Enter"}), vec![pressed("Enter")]),
        ("wait", none(), waited(1000)),
        ("wait_5_seconds", none(), waited(5000)),
        ("take_screenshot", none(), looked()),
        ("open_web_browser", none(), looked()),
        (
            "search",
            none(),
            vec![pressed(search[0]), typed(search[1]), pressed(search[2])],
        ),
        ("go_back", none(), vec![pressed("alt+Left")]),
        ("go_forward", none(), vec![pressed("alt+Right")]),
        (
            "type_text_at",
            middle(&plainly),
            vec![clicked("left", 1), typed("hi")],
        ),
    ]
}

#[test]
fn every_function_of_both_sets_does_something() {
    for (name, args, expected) in [with_the_mouse(), scrolling(), the_rest()].concat() {
        assert_eq!(inputs(name, &args), expected, "{name}");
    }
}

#[test]
fn the_last_place_is_on_every_screen() {
    for (width, height) in [(1, 1), (640, 480), (1440, 900), (3840, 2160)] {
        let space = Space::thousandths(ScreenSize { width, height });
        let call = json!({"name": "click", "args": {"x": 999, "y": 999}});
        let at = read("c", &call, &space, Surface::Screen)[0].input["at"].clone();
        let last = |edge: u16| i64::from(edge) - 1;
        assert!(
            at["x"].as_i64().unwrap() <= last(width) && at["y"].as_i64().unwrap() <= last(height)
        );
    }
}
