//! The tools as plain functions, for models that have none of their own for them.

use deskhand_core::action::ScreenSize;
use serde_json::{Value, json};

/// A function that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) description: String,
    /// A JSON schema.
    pub(crate) parameters: Value,
}

/// The functions that no vendor has a tool of its own for.
pub(crate) fn of_every_model() -> [Function; 2] {
    [ask_user(), fill_secret()]
}

fn ask_user() -> Function {
    Function {
        name: "ask_user",
        description:
            "Asks a person and waits for the answer. Use it when only a person can know or decide, \
                      not for what you can find out yourself."
                .to_owned(),
        parameters: object(
            &["question"],
            &json!({
                "question": {"type": "string"},
                "form": {"type": "string", "enum": ["text", "choices", "yes_no", "file"], "description": "How it is answered; text when absent."},
                "choices": {"type": "array", "items": {"type": "string"}, "description": "For the form choices."},
                "several": {"type": "boolean", "description": "Whether more than one may be chosen."},
                "default": {"description": "The answer when nobody gives one in time. Needs expires_in_s."},
                "expires_in_s": {"type": "integer", "minimum": 1, "description": "How long to wait; for ever when absent."},
            }),
        ),
    }
}

fn fill_secret() -> Function {
    Function {
        name: "fill_secret",
        description:
            "Types a secret that a person has stored, such as a password, into the field of the browser that has the focus. \
             You never see it. Click the field first."
                .to_owned(),
        parameters: object(
            &["name"],
            &json!({"name": {"type": "string", "description": "What the secret is called."}}),
        ),
    }
}

/// The computer, with the actions and coordinates that most models know.
pub(crate) fn computer(shown: ScreenSize) -> Function {
    let point = |description: &str| json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": description});
    let actions = [
        "screenshot",
        "left_click",
        "right_click",
        "middle_click",
        "double_click",
        "triple_click",
        "left_click_drag",
        "mouse_move",
        "left_mouse_down",
        "left_mouse_up",
        "scroll",
        "type",
        "key",
        "hold_key",
        "wait",
        "cursor_position",
        "zoom",
    ];
    Function {
        name: "computer",
        description: format!(
            "Uses the mouse, the keyboard and the screen of the desktop. Screenshots are {shown} pixels; \
             coordinates are pixels from their top left corner. Most actions answer with a screenshot."
        ),
        parameters: object(
            &["action"],
            &json!({
                "action": {"type": "string", "enum": actions},
                "coordinate": point("Where, as [x, y]. Clicks without it are made at the pointer."),
                "start_coordinate": point("Where a drag begins; at the pointer without it."),
                "text": {"type": "string", "description": "What is typed; a key or chord such as ctrl+s for key and hold_key; keys held during a click or scroll."},
                "scroll_direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
                "scroll_amount": {"type": "integer", "minimum": 0, "maximum": 100, "description": "Wheel clicks."},
                "duration": {"type": "number", "minimum": 0, "maximum": 300, "description": "Seconds, for wait and hold_key."},
                "repeat": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How often a key is pressed."},
                "region": {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4, "description": "What zoom shows closely, as [x0, y0, x1, y1]."},
            }),
        ),
    }
}

pub(crate) fn bash() -> Function {
    Function {
        name: "bash",
        description: "Runs a command in a shell that keeps its directory, variables and background jobs from one call to the next. \
                      Nobody can type into it."
            .to_owned(),
        parameters: object(
            &[],
            &json!({
                "command": {"type": "string"},
                "restart": {"type": "boolean", "description": "Ends the shell and begins a new one."},
            }),
        ),
    }
}

pub(crate) fn editor() -> Function {
    Function {
        name: "str_replace_based_edit_tool",
        description: "Shows and changes files. Paths are absolute.".to_owned(),
        parameters: object(
            &["command", "path"],
            &json!({
                "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
                "path": {"type": "string"},
                "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": "First and last line to view, counted from 1; -1 is the end."},
                "file_text": {"type": "string", "description": "All of a file that is created."},
                "old_str": {"type": "string", "description": "What is replaced. It must occur exactly once."},
                "new_str": {"type": "string", "description": "What it is replaced by."},
                "insert_line": {"type": "integer", "minimum": 0, "description": "The line after which text is inserted; 0 is before the first."},
                "insert_text": {"type": "string"},
            }),
        ),
    }
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
