//! What OpenAI's models want done, as calls.

use deskhand_core::action::{Action, Button, Point, ScreenSize};
use serde_json::{Value, json};

use super::calls::{action, press, read};
use crate::{call_ids, space::Space, surface::Surface};

fn read_action(sent: &Value) -> Result<Action, String> {
    let space = Space::picture(ScreenSize::default(), ScreenSize::default());
    action(sent, &space).map_err(|problem| problem.to_string())
}

#[test]
fn every_action_is_understood() {
    let at = Point { x: 5, y: 6 };
    let click = |button, count, modifiers: &[&str]| Action::Click {
        button,
        count,
        at: Some(at),
        modifiers: modifiers.iter().map(|key| (*key).to_owned()).collect(),
    };
    let scroll = |dx, dy| Action::Scroll {
        at: Some(at),
        dx,
        dy,
        modifiers: Vec::new(),
    };
    for (sent, expected) in [
        (json!({"type": "screenshot"}), Action::Screenshot),
        (json!({"type": "wait"}), Action::Wait { ms: 2000 }),
        (
            json!({"type": "click", "button": "left", "x": 5, "y": 6, "keys": ["SHIFT"]}),
            click(Button::Left, 1, &["SHIFT"]),
        ),
        (
            json!({"type": "click", "button": "wheel", "x": 5, "y": 6}),
            click(Button::Middle, 1, &[]),
        ),
        (
            json!({"type": "click", "button": "back", "x": 5, "y": 6}),
            press("alt+Left"),
        ),
        (
            json!({"type": "double_click", "x": 5, "y": 6}),
            click(Button::Left, 2, &[]),
        ),
        (json!({"type": "move", "x": 5, "y": 6}), Action::Move { at }),
        (
            json!({"type": "scroll", "x": 5, "y": 6, "scroll_x": 0, "scroll_y": 250}),
            scroll(0, 3),
        ),
        (
            json!({"type": "scroll", "x": 5, "y": 6, "scroll_x": -10, "scroll_y": 0}),
            scroll(-1, 0),
        ),
        (
            json!({"type": "keypress", "keys": ["CTRL", "L"]}),
            press("CTRL+L"),
        ),
        (
            json!({"type": "keypress", "keys": ["DOWN", "DOWN"]}),
            press("DOWN DOWN"),
        ),
        (
            json!({"type": "type", "text": "hi"}),
            Action::Type {
                text: "hi".to_owned(),
            },
        ),
        (
            json!({"type": "drag", "path": [{"x": 5, "y": 6}, [7, 8], {"x": 5, "y": 6}]}),
            Action::Drag {
                path: vec![at, Point { x: 7, y: 8 }, at],
                modifiers: Vec::new(),
            },
        ),
    ] {
        assert_eq!(read_action(&sent), Ok(expected), "{sent}");
    }
}

#[test]
fn what_makes_no_sense_is_told() {
    let told = |sent| read_action(&sent).unwrap_err();
    assert_eq!(
        told(json!({"type": "drag", "path": [[1, 2]]})),
        "a drag needs at least two points"
    );
    assert_eq!(told(json!({"type": "click", "x": 1})), "y is missing");
    assert_eq!(
        told(json!({"type": "click", "x": 5000, "y": 1})),
        "(5000, 1) is outside the 1024×768 picture"
    );
    assert_eq!(told(json!({"type": "fly"})), "there is no action \"fly\"");
    assert_eq!(
        told(json!({"type": "keypress", "keys": []})),
        "keys is missing"
    );
}

#[test]
fn a_batch_is_several_calls_and_its_checks_come_first() {
    let item = json!({
        "type": "computer_call", "call_id": "call_1",
        "pending_safety_checks": [{"id": "sc_1", "code": "malicious_instructions", "message": "Look at this."}],
        "actions": [{"type": "screenshot"}, {"type": "wait"}],
    });
    let space = Space::picture(ScreenSize::default(), ScreenSize::default());
    let calls = read(&item, &space, Surface::Screen);
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1#0", "call_1#1"]);
    assert_eq!(calls[0].checks[0].prompt, "Look at this.");
    assert!(calls[1].checks.is_empty());
    assert_eq!(call_ids::whole("call_1#1"), "call_1");
}

#[test]
fn a_batch_counts_before_the_one_action_of_old() {
    let space = Space::picture(ScreenSize::default(), ScreenSize::default());
    let inputs = |item: &Value| -> Vec<Value> {
        let calls = read(item, &space, Surface::Screen);
        assert!(calls.iter().all(|call| call.checks.is_empty()));
        calls.into_iter().map(|call| call.input).collect()
    };
    let (look, wait) = (json!({"type": "screenshot"}), json!({"type": "wait"}));
    let looked = json!({"action": "screenshot"});
    let waited = json!({"action": "wait", "ms": 2000});
    let call = |more: Value| {
        let mut item = json!({"type": "computer_call", "call_id": "c"});
        item.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        item
    };
    let both = call(json!({"action": look, "actions": [wait, look]}));
    assert_eq!(inputs(&both), [waited.clone(), looked.clone()]);
    let old = call(json!({"action": look, "actions": []}));
    assert_eq!(inputs(&old), std::slice::from_ref(&looked));
    assert_eq!(inputs(&call(json!({"action": wait}))), [waited]);
    assert_eq!(inputs(&call(json!({"actions": [look]}))), [looked]);
}

#[test]
fn scrolling_is_in_pixels_and_down_and_right_are_positive() {
    for (x, y, dx, dy) in [
        (0, 500, 0, 5),
        (0, -500, 0, -5),
        (300, 0, 3, 0),
        (-300, 0, -3, 0),
        (1, -1, 1, -1),
        (149, 150, 1, 2),
        (10_000, -10_000, 100, -100),
    ] {
        let sent = json!({"type": "scroll", "x": 5, "y": 6, "scroll_x": x, "scroll_y": y, "keys": ["CTRL"]});
        let expected = Action::Scroll {
            at: Some(Point { x: 5, y: 6 }),
            dx,
            dy,
            modifiers: vec!["CTRL".to_owned()],
        };
        assert_eq!(read_action(&sent), Ok(expected), "{sent}");
    }
    let far = json!({"type": "scroll", "x": 5, "y": 6, "scroll_y": 10_100});
    assert!(read_action(&far).is_err());
}

#[test]
fn a_drag_keeps_all_its_points_in_their_order() {
    let places = [(10, 20), (300, 20), (300, 200), (10, 200), (11, 21)];
    let path: Vec<Value> = places
        .iter()
        .map(|(x, y)| json!({"x": x, "y": y}))
        .collect();
    let Ok(Action::Drag { path, modifiers }) =
        read_action(&json!({"type": "drag", "path": path, "keys": ["SHIFT"]}))
    else {
        panic!("no drag");
    };
    let passed: Vec<(i32, i32)> = path.iter().map(|at| (at.x, at.y)).collect();
    assert_eq!(passed, places);
    assert_eq!(modifiers, ["SHIFT"]);
}
