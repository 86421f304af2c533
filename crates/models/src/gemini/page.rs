//! Predefined functions of Gemini's models on a page, in sessions that offer the browser and not the screen.

use deskhand_core::action::Point;
use serde_json::{Value, json};

use super::calls::{BadGeminiAction, SEARCH, hotkey_keys, key, pixels, seconds};
use crate::{input::Input, space::Space};

/// Returns the inputs of our tool for a predefined function, in both sets of actions. Returns `None` for other functions.
///
/// Every call asks for a picture, and the last one of a batch gets it.
pub(super) fn actions(
    name: &str,
    input: Input<'_>,
    space: &Space,
) -> Option<Result<Vec<Value>, BadGeminiAction>> {
    let space = space.page();
    let calls = without_pictures(name, input, &space)?;
    Some(calls.map(|mut calls| {
        for call in &mut calls {
            call["look"] = true.into();
        }
        calls
    }))
}

fn without_pictures(
    name: &str,
    input: Input<'_>,
    space: &Space,
) -> Option<Result<Vec<Value>, BadGeminiAction>> {
    let point = |x: &'static str, y: &'static str| -> Result<Point, BadGeminiAction> {
        Ok(space.point(input.number(x)?, input.number(y)?)?)
    };
    let at = |action: &str| -> Result<Vec<Value>, BadGeminiAction> {
        let at = point("x", "y")?;
        Ok(vec![json!({"action": action, "x": at.x, "y": at.y})])
    };
    let one = |call: Value| -> Result<Vec<Value>, BadGeminiAction> { Ok(vec![call]) };
    Some(match name {
        "click" | "click_at" => at("click"),
        "double_click" | "triple_click" | "middle_click" | "right_click" => at(name),
        "mouse_down" | "mouse_up" => at(name),
        "move" | "hover_at" => at("hover"),
        "type" => typed(input, None, false),
        "type_text_at" => point("x", "y").and_then(|at| typed(input, Some(at), true)),
        "drag_and_drop" => drag(input, point),
        "wait" => {
            seconds(input).map(|seconds| vec![json!({"action": "pause", "seconds": seconds})])
        }
        "wait_5_seconds" => one(json!({"action": "pause", "seconds": 5})),
        "press_key" => key(input, "key").map(|keys| vec![json!({"action": "press", "keys": keys})]),
        "key_combination" => {
            key(input, "keys").map(|keys| vec![json!({"action": "press", "keys": keys})])
        }
        "hotkey" => hotkey_keys(input).map(|keys| vec![json!({"action": "press", "keys": keys})]),
        "take_screenshot" | "open_web_browser" => one(json!({"action": "screenshot"})),
        "scroll" | "scroll_at" => {
            point("x", "y").and_then(|at| scroll(input, Some(at), name == "scroll_at", space))
        }
        "scroll_document" => scroll(input, None, true, space),
        "navigate" => match input.text("url") {
            Ok(url) => one(json!({"action": "navigate", "url": url})),
            Err(problem) => Err(problem.into()),
        },
        "search" => one(json!({"action": "navigate", "url": SEARCH})),
        "go_back" => one(json!({"action": "back"})),
        "go_forward" => one(json!({"action": "forward"})),
        "key_down" | "key_up" | "open_app" | "list_apps" | "long_press" => {
            Err(BadGeminiAction::NotHere(name.to_owned()))
        }
        _ => return None,
    })
}

/// Types, at a point after a click there. A field is cleared first unless the model says otherwise.
fn typed(
    input: Input<'_>,
    at: Option<Point>,
    enter_unless_told: bool,
) -> Result<Vec<Value>, BadGeminiAction> {
    let mut calls = Vec::new();
    if let Some(at) = at {
        calls.push(json!({"action": "click", "x": at.x, "y": at.y}));
        if input.get("clear_before_typing").is_none() || input.is_set("clear_before_typing") {
            calls.push(json!({"action": "press", "keys": "ctrl+a Delete"}));
        }
    }
    let submit = match input.get("press_enter") {
        Some(_) => input.is_set("press_enter"),
        None => enter_unless_told,
    };
    calls.push(json!({"action": "type", "text": input.text("text")?, "submit": submit}));
    Ok(calls)
}

/// Drags between two points. Both spellings of the start and the end are in use.
fn drag(
    input: Input<'_>,
    point: impl Fn(&'static str, &'static str) -> Result<Point, BadGeminiAction>,
) -> Result<Vec<Value>, BadGeminiAction> {
    let (from, to) = if input.get("start_x").is_some() {
        (point("start_x", "start_y")?, point("end_x", "end_y")?)
    } else {
        (point("x", "y")?, point("destination_x", "destination_y")?)
    };
    Ok(vec![
        json!({"action": "drag", "x": from.x, "y": from.y, "to_x": to.x, "to_y": to.y}),
    ])
}

fn scroll(
    input: Input<'_>,
    at: Option<Point>,
    is_first: bool,
    space: &Space,
) -> Result<Vec<Value>, BadGeminiAction> {
    let (dx, dy) = pixels(input, is_first, space)?;
    let mut call = json!({"action": "scroll", "dx": dx, "dy": dy});
    if let Some(at) = at {
        (call["x"], call["y"]) = (at.x.into(), at.y.into());
    }
    Ok(vec![call])
}
