//! What models put into the computer, the shell and the editor.

use deskhand_agent::tools;
use deskhand_core::{action::ScreenSize, edit::EditCommand};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    space::Space,
    tool_input::{read, read_action},
};

/// A screen of which models see a picture half as wide and half as high.
fn space() -> Space {
    let size = |width, height| ScreenSize { width, height };
    Space::picture(size(2560, 1600), size(1280, 800))
}

fn action(name: &str, input: &Value) -> Result<Value, String> {
    let read = read_action(name, input, &space());
    if let Ok(input) = &read {
        tools::all().read("computer", input).unwrap();
    }
    read
}

#[test]
fn every_action_is_read_in_native_pixels() {
    let click = |button: &str, count: u8| json!({"action": "click", "button": button, "count": count, "at": {"x": 201, "y": 101}});
    let at = json!({"coordinate": [100, 50]});
    for (name, input, expected) in [
        ("screenshot", json!({}), json!({"action": "screenshot"})),
        ("left_click", at.clone(), click("left", 1)),
        ("right_click", at.clone(), click("right", 1)),
        ("middle_click", at.clone(), click("middle", 1)),
        ("double_click", at.clone(), click("left", 2)),
        ("triple_click", at.clone(), click("left", 3)),
        (
            "left_click",
            json!({}),
            json!({"action": "click", "button": "left", "count": 1}),
        ),
        (
            "mouse_move",
            at,
            json!({"action": "move", "at": {"x": 201, "y": 101}}),
        ),
        (
            "left_mouse_down",
            json!({}),
            json!({"action": "mouse_down", "button": "left"}),
        ),
        (
            "left_mouse_up",
            json!({}),
            json!({"action": "mouse_up", "button": "left"}),
        ),
        (
            "cursor_position",
            json!({}),
            json!({"action": "cursor_position"}),
        ),
        (
            "scroll",
            json!({"coordinate": [0, 0], "scroll_direction": "left", "scroll_amount": 3}),
            json!({"action": "scroll", "at": {"x": 1, "y": 1}, "dx": -3, "dy": 0}),
        ),
        (
            "key",
            json!({"text": "ctrl+s", "repeat": 3}),
            json!({"action": "key", "keys": "ctrl+s", "repeat": 3}),
        ),
        (
            "hold_key",
            json!({"text": "shift", "duration": 0.5}),
            json!({"action": "hold_key", "keys": "shift", "ms": 500}),
        ),
        (
            "wait",
            json!({"duration": 300}),
            json!({"action": "wait", "ms": 300_000}),
        ),
        (
            "zoom",
            json!({"region": [0, 0, 640, 800]}),
            json!({"action": "zoom", "region": {"x0": 0, "y0": 0, "x1": 1280, "y1": 1600}}),
        ),
    ] {
        assert_eq!(action(name, &input), Ok(expected), "{name}");
    }
}

#[test]
fn a_drag_begins_where_it_is_told_or_at_the_pointer() {
    let end = json!({"x": 21, "y": 41});
    let from_pointer = action("left_click_drag", &json!({"coordinate": [10, 20]}));
    assert_eq!(from_pointer, Ok(json!({"action": "drag", "path": [end]})));
    let told = json!({"start_coordinate": [0, 0], "coordinate": [10, 20], "text": "shift"});
    let start = json!({"x": 1, "y": 1});
    assert_eq!(
        action("left_click_drag", &told),
        Ok(json!({"action": "drag", "path": [start, end], "modifiers": ["shift"]}))
    );
}

#[test]
fn what_models_write_otherwise_is_understood() {
    for input in [
        json!({"coordinate": "[10, 20]", "text": "ctrl+shift"}),
        json!({"coordinate": [10.4, 19.6], "key": "ctrl+shift"}),
        json!({"coordinate": ["10", "20"], "text": "ctrl + shift", "extra": 1}),
    ] {
        let click = action("left_click", &input).unwrap();
        assert_eq!(click["at"], json!({"x": 21, "y": 41}), "{input}");
        assert_eq!(click["modifiers"], json!(["ctrl", "shift"]), "{input}");
    }
}

#[test]
fn what_makes_no_sense_is_told_and_nothing_is_moved_to_the_edge() {
    for (name, input, told) in [
        (
            "left_click",
            json!({"coordinate": [1280, 0]}),
            "(1280, 0) is outside the 1280×800 picture",
        ),
        (
            "left_click",
            json!({"coordinate": [-1, 0]}),
            "(-1, 0) is outside the 1280×800 picture",
        ),
        (
            "left_click",
            json!({"coordinate": [1]}),
            "coordinate must be two numbers, [x, y], not [1]",
        ),
        ("mouse_move", json!({}), "coordinate is missing"),
        ("type", json!({}), "text is missing"),
        (
            "wait",
            json!({"duration": 301}),
            "duration must be a number from 0 to 300, not 301",
        ),
        (
            "key",
            json!({"text": "a", "repeat": 101}),
            "repeat must be a number from 1 to 100, not 101",
        ),
        (
            "scroll",
            json!({"scroll_direction": "in", "scroll_amount": 1}),
            "scroll_direction must be up, down, left or right, not \"in\"",
        ),
        ("fly", json!({}), "there is no action \"fly\""),
    ] {
        assert_eq!(action(name, &input), Err(told.to_owned()), "{name}");
    }
}

#[test]
fn the_shell_and_every_version_of_the_editor_are_understood() {
    let call = |name: &str, input: &Value| {
        let (tool, read) = read(name, input, &space());
        let input = read.unwrap();
        tools::all().read(&tool, &input).unwrap();
        (tool, input)
    };
    let (_, restart) = call("bash", &json!({"restart": true}));
    assert_eq!(restart, json!({"shell": "restart"}));
    let insert = json!({"command": "insert", "path": "/a", "insert_line": 0, "insert_text": "x"});
    for given in [
        insert.clone(),
        json!({"command": "insert", "path": "/a", "insert_line": 0, "insert_text": "x", "new_str": "y"}),
    ] {
        let (tool, input) = call("str_replace_based_edit_tool", &given);
        assert_eq!((tool.as_str(), input), ("editor", insert.clone()));
    }
    let old = json!({"command": "insert", "path": "/a", "insert_line": 0, "new_str": "x"});
    let read_old = call("str_replace_editor", &old).1;
    let edit = |input: &Value| EditCommand::deserialize(input).unwrap();
    assert_eq!(edit(&read_old), edit(&insert));
    let undo = json!({"command": "undo_edit", "path": "/a"});
    assert_eq!(call("str_replace_editor", &undo).1, undo);
    let view =
        json!({"command": "view", "path": "/a", "view_range": "[1, -1]", "max_characters": 9});
    assert_eq!(
        call("str_replace_based_edit_tool", &view).1["view_range"],
        json!([1, -1])
    );
    let (_, nothing) = read("bash", &json!({}), &space());
    assert_eq!(nothing, Err("command is missing".to_owned()));
}

#[test]
fn after_a_zoom_places_are_still_those_of_the_whole_picture() {
    let size = |width, height| ScreenSize { width, height };
    let space = Space::picture(size(3840, 2160), size(2000, 1125));
    let act = |name, input: Value| read_action(name, &input, &space).unwrap();
    let zoom = act("zoom", json!({"region": [500, 250, 1000, 500]}));
    let region = json!({"x0": 960, "y0": 480, "x1": 1920, "y1": 960});
    assert_eq!(zoom, json!({"action": "zoom", "region": region}));
    let click = act("left_click", json!({"coordinate": [750, 375]}));
    // The middle of what was zoomed into.
    assert_eq!(click["at"], json!({"x": 1440, "y": 720}));
    let whole = act("zoom", json!({"region": [0, 0, 2000, 1125]}));
    let region = json!({"x0": 0, "y0": 0, "x1": 3840, "y1": 2160});
    assert_eq!(whole["region"], region);
}
