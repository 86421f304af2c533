//! Reads the inputs of the computer, the shell and the editor in the spelling of Anthropic's tools.
//!
//! They are also offered as functions in that spelling, since most models know it.

use deskhand_core::{
    action::{Action, Button, LONGEST_WAIT_MS, Point},
    shell::LONGEST_TIMEOUT_MS,
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use crate::{
    browser_input, computer_function, declared,
    input::{BadInput, Input},
    space::{Outside, Space},
    surface::Surface,
};

/// A call that makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum BadCall {
    #[error(transparent)]
    Input(#[from] BadInput),
    #[error(transparent)]
    Outside(#[from] Outside),
    #[error("there is no action {0:?}")]
    NoAction(String),
    #[error("scroll_direction must be up, down, left or right, not {0:?}")]
    Direction(String),
    #[error("{field} must be a number from {least} to {most}, not {got}")]
    Range {
        field: &'static str,
        least: u64,
        most: u64,
        got: f64,
    },
}

/// The editor's name in that spelling.
const EDITOR: &str = "str_replace_based_edit_tool";
/// The name of its first versions.
const OLD_EDITOR: &str = "str_replace_editor";

/// Returns the name of a tool that is offered as a function.
pub(crate) fn function_name(tool: &ToolSpec) -> &str {
    match tool.native {
        Some(NativeTool::Editor) => EDITOR,
        Some(NativeTool::Computer | NativeTool::Shell | NativeTool::Browser) | None => &tool.name,
    }
}

/// Returns the name of our tool for a function, and its input as our tool takes it. The error is for the model.
pub(crate) fn read(name: &str, input: &Value, space: &Space) -> (String, Result<Value, String>) {
    if name == NativeTool::Browser.name() {
        return (name.to_owned(), browser_input::read(input, space));
    }
    let fields = Input::of(input);
    let (tool, read) = match name {
        "computer" => {
            let member = fields.text("action").map_err(BadCall::from);
            let action = member.and_then(|member| action(member, fields, space));
            let (_, declaration) = declared::split(input);
            let action = action.map(|action| declared::join(json!(action), declaration));
            (NativeTool::Computer.name(), action)
        }
        "bash" => (NativeTool::Shell.name(), shell(fields)),
        EDITOR | OLD_EDITOR => (NativeTool::Editor.name(), edit(fields)),
        other => (other, Ok(input.clone())),
    };
    (tool.to_owned(), read.map_err(|problem| problem.to_string()))
}

/// Reads a call of a function where the session's computer may be the browser.
pub(crate) fn read_on(
    surface: Surface,
    name: &str,
    input: &Value,
    space: &Space,
) -> (String, Result<Value, String>) {
    if surface == Surface::PageFunction && name == computer_function::NAME {
        let tool = NativeTool::Browser.name().to_owned();
        return (tool, computer_function::read(input, space));
    }
    read(name, input, space)
}

/// Reads an action whose name is not in the input. The error is for the model.
pub(crate) fn read_action(name: &str, input: &Value, space: &Space) -> Result<Value, String> {
    let action = action(name, Input::of(input), space);
    action
        .map(|action| json!(action))
        .map_err(|problem| problem.to_string())
}

fn action(member: &str, input: Input<'_>, space: &Space) -> Result<Action, BadCall> {
    match member {
        "screenshot" => Ok(Action::Screenshot),
        "zoom" => zoom(input, space),
        "left_click" => click(Button::Left, 1, input, space),
        "right_click" => click(Button::Right, 1, input, space),
        "middle_click" => click(Button::Middle, 1, input, space),
        "double_click" => click(Button::Left, 2, input, space),
        "triple_click" => click(Button::Left, 3, input, space),
        "left_click_drag" => drag(input, space),
        "mouse_move" => Ok(Action::Move {
            at: coordinate(input, space)?,
        }),
        "left_mouse_down" => Ok(Action::MouseDown {
            button: Button::Left,
        }),
        "left_mouse_up" => Ok(Action::MouseUp {
            button: Button::Left,
        }),
        "cursor_position" => Ok(Action::CursorPosition),
        "scroll" => scroll(input, space),
        "type" => Ok(Action::Type {
            text: input.text("text")?.to_owned(),
        }),
        "key" => key(input),
        "hold_key" => Ok(Action::HoldKey {
            keys: input.text("text")?.to_owned(),
            ms: duration(input)?,
        }),
        "wait" => Ok(Action::Wait {
            ms: duration(input)?,
        }),
        other => Err(BadCall::NoAction(other.to_owned())),
    }
}

fn zoom(input: Input<'_>, space: &Space) -> Result<Action, BadCall> {
    let corners = input.numbers::<4>("region", "four numbers, [x0, y0, x1, y1]")?;
    let corners = corners.ok_or(BadInput::Missing("region"))?;
    let region = space.region(corners)?;
    Ok(Action::Zoom { region })
}

/// Clicks at the `coordinate`, or at the pointer if there is none.
fn click(button: Button, count: u8, input: Input<'_>, space: &Space) -> Result<Action, BadCall> {
    Ok(Action::Click {
        button,
        count,
        at: point(input, "coordinate", space)?,
        modifiers: modifiers(input)?,
    })
}

fn drag(input: Input<'_>, space: &Space) -> Result<Action, BadCall> {
    let end = coordinate(input, space)?;
    let start = point(input, "start_coordinate", space)?;
    Ok(Action::Drag {
        path: start.into_iter().chain([end]).collect(),
        modifiers: modifiers(input)?,
    })
}

fn scroll(input: Input<'_>, space: &Space) -> Result<Action, BadCall> {
    let (dx, dy) = wheel(input)?;
    Ok(Action::Scroll {
        at: point(input, "coordinate", space)?,
        dx,
        dy,
        modifiers: modifiers(input)?,
    })
}

fn key(input: Input<'_>) -> Result<Action, BadCall> {
    let repeat = match input.get("repeat") {
        Some(_) => whole(input, "repeat", 1, 100)?,
        None => 1,
    };
    Ok(Action::Key {
        keys: input.text("text")?.to_owned(),
        repeat: u8::try_from(repeat).unwrap_or(u8::MAX),
    })
}

/// Returns the `coordinate` of an action that needs one.
fn coordinate(input: Input<'_>, space: &Space) -> Result<Point, BadCall> {
    let at = point(input, "coordinate", space)?;
    Ok(at.ok_or(BadInput::Missing("coordinate"))?)
}

/// Returns the native pixel that a field points at, or `None` if the field is missing.
fn point(input: Input<'_>, field: &'static str, space: &Space) -> Result<Option<Point>, BadCall> {
    let pair = input.numbers::<2>(field, "two numbers, [x, y]")?;
    Ok(pair.map(|[x, y]| space.point(x, y)).transpose()?)
}

/// Returns the clicks of the wheel, to the right and down.
fn wheel(input: Input<'_>) -> Result<(i32, i32), BadCall> {
    let amount = whole(input, "scroll_amount", 0, 100)?;
    let amount = i32::try_from(amount).unwrap_or(100);
    match input.text("scroll_direction")? {
        "up" => Ok((0, -amount)),
        "down" => Ok((0, amount)),
        "left" => Ok((-amount, 0)),
        "right" => Ok((amount, 0)),
        other => Err(BadCall::Direction(other.to_owned())),
    }
}

/// Returns the keys that are held meanwhile. They are documented as `text`, and some models send `key`.
fn modifiers(input: Input<'_>) -> Result<Vec<String>, BadCall> {
    let chord = match input.text_or_nothing("text")? {
        Some(chord) => Some(chord),
        None => input.text_or_nothing("key")?,
    };
    let keys = chord.into_iter().flat_map(|chord| chord.split('+'));
    let keys = keys.map(str::trim).filter(|key| !key.is_empty());
    Ok(keys.map(str::to_owned).collect())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "within bounds that are far below 2⁵³"
)]
fn whole(input: Input<'_>, field: &'static str, least: u64, most: u64) -> Result<u64, BadCall> {
    let got = input.number(field)?;
    if (least as f64..=most as f64).contains(&got) {
        Ok(got.round() as u64)
    } else {
        Err(BadCall::Range {
            field,
            least,
            most,
            got,
        })
    }
}

/// Returns the duration, which is given in seconds, in milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "within bounds that are far below 2⁵³"
)]
fn duration(input: Input<'_>) -> Result<u64, BadCall> {
    let (field, most) = ("duration", LONGEST_WAIT_MS / 1000);
    let got = input.number(field)?;
    if (0.0..=most as f64).contains(&got) {
        Ok((got * 1000.0).round() as u64)
    } else {
        Err(BadCall::Range {
            field,
            least: 0,
            most,
            got,
        })
    }
}

fn shell(input: Input<'_>) -> Result<Value, BadCall> {
    if input.is_set("restart") {
        return Ok(json!({"shell": "restart"}));
    }
    let mut call = json!({"shell": "run", "command": input.text("command")?});
    if input.get("timeout_s").is_some() {
        let seconds = whole(input, "timeout_s", 1, LONGEST_TIMEOUT_MS / 1000)?;
        call["timeout_ms"] = (seconds * 1000).into();
    }
    Ok(call)
}

/// Reads the editor's input. Its fields are the same as ours, and fields that newer versions add are dropped.
fn edit(input: Input<'_>) -> Result<Value, BadCall> {
    let mut call = json!({"command": input.text("command")?, "path": input.text("path")?});
    for field in [
        "file_text",
        "old_str",
        "new_str",
        "insert_text",
        "insert_line",
    ] {
        if let Some(value) = input.get(field) {
            call[field] = value.clone();
        }
    }
    if let Some([first, last]) = input.numbers::<2>("view_range", "two line numbers")? {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cast of a float saturates"
        )]
        let line = |number: f64| number.round() as i64;
        call["view_range"] = json!([line(first), line(last)]);
    }
    if input.text("command")? == "insert" && input.get("insert_text").is_some() {
        // Either name is fine, but not both.
        call.as_object_mut().map(|fields| fields.remove("new_str"));
    }
    Ok(call)
}
