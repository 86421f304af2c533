//! Converts the function calls of Gemini's models, in both sets of actions, to our calls.

use deskhand_core::{
    action::{Action, Button, LONGEST_WAIT_MS, Point},
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

/// The number of pixels per click of the wheel.
const PIXELS_PER_CLICK: f64 = 100.0;
/// The maximum number of clicks in one scroll.
const MOST_CLICKS: f64 = 100.0;
/// The scroll distance in pixels if the model gives none.
const SCROLL_PIXELS: f64 = 300.0;
/// The default scroll distance of the first models, in thousandths of the screen.
const SCROLL_THOUSANDTHS: f64 = 800.0;
/// The page that a search starts from.
pub(super) const SEARCH: &str = "https://www.google.com";

/// An action that makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum BadGeminiAction {
    #[error(transparent)]
    Input(#[from] BadInput),
    #[error(transparent)]
    Outside(#[from] Outside),
    #[error("direction must be up, down, left or right, not {0:?}")]
    Direction(String),
    #[error("seconds must be a number from 0 to {most}, not {got}")]
    TooLong { most: u64, got: f64 },
    #[error("{0} pixels are too many to scroll at once; the limit is 10000")]
    TooFar(f64),
    #[error("{0} is not possible on this computer")]
    NotHere(String),
}

/// Returns the calls that a function call of the model stands for, in order.
pub(super) fn read(id: &str, call: &Value, space: &Space, surface: Surface) -> Vec<ToolCall> {
    let name = call["name"].as_str().unwrap_or_default();
    let args = &call["args"];
    let (tool, actions): (_, Option<Result<Vec<Value>, BadGeminiAction>>) = match surface {
        Surface::Screen => (
            NativeTool::Computer,
            actions(name, Input::of(args), space).map(|actions| {
                let actions = actions?.into_iter();
                Ok(actions.map(|action| json!(action)).collect::<Vec<_>>())
            }),
        ),
        Surface::Page | Surface::PageFunction => (
            NativeTool::Browser,
            page::actions(name, Input::of(args), space),
        ),
    };
    let Some(actions) = actions else {
        let (tool, read) = tool_input::read(name, args, space);
        let (input, problem) = match read {
            Ok(input) => (input, None),
            Err(problem) => (args.clone(), Some(problem)),
        };
        return vec![ToolCall {
            id: id.to_owned(),
            tool,
            input,
            checks: checks(args),
            problem,
        }];
    };
    let computer = |id: String, input, checks, problem| ToolCall {
        id,
        tool: tool.name().to_owned(),
        input,
        checks,
        problem,
    };
    match actions {
        Err(problem) => {
            let input = json!({"name": name, "args": args});
            vec![computer(
                id.to_owned(),
                input,
                checks(args),
                Some(problem.to_string()),
            )]
        }
        Ok(actions) => {
            let calls = actions.into_iter().enumerate().map(|(index, action)| {
                // Agreeing to the first call covers the rest of it.
                let checks = if index == 0 { checks(args) } else { Vec::new() };
                computer(call_ids::part(id, index), action, checks, None)
            });
            calls.collect()
        }
    }
}

/// Returns true if a person must agree to a call.
pub(super) fn wants_confirmation(args: &Value) -> bool {
    args["safety_decision"]["decision"]
        .as_str()
        .is_some_and(|decision| decision.eq_ignore_ascii_case("require_confirmation"))
}

fn checks(args: &Value) -> Vec<Check> {
    let decision = &args["safety_decision"];
    if !decision.is_object() {
        return Vec::new();
    }
    let told = decision["explanation"].as_str();
    vec![Check {
        kind: DecisionKind::SafetyCheck,
        prompt: told
            .unwrap_or("Google asks for a person to check this first.")
            .to_owned(),
    }]
}

/// Returns the actions of a predefined function. Returns `None` for other functions.
fn actions(
    name: &str,
    input: Input<'_>,
    space: &Space,
) -> Option<Result<Vec<Action>, BadGeminiAction>> {
    let point = |x: &'static str, y: &'static str| -> Result<Point, BadGeminiAction> {
        Ok(space.point(input.number(x)?, input.number(y)?)?)
    };
    let at = || point("x", "y");
    let click = |button, count| {
        let at = Some(at()?);
        let modifiers = Vec::new();
        Ok(vec![Action::Click {
            button,
            count,
            at,
            modifiers,
        }])
    };
    Some(match name {
        "click" | "click_at" => click(Button::Left, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "middle_click" => click(Button::Middle, 1),
        "right_click" => click(Button::Right, 1),
        "mouse_down" => at().map(|at| {
            let button = Button::Left;
            vec![Action::Move { at }, Action::MouseDown { button }]
        }),
        "mouse_up" => at().map(|at| {
            let button = Button::Left;
            vec![Action::Move { at }, Action::MouseUp { button }]
        }),
        "move" | "hover_at" => at().map(|at| vec![Action::Move { at }]),
        "type" => typed(input, false),
        "type_text_at" => type_at(input, at()),
        "drag_and_drop" => drag(input, space),
        "wait" => wait(input),
        "wait_5_seconds" => Ok(vec![Action::Wait { ms: 5_000 }]),
        "press_key" => key(input, "key").map(|keys| vec![press(&keys)]),
        "key_down" | "key_up" => Err(BadGeminiAction::NotHere(name.to_owned())),
        "key_combination" => key(input, "keys").map(|keys| vec![press(&keys)]),
        "hotkey" => hotkey(input),
        "take_screenshot" | "open_web_browser" => Ok(vec![Action::Screenshot]),
        "scroll" | "scroll_at" => {
            at().and_then(|at| scroll(input, Some(at), name == "scroll_at", space))
        }
        "scroll_document" => scroll(input, None, true, space),
        "navigate" => input
            .text("url")
            .map(navigate)
            .map_err(BadGeminiAction::from),
        "search" => Ok(navigate(SEARCH)),
        "go_back" => Ok(vec![press("alt+Left")]),
        "go_forward" => Ok(vec![press("alt+Right")]),
        "open_app" | "list_apps" | "long_press" => Err(BadGeminiAction::NotHere(name.to_owned())),
        _ => return None,
    })
}

fn press(keys: &str) -> Action {
    Action::Key {
        keys: keys.to_owned(),
        repeat: 1,
    }
}

pub(super) fn key(input: Input<'_>, field: &'static str) -> Result<String, BadGeminiAction> {
    Ok(chords::of_list(&[input.text(field)?]))
}

fn hotkey(input: Input<'_>) -> Result<Vec<Action>, BadGeminiAction> {
    hotkey_keys(input).map(|keys| vec![press(&keys)])
}

/// Returns the keys of a hotkey as a chord.
pub(super) fn hotkey_keys(input: Input<'_>) -> Result<String, BadGeminiAction> {
    let keys = input.get("keys").and_then(Value::as_array);
    let keys: Vec<&str> = keys
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if keys.is_empty() {
        return Err(BadInput::Missing("keys").into());
    }
    Ok(keys.join("+"))
}

fn typed(input: Input<'_>, enter_unless_told: bool) -> Result<Vec<Action>, BadGeminiAction> {
    let text = input.text("text")?.to_owned();
    let enter = match input.get("press_enter") {
        Some(_) => input.is_set("press_enter"),
        None => enter_unless_told,
    };
    let enter = enter.then(|| press("Return"));
    Ok(std::iter::once(Action::Type { text })
        .chain(enter)
        .collect())
}

/// Clicks into a field, clears it unless told not to, and types.
fn type_at(
    input: Input<'_>,
    at: Result<Point, BadGeminiAction>,
) -> Result<Vec<Action>, BadGeminiAction> {
    let mut actions = vec![Action::Click {
        button: Button::Left,
        count: 1,
        at: Some(at?),
        modifiers: Vec::new(),
    }];
    if input.get("clear_before_typing").is_none() || input.is_set("clear_before_typing") {
        actions.extend([press("ctrl+a"), press("Delete")]);
    }
    actions.extend(typed(input, true)?);
    Ok(actions)
}

/// Drags between two points. Both spellings of the start and the end are in use.
fn drag(input: Input<'_>, space: &Space) -> Result<Vec<Action>, BadGeminiAction> {
    let [x0, y0, x1, y1] = if input.get("start_x").is_some() {
        ["start_x", "start_y", "end_x", "end_y"]
    } else {
        ["x", "y", "destination_x", "destination_y"]
    };
    let point = |x, y| -> Result<Point, BadGeminiAction> {
        Ok(space.point(input.number(x)?, input.number(y)?)?)
    };
    Ok(vec![Action::Drag {
        path: vec![point(x0, y0)?, point(x1, y1)?],
        modifiers: Vec::new(),
    }])
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within bounds that are far below 2⁵³"
)]
fn wait(input: Input<'_>) -> Result<Vec<Action>, BadGeminiAction> {
    let ms = seconds(input)? * 1000.0;
    Ok(vec![Action::Wait {
        ms: ms.round() as u64,
    }])
}

/// Returns the duration of a wait.
#[expect(
    clippy::cast_precision_loss,
    reason = "the longest wait is far below 2⁵³"
)]
pub(super) fn seconds(input: Input<'_>) -> Result<f64, BadGeminiAction> {
    let seconds = input.number_or_nothing("seconds")?.unwrap_or(1.0);
    let most = LONGEST_WAIT_MS / 1000;
    if !(0.0..=most as f64).contains(&seconds) {
        return Err(BadGeminiAction::TooLong { most, got: seconds });
    }
    Ok(seconds)
}

#[expect(clippy::cast_possible_truncation, reason = "at most a hundred")]
fn scroll(
    input: Input<'_>,
    at: Option<Point>,
    is_first: bool,
    space: &Space,
) -> Result<Vec<Action>, BadGeminiAction> {
    let (dx, dy) = pixels(input, is_first, space)?;
    let clicks = |pixels: f64| match pixels {
        0.0 => 0,
        pixels => {
            let clicks = (pixels.abs() / PIXELS_PER_CLICK).round().max(1.0);
            (clicks * pixels.signum()) as i32
        }
    };
    Ok(vec![Action::Scroll {
        at,
        dx: clicks(dx),
        dy: clicks(dy),
        modifiers: Vec::new(),
    }])
}

/// Returns the distance of a scroll in native pixels, to the right and down.
pub(super) fn pixels(
    input: Input<'_>,
    is_first: bool,
    space: &Space,
) -> Result<(f64, f64), BadGeminiAction> {
    let direction = input.text("direction")?;
    let screen = space.native();
    let (dx, dy, edge) = match direction {
        "up" => (0.0, -1.0, screen.height),
        "down" => (0.0, 1.0, screen.height),
        "left" => (-1.0, 0.0, screen.width),
        "right" => (1.0, 0.0, screen.width),
        other => return Err(BadGeminiAction::Direction(other.to_owned())),
    };
    let of_screen = |thousandths: f64| thousandths / 1000.0 * f64::from(edge);
    let pixels = match (
        input.number_or_nothing("magnitude_in_pixels")?,
        input.number_or_nothing("magnitude")?,
    ) {
        (Some(pixels), _) => pixels,
        (None, Some(thousandths)) => of_screen(thousandths),
        (None, None) if is_first => of_screen(SCROLL_THOUSANDTHS),
        (None, None) => SCROLL_PIXELS,
    };
    if (pixels.abs() / PIXELS_PER_CLICK).round() > MOST_CLICKS {
        return Err(BadGeminiAction::TooFar(pixels));
    }
    // A scroll of nothing is one of the least distance.
    let pixels = pixels.abs().max(1.0);
    Ok((dx * pixels, dy * pixels))
}

/// Opens a URL in the browser in the foreground.
fn navigate(url: &str) -> Vec<Action> {
    vec![
        press("ctrl+l"),
        Action::Type {
            text: url.to_owned(),
        },
        press("Return"),
    ]
}
