//! What OpenAI's models want done, as calls of ours.

use deskhand_core::{
    action::{Action, Button},
    decision::DecisionKind,
    model::{Check, ToolCall},
};
use serde_json::{Value, json};

use crate::{
    call_ids, chords,
    input::{BadInput, Input},
    space::{Outside, Space},
    tool_input,
};

/// How long a model waits that does not say.
const WAIT_MS: u64 = 2_000;
/// So many pixels are a click of the wheel.
const PIXELS_PER_CLICK: f64 = 100.0;
/// As far as the wheel turns at once.
const MOST_CLICKS: f64 = 100.0;

/// An action that makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum BadAction {
    #[error(transparent)]
    Input(#[from] BadInput),
    #[error(transparent)]
    Outside(#[from] Outside),
    #[error("there is no action {0:?}")]
    NoAction(String),
    #[error("there is no button {0:?} here; the buttons are left, right and wheel")]
    NoButton(String),
    #[error("{0} pixels are too far to scroll at once; 10000 are the most")]
    TooFar(f64),
    #[error("a drag needs at least two points")]
    ShortPath,
}

/// The calls of an output item, in order.
pub(super) fn read(item: &Value, space: &Space) -> Vec<ToolCall> {
    match item["type"].as_str() {
        Some("computer_call") => computer(item, space),
        Some("function_call") => vec![function(item, space)],
        _ => Vec::new(),
    }
}

fn computer(item: &Value, space: &Space) -> Vec<ToolCall> {
    let call = item["call_id"].as_str().unwrap_or_default();
    let actions = match item["actions"].as_array() {
        Some(actions) if !actions.is_empty() => actions.as_slice(),
        _ => std::slice::from_ref(&item["action"]),
    };
    let read = actions.iter().enumerate().map(|(index, sent)| {
        let (input, problem) = match action(sent, space) {
            Ok(action) => (json!(action), None),
            Err(problem) => (sent.clone(), Some(problem.to_string())),
        };
        ToolCall {
            id: call_ids::part(call, index),
            tool: "computer".to_owned(),
            input,
            // Whoever agrees to the first agrees to the rest of the batch.
            checks: if index == 0 { checks(item) } else { Vec::new() },
            problem,
        }
    });
    read.collect()
}

/// What a person must agree to before the item's actions are carried out.
fn checks(item: &Value) -> Vec<Check> {
    let pending = item["pending_safety_checks"].as_array();
    let checks = pending.into_iter().flatten().map(|check| {
        let told = check["message"].as_str().or(check["code"].as_str());
        Check {
            kind: DecisionKind::SafetyCheck,
            prompt: told
                .unwrap_or("OpenAI wants a person to look at this first.")
                .to_owned(),
        }
    });
    checks.collect()
}

fn function(item: &Value, space: &Space) -> ToolCall {
    let text = |field: &str| item[field].as_str().unwrap_or_default();
    let arguments = text("arguments");
    let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    let (tool, read) = tool_input::read(text("name"), &input, space);
    let (input, problem) = match read {
        Ok(input) => (input, None),
        Err(problem) => (input, Some(problem)),
    };
    ToolCall {
        id: text("call_id").to_owned(),
        tool,
        input,
        checks: Vec::new(),
        problem,
    }
}

fn action(sent: &Value, space: &Space) -> Result<Action, BadAction> {
    let input = Input::of(sent);
    let point =
        || -> Result<_, BadAction> { Ok(space.point(input.number("x")?, input.number("y")?)?) };
    match input.text("type")? {
        "screenshot" => Ok(Action::Screenshot),
        "wait" => Ok(Action::Wait { ms: WAIT_MS }),
        "click" => {
            let button = match input.text_or_nothing("button")?.unwrap_or("left") {
                "left" => Button::Left,
                "right" => Button::Right,
                "wheel" | "middle" => Button::Middle,
                // What these two do in a browser.
                "back" => return Ok(press("alt+Left")),
                "forward" => return Ok(press("alt+Right")),
                other => return Err(BadAction::NoButton(other.to_owned())),
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
                return Err(BadAction::ShortPath);
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
        other => Err(BadAction::NoAction(other.to_owned())),
    }
}

fn press(keys: &str) -> Action {
    Action::Key {
        keys: keys.to_owned(),
        repeat: 1,
    }
}

/// A point of a path: `{"x": 1, "y": 2}` or `[1, 2]`.
fn place(point: &Value, space: &Space) -> Result<deskhand_core::action::Point, BadAction> {
    let pair = json!({"at": point});
    if let Ok(Some([x, y])) = Input::of(&pair).numbers::<2>("at", "two numbers") {
        return Ok(space.point(x, y)?);
    }
    let fields = Input::of(point);
    Ok(space.point(fields.number("x")?, fields.number("y")?)?)
}

fn keys(sent: &Value) -> Vec<&str> {
    let keys = sent["keys"].as_array();
    keys.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The keys that are held during a mouse action.
fn held(sent: &Value) -> Vec<String> {
    keys(sent).into_iter().map(str::to_owned).collect()
}

/// Pixels as clicks of the wheel: at least one, unless there is nothing to scroll.
#[expect(clippy::cast_possible_truncation, reason = "between -100 and 100")]
fn clicks(pixels: Option<f64>) -> Result<i32, BadAction> {
    let pixels = pixels.unwrap_or_default();
    if pixels == 0.0 || pixels.is_nan() {
        return Ok(0);
    }
    let clicks = (pixels.abs() / PIXELS_PER_CLICK).round().max(1.0);
    if clicks > MOST_CLICKS {
        return Err(BadAction::TooFar(pixels));
    }
    Ok((clicks * pixels.signum()) as i32)
}

#[cfg(test)]
mod tests {
    use deskhand_core::action::{Point, ScreenSize};

    use super::*;

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
        let calls = read(&item, &space);
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_1#0", "call_1#1"]);
        assert_eq!(calls[0].checks[0].prompt, "Look at this.");
        assert!(calls[1].checks.is_empty());
        assert_eq!(call_ids::whole("call_1#1"), "call_1");
    }
}
