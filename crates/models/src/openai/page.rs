//! Actions of OpenAI's computer on a page, in sessions that offer the browser and not the screen.

use serde_json::{Value, json};

use super::calls::{BadOpenAiAction, held, keys, place};
use crate::{
    browser_input::PATH,
    chords,
    input::{BadInput, Input},
    space::Space,
};

/// The duration of a wait, in seconds. The model does not give one.
const WAIT_SECONDS: f64 = 2.0;
/// The longest distance of one scroll, in pixels.
const FARTHEST: f64 = 10_000.0;

/// Reads an action as input of our tool. Every action asks for a picture, and the last one of a batch gets it.
pub(super) fn action(sent: &Value, space: &Space) -> Result<Value, BadOpenAiAction> {
    let space = space.page();
    let mut call = without_picture(sent, &space)?;
    call["look"] = true.into();
    Ok(call)
}

fn without_picture(sent: &Value, space: &Space) -> Result<Value, BadOpenAiAction> {
    let input = Input::of(sent);
    let at = |action: &str| -> Result<Value, BadOpenAiAction> {
        let at = space.point(input.number("x")?, input.number("y")?)?;
        let mut call = json!({"action": action, "x": at.x, "y": at.y});
        let modifiers = held(sent);
        if !modifiers.is_empty() && action != "hover" {
            call["modifiers"] = modifiers.into();
        }
        Ok(call)
    };
    match input.text("type")? {
        "screenshot" => Ok(json!({"action": "screenshot"})),
        "wait" => Ok(json!({"action": "pause", "seconds": WAIT_SECONDS})),
        "click" => match input.text_or_nothing("button")?.unwrap_or("left") {
            "left" => at("click"),
            "right" => at("right_click"),
            "wheel" | "middle" => at("middle_click"),
            button @ ("back" | "forward") => Ok(json!({"action": button})),
            other => Err(BadOpenAiAction::NoButton(other.to_owned())),
        },
        "double_click" => at("double_click"),
        "move" => at("hover"),
        "drag" => {
            let points = sent["path"].as_array().map(Vec::as_slice);
            let points = points.unwrap_or_default().iter();
            let path = points
                .map(|point| place(point, space).map(|at| json!([at.x, at.y])))
                .collect::<Result<Vec<_>, _>>()?;
            if path.len() < 2 {
                return Err(BadOpenAiAction::ShortPath);
            }
            Ok(json!({"action": "drag", PATH: path, "modifiers": held(sent)}))
        }
        "scroll" => {
            let mut call = at("scroll")?;
            for (theirs, ours) in [("scroll_x", "dx"), ("scroll_y", "dy")] {
                let pixels = input.number_or_nothing(theirs)?.unwrap_or_default();
                if pixels.abs() > FARTHEST {
                    return Err(BadOpenAiAction::TooFar(pixels));
                }
                call[ours] = pixels.into();
            }
            Ok(call)
        }
        "type" => Ok(json!({"action": "type", "text": input.text("text")?})),
        "keypress" => {
            let keys = keys(sent);
            if keys.is_empty() {
                return Err(BadInput::Missing("keys").into());
            }
            Ok(json!({"action": "press", "keys": chords::of_list(&keys)}))
        }
        other => Err(BadOpenAiAction::NoAction(other.to_owned())),
    }
}
