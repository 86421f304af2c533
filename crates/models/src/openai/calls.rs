//! Converts the calls of OpenAI's models to our calls.

use deskhand_core::{
    action::{Action, Button, Point},
    decision::DecisionKind,
    model::{Check, ToolCall},
    tool::NativeTool,
};
use serde_json::{Value, json};

use super::page;
use crate::{
    call_ids, chords,
    input::{BadInput, Input},
    space::{Outside, Space},
    surface::Surface,
    tool_input,
};

/// The type of a call of the function `computer` at endpoints that were written for it.
pub(super) const FUNCTION_ITEM: &str = "tool_call";

/// The duration of a wait. The model does not give one.
const WAIT_MS: u64 = 2_000;
/// The number of pixels per click of the wheel.
const PIXELS_PER_CLICK: f64 = 100.0;
/// The maximum number of clicks in one scroll.
const MOST_CLICKS: f64 = 100.0;

/// An action that makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum BadOpenAiAction {
    #[error(transparent)]
    Input(#[from] BadInput),
    #[error(transparent)]
    Outside(#[from] Outside),
    #[error("there is no action {0:?}")]
    NoAction(String),
    #[error("there is no button {0:?} here; the buttons are left, right and wheel")]
    NoButton(String),
    #[error("{0} pixels are too many to scroll at once; the limit is 10000")]
    TooFar(f64),
    #[error("a drag needs at least two points")]
    ShortPath,
}

/// Returns the calls of an output item, in order.
pub(super) fn read(item: &Value, space: &Space, surface: Surface) -> Vec<ToolCall> {
    match item["type"].as_str() {
        Some("computer_call") => computer(item, space, surface),
        Some("function_call") => vec![function(&item["call_id"], item, space, surface)],
        // Endpoints that were written for the function `computer` may use this form.
        Some(FUNCTION_ITEM) if surface == Surface::PageFunction => {
            vec![function(&item["id"], &item["function"], space, surface)]
        }
        _ => Vec::new(),
    }
}

fn computer(item: &Value, space: &Space, surface: Surface) -> Vec<ToolCall> {
    let call = item["call_id"].as_str().unwrap_or_default();
    let actions = match item["actions"].as_array() {
        Some(actions) if !actions.is_empty() => actions.as_slice(),
        _ => std::slice::from_ref(&item["action"]),
    };
    let read = actions.iter().enumerate().map(|(index, sent)| {
        let (tool, read) = match surface {
            Surface::Screen => {
                let action = action(sent, space).map(|action| json!(action));
                (NativeTool::Computer, action)
            }
            Surface::Page | Surface::PageFunction => {
                (NativeTool::Browser, page::action(sent, space))
            }
        };
        let (input, problem) = match read {
            Ok(input) => (input, None),
            Err(problem) => (sent.clone(), Some(problem.to_string())),
        };
        ToolCall {
            id: call_ids::part(call, index),
            tool: tool.name().to_owned(),
            input,
            // Agreeing to the first action covers the rest of the batch.
            checks: if index == 0 { checks(item) } else { Vec::new() },
            problem,
        }
    });
    read.collect()
}

/// Returns the checks that a person must agree to before the item's actions run.
fn checks(item: &Value) -> Vec<Check> {
    let pending = item["pending_safety_checks"].as_array();
    let checks = pending.into_iter().flatten().map(|check| {
        let told = check["message"].as_str().or(check["code"].as_str());
        Check {
            kind: DecisionKind::SafetyCheck,
            prompt: told
                .unwrap_or("OpenAI asks for a person to check this first.")
                .to_owned(),
        }
    });
    checks.collect()
}

fn function(id: &Value, called: &Value, space: &Space, surface: Surface) -> ToolCall {
    let text = |field: &str| called[field].as_str().unwrap_or_default();
    let arguments = text("arguments");
    let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    let (tool, read) = tool_input::read_on(surface, text("name"), &input, space);
    let (input, problem) = match read {
        Ok(input) => (input, None),
        Err(problem) => (input, Some(problem)),
    };
    ToolCall {
        id: id.as_str().unwrap_or_default().to_owned(),
        tool,
        input,
        checks: Vec::new(),
        problem,
    }
}

pub(super) fn action(sent: &Value, space: &Space) -> Result<Action, BadOpenAiAction> {
    let input = Input::of(sent);
    let point = || -> Result<_, BadOpenAiAction> {
        Ok(space.point(input.number("x")?, input.number("y")?)?)
    };
    match input.text("type")? {
        "screenshot" => Ok(Action::Screenshot),
        "wait" => Ok(Action::Wait { ms: WAIT_MS }),
        "click" => {
            let button = match input.text_or_nothing("button")?.unwrap_or("left") {
                "left" => Button::Left,
                "right" => Button::Right,
                "wheel" | "middle" => Button::Middle,
                // These two buttons navigate in a browser.
                "back" => return Ok(press("alt+Left")),
                "forward" => return Ok(press("alt+Right")),
                other => return Err(BadOpenAiAction::NoButton(other.to_owned())),
            };
            Ok(Action::Click {
                button,
                count: 1,
                at: Some(point()?),
                modifiers: held(sent),
            })
        }
        "double_click" => Ok(Action::Click {
            button: Button::Left,
            count: 2,
            at: Some(point()?),
            modifiers: held(sent),
        }),
        "move" => Ok(Action::Move { at: point()? }),
        "drag" => {
            let points = sent["path"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            let path = points
                .iter()
                .map(|point| place(point, space))
                .collect::<Result<Vec<_>, _>>()?;
            if path.len() < 2 {
                return Err(BadOpenAiAction::ShortPath);
            }
            Ok(Action::Drag {
                path,
                modifiers: held(sent),
            })
        }
        "scroll" => Ok(Action::Scroll {
            at: Some(point()?),
            dx: clicks(input.number_or_nothing("scroll_x")?)?,
            dy: clicks(input.number_or_nothing("scroll_y")?)?,
            modifiers: held(sent),
        }),
        "type" => Ok(Action::Type {
            text: input.text("text")?.to_owned(),
        }),
        "keypress" => {
            let keys = keys(sent);
            if keys.is_empty() {
                return Err(BadInput::Missing("keys").into());
            }
            Ok(press(&chords::of_list(&keys)))
        }
        other => Err(BadOpenAiAction::NoAction(other.to_owned())),
    }
}

pub(super) fn press(keys: &str) -> Action {
    Action::Key {
        keys: keys.to_owned(),
        repeat: 1,
    }
}

/// Reads a point of a path: `{"x": 1, "y": 2}` or `[1, 2]`.
pub(super) fn place(point: &Value, space: &Space) -> Result<Point, BadOpenAiAction> {
    let pair = json!({"at": point});
    if let Ok(Some([x, y])) = Input::of(&pair).numbers::<2>("at", "two numbers") {
        return Ok(space.point(x, y)?);
    }
    let fields = Input::of(point);
    Ok(space.point(fields.number("x")?, fields.number("y")?)?)
}

pub(super) fn keys(sent: &Value) -> Vec<&str> {
    let keys = sent["keys"].as_array();
    keys.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the keys that are held during a mouse action.
pub(super) fn held(sent: &Value) -> Vec<String> {
    keys(sent).into_iter().map(str::to_owned).collect()
}

/// Converts pixels to clicks of the wheel: at least one, unless there is nothing to scroll.
#[expect(clippy::cast_possible_truncation, reason = "between -100 and 100")]
fn clicks(pixels: Option<f64>) -> Result<i32, BadOpenAiAction> {
    let pixels = pixels.unwrap_or_default();
    if pixels == 0.0 || pixels.is_nan() {
        return Ok(0);
    }
    let clicks = (pixels.abs() / PIXELS_PER_CLICK).round().max(1.0);
    if clicks > MOST_CLICKS {
        return Err(BadOpenAiAction::TooFar(pixels));
    }
    Ok((clicks * pixels.signum()) as i32)
}
