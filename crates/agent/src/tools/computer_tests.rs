use super::*;

fn action(input: &Value) -> Action {
    read_as(NAME, input).unwrap()
}

#[test]
fn people_read_actions_as_what_was_done() {
    let points = json!([{"x": 1, "y": 1}, {"x": 2, "y": 2}, {"x": 9, "y": 9}]);
    let region = json!({"x0": 1, "y0": 2, "x1": 30, "y1": 40});
    for (input, sentence) in [
        (json!({"action": "screenshot"}), "Looked at the screen"),
        (
            json!({"action": "zoom", "region": region}),
            "Looked closely at (1, 2) to (30, 40)",
        ),
        (
            json!({"action": "move", "at": {"x": 1, "y": 2}}),
            "Moved the pointer to (1, 2)",
        ),
        (
            json!({"action": "click", "at": {"x": 312, "y": 240}}),
            "Clicked at (312, 240)",
        ),
        (
            json!({"action": "click", "count": 2, "at": {"x": 1, "y": 2}}),
            "Double-clicked at (1, 2)",
        ),
        (
            json!({"action": "click", "button": "right", "at": {"x": 1, "y": 2}, "modifiers": ["shift"]}),
            "Right-clicked at (1, 2) with shift",
        ),
        (
            json!({"action": "click", "button": "right", "count": 2}),
            "Right-clicked 2 times",
        ),
        (json!({"action": "click"}), "Clicked"),
        (
            json!({"action": "mouse_down"}),
            "Pressed the left mouse button",
        ),
        (
            json!({"action": "mouse_up", "button": "right"}),
            "Released the right mouse button",
        ),
        (
            json!({"action": "drag", "path": points}),
            "Dragged from (1, 1) to (9, 9)",
        ),
        (
            json!({"action": "drag", "path": [{"x": 9, "y": 9}]}),
            "Dragged to (9, 9)",
        ),
        (
            json!({"action": "scroll", "at": {"x": 5, "y": 6}, "dy": -3}),
            "Scrolled up 3 at (5, 6)",
        ),
        (
            json!({"action": "scroll", "dx": 1, "dy": 2}),
            "Scrolled down 2 and right 1",
        ),
        (
            json!({"action": "type", "text": "Ada\nLovelace"}),
            "Typed “Ada Lovelace”",
        ),
        (json!({"action": "key", "keys": "ctrl+s"}), "Pressed ctrl+s"),
        (
            json!({"action": "key", "keys": "Tab", "repeat": 3}),
            "Pressed Tab 3 times",
        ),
        (
            json!({"action": "hold_key", "keys": "a", "ms": 1500}),
            "Held a for 1.5 s",
        ),
        (json!({"action": "wait", "ms": 250}), "Waited 250 ms"),
        (json!({"action": "cursor_position"}), "Found the pointer"),
    ] {
        assert_eq!(describe(&action(&input)), sentence);
    }
}

#[test]
fn models_read_the_place_of_what_was_done() {
    let acted = Acted {
        dragged_from: Some(Point { x: 5, y: 6 }),
        pointer: Some(Point { x: 7, y: 8 }),
        frame: None,
    };
    let points = json!([{"x": 1, "y": 1}, {"x": 9, "y": 9}]);
    let region = json!({"x0": 1, "y0": 2, "x1": 30, "y1": 40});
    for (input, told) in [
        (json!({"action": "screenshot"}), "Took a screenshot."),
        (
            json!({"action": "zoom", "region": region}),
            "Zoomed into (1, 2) to (30, 40).",
        ),
        (
            json!({"action": "move", "at": {"x": 1, "y": 2}}),
            "Moved at (1, 2).",
        ),
        (
            json!({"action": "click", "at": {"x": 1, "y": 2}}),
            "Clicked at (1, 2).",
        ),
        (
            json!({"action": "click", "button": "middle"}),
            "Middle-clicked at (7, 8).",
        ),
        (
            json!({"action": "mouse_down"}),
            "Pressed the mouse button at (7, 8).",
        ),
        (
            json!({"action": "mouse_up"}),
            "Released the mouse button at (7, 8).",
        ),
        (
            json!({"action": "drag", "path": points}),
            "Dragged from (1, 1) to (9, 9).",
        ),
        (
            json!({"action": "drag", "path": [{"x": 9, "y": 9}]}),
            "Dragged from (5, 6) to (9, 9).",
        ),
        (
            json!({"action": "scroll", "dx": -1, "dy": 3}),
            "Scrolled down 3 and left 1 at (7, 8).",
        ),
        (json!({"action": "scroll"}), "Scrolled nowhere at (7, 8)."),
        (json!({"action": "type", "text": "ü"}), "Typed 1 character."),
        (
            json!({"action": "key", "keys": "Tab", "repeat": 3}),
            "Pressed Tab 3 times.",
        ),
        (
            json!({"action": "hold_key", "keys": "a", "ms": 1500}),
            "Held a for 1500 ms.",
        ),
        (json!({"action": "wait", "ms": 250}), "Waited 250 ms."),
        (json!({"action": "cursor_position"}), "X=7, Y=8"),
    ] {
        let parts = result(&action(&input), &acted);
        assert_eq!(plain(&parts), told);
    }
}

#[test]
fn a_result_that_lacks_a_place_leaves_it_out() {
    for (input, told) in [
        (json!({"action": "click"}), "Clicked."),
        (json!({"action": "scroll", "dy": 1}), "Scrolled down 1."),
        (
            json!({"action": "cursor_position"}),
            "The pointer's position is not known.",
        ),
        (
            json!({"action": "drag", "path": [{"x": 9, "y": 9}]}),
            "Dragged.",
        ),
    ] {
        assert_eq!(plain(&result(&action(&input), &Acted::default())), told);
    }
}

#[test]
fn a_key_that_clicks_is_judged_by_its_element_and_gets_no_rule_of_its_own() {
    let proposal = |action: &str, text: &str| {
        let field = if action == "key" { "keys" } else { "text" };
        let input = json!({"action": action, (field): text});
        ComputerTool.read(&input).unwrap().proposal()
    };
    for (action, text) in [
        ("key", "Return"),
        ("key", " "),
        ("type", "yes\n"),
        ("type", "yes\r"),
    ] {
        let pressed = proposal(action, text);
        assert_eq!(
            (pressed.rule(), pressed.risk),
            (None, Risk::Harmless),
            "{text:?}"
        );
    }
    for (action, text) in [("key", "ctrl+s"), ("type", "yes")] {
        let typed = proposal(action, text);
        let pattern = typed.rule().map(|rule| rule.pattern);
        assert_eq!(pattern, Some(format!("{action} {text}")));
    }
    for (action, text) in [("key", "Tab Return"), ("type", "\t\n")] {
        let moved = proposal(action, text);
        assert_eq!(moved.risk, Risk::Risky(None), "{text:?}");
    }
}
