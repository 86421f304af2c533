//! `computer`: the mouse, keyboard and screen.

use async_trait::async_trait;
use deskhand_core::{
    action::{Action, Button, Point, Region, ScreenSize},
    browser::{ActivatingKey, ElementAt, PointedElement, types_enter},
    policy::{CallSubject, Declaration, Proposal, Risk},
    sandbox::Acted,
    tool::{NativeTool, POINTS_ARE_PIXELS, ResultPart, ToolSpec, write_parts},
};
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput,
    consequence::{self, CONSEQUENCE, WHY, consequence_schema, why_schema},
    object_schema, read_as,
    words::{counted, quote, span},
};

const NAME: &str = "computer";

#[derive(Debug)]
pub(super) struct ComputerTool;

#[derive(Debug)]
struct Desktop {
    action: Action,
    /// The consequence that the model declares.
    declared: Option<Declaration>,
    /// The element that the action is for, once it is known.
    element: Option<PointedElement>,
}

impl Tool for ComputerTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: format!(
                "Uses the mouse, the keyboard and the screen of the desktop. Screenshots are {{{{screen}}}} pixels; \
                 {POINTS_ARE_PIXELS}. Most actions answer with a screenshot."
            ),
            parameters: parameters(),
            native: Some(NativeTool::Computer),
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        let (input, declared) = consequence::take(input).map_err(|problem| BadCall::Input {
            tool: NAME.to_owned(),
            problem,
        })?;
        Ok(Box::new(Desktop {
            action: read_as(NAME, &input)?,
            declared,
            element: None,
        }))
    }
}

/// Returns the schema of the actions in the spelling of Anthropic's tool, which most models know.
fn parameters() -> Value {
    let point = |description: &str| {
        json!({
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": description,
        })
    };
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
    object_schema(
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
            (CONSEQUENCE): consequence_schema(),
            (WHY): why_schema(),
        }),
    )
}

#[async_trait]
impl Invocation for Desktop {
    fn describe(&self) -> String {
        describe(&self.action)
    }

    fn proposal(&self) -> Proposal {
        let risk = match self.action {
            Action::Screenshot
            | Action::Zoom { .. }
            | Action::Wait { .. }
            | Action::CursorPosition => Risk::Looks,
            // Nobody knows the element that the focus moves to.
            _ if moves_focus(&self.action) => Risk::Risky(None),
            // The element that it is for may show more.
            Action::Move { .. }
            | Action::Click { .. }
            | Action::MouseDown { .. }
            | Action::MouseUp { .. }
            | Action::Drag { .. }
            | Action::Scroll { .. }
            | Action::Type { .. }
            | Action::Key { .. }
            | Action::HoldKey { .. } => Risk::Harmless,
        };
        let text = subject(&self.action);
        let proposal = Proposal {
            tool: NAME.to_owned(),
            // Without a text, the place is missing, so a rule would allow it everywhere. So would one for a key that
            // clicks.
            subject: if text.contains(' ') && self.element().is_none() {
                CallSubject::text(text)
            } else {
                CallSubject::vague(text)
            },
            risk,
            wish: "The agent wants to use mouse and keyboard".to_owned(),
        };
        proposal.with_element(self.element.as_ref(), self.declared.as_ref())
    }

    fn element(&self) -> Option<ElementAt> {
        match &self.action {
            Action::Click {
                button: Button::Left,
                at,
                ..
            } => Some(at.map_or(ElementAt::Pointer, ElementAt::Screen)),
            Action::MouseDown {
                button: Button::Left,
            } => Some(ElementAt::Pointer),
            Action::Key { keys, .. } | Action::HoldKey { keys, .. } => {
                ActivatingKey::among(keys).map(ElementAt::ScreenFocus)
            }
            // An end of a line is Return.
            Action::Type { text } if types_enter(text) => {
                Some(ElementAt::ScreenFocus(ActivatingKey::Enter))
            }
            Action::Click { .. }
            | Action::MouseDown { .. }
            | Action::Type { .. }
            | Action::MouseUp { .. }
            | Action::Drag { .. }
            | Action::Move { .. }
            | Action::Scroll { .. }
            | Action::Screenshot
            | Action::Zoom { .. }
            | Action::Wait { .. }
            | Action::CursorPosition => None,
        }
    }

    fn note_element(&mut self, element: PointedElement) {
        self.element = Some(element);
    }

    fn check(&self, screen: ScreenSize) -> Result<(), String> {
        self.action.check(screen).map_err(|error| error.to_string())
    }

    fn action(&self) -> Option<&Action> {
        Some(&self.action)
    }

    fn is_for_screen(&self) -> bool {
        true
    }

    fn by_hand(&self) -> Result<(), &'static str> {
        Ok(())
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let acted = context.act(&self.action).await?;
        let parts = result(&self.action, &acted);
        Ok(ToolOutput {
            picture: acted.frame,
            ..ToolOutput::parts(parts)
        })
    }
}

/// Returns true if an action clicks with a key after it has moved the focus.
fn moves_focus(action: &Action) -> bool {
    if let Action::Key { keys, .. } = action {
        return ActivatingKey::follows_tab(keys);
    }
    matches!(action, Action::Type { text } if ActivatingKey::is_typed_after_tab(text))
}

/// Returns the text of an action that the patterns of approval rules match.
fn subject(action: &Action) -> String {
    match action {
        Action::Screenshot => "screenshot".to_owned(),
        Action::Zoom { .. } => "zoom".to_owned(),
        Action::Move { .. } => "move".to_owned(),
        Action::Click { .. } => "click".to_owned(),
        Action::MouseDown { .. } => "mouse_down".to_owned(),
        Action::MouseUp { .. } => "mouse_up".to_owned(),
        Action::Drag { .. } => "drag".to_owned(),
        Action::Scroll { .. } => "scroll".to_owned(),
        Action::Type { text } => format!("type {text}"),
        Action::Key { keys, .. } => format!("key {keys}"),
        Action::HoldKey { keys, .. } => format!("hold_key {keys}"),
        Action::Wait { .. } => "wait".to_owned(),
        Action::CursorPosition => "cursor_position".to_owned(),
    }
}

/// Describes an action to people.
fn describe(action: &Action) -> String {
    match action {
        Action::Screenshot => "Looked at the screen".to_owned(),
        Action::Zoom { region } => {
            plain(&[vec!["Looked closely at ".into()], area(*region)].concat())
        }
        Action::Move { at } => plain(&["Moved the pointer to ".into(), (*at).into()]),
        Action::Click {
            button,
            count,
            at,
            modifiers,
        } => with_place(&click(*button, *count), *at, modifiers),
        Action::MouseDown { button } => format!("Pressed the {} mouse button", name(*button)),
        Action::MouseUp { button } => format!("Released the {} mouse button", name(*button)),
        Action::Drag { path, modifiers } => match &path[..] {
            [] => "Dragged nowhere".to_owned(),
            [end] => plain(&["Dragged to ".into(), (*end).into()]) + &held(modifiers),
            [start, .., end] => plain(&drag(*start, *end)) + &held(modifiers),
        },
        Action::Scroll {
            at,
            dx,
            dy,
            modifiers,
        } => with_place(&scroll(*dx, *dy), *at, modifiers),
        Action::Type { text } => format!("Typed {}", quote(text)),
        Action::Key { keys, repeat } => pressed(keys, *repeat),
        Action::HoldKey { keys, ms } => format!("Held {keys} for {}", span(*ms)),
        Action::Wait { ms } => format!("Waited {}", span(*ms)),
        Action::CursorPosition => "Found the pointer".to_owned(),
    }
}

/// Writes the result of an action, from the action and the facts that the computer reports.
fn result(action: &Action, acted: &Acted) -> Vec<ResultPart> {
    let done_at = |verb: &str, at: Option<Point>| match at.or(acted.pointer) {
        Some(at) => vec![format!("{verb} at ").into(), at.into()],
        None => vec![verb.into()],
    };
    let mut parts = match action {
        Action::Screenshot => vec!["Took a screenshot".into()],
        Action::Zoom { region } => [vec!["Zoomed into ".into()], area(*region)].concat(),
        Action::Move { at } => done_at("Moved", Some(*at)),
        Action::Click {
            button, count, at, ..
        } => done_at(&click(*button, *count), *at),
        Action::MouseDown { .. } => done_at("Pressed the mouse button", None),
        Action::MouseUp { .. } => done_at("Released the mouse button", None),
        Action::Drag { path, .. } => match (&path[..], acted.dragged_from) {
            ([start, .., end], _) => drag(*start, *end),
            ([end], Some(start)) => drag(start, *end),
            ([] | [_], _) => vec!["Dragged".into()],
        },
        Action::Scroll { at, dx, dy, .. } => done_at(&scroll(*dx, *dy), *at),
        Action::Type { text } => {
            let n_characters = counted(text.chars().count(), "character");
            vec![format!("Typed {n_characters}").into()]
        }
        Action::Key { keys, repeat } => vec![pressed(keys, *repeat).into()],
        Action::HoldKey { keys, ms } => vec![format!("Held {keys} for {ms} ms").into()],
        Action::Wait { ms } => vec![format!("Waited {ms} ms").into()],
        Action::CursorPosition => match acted.pointer {
            Some(at) => return vec![ResultPart::Coordinates(at)],
            None => vec!["The pointer's position is not known".into()],
        },
    };
    parts.push(".".into());
    parts
}

fn click(button: Button, count: u8) -> String {
    let verb = match (button, count) {
        (Button::Left, 1) => "Clicked",
        (Button::Left, 2) => "Double-clicked",
        (Button::Left, _) => "Triple-clicked",
        (Button::Middle, _) => "Middle-clicked",
        (Button::Right, _) => "Right-clicked",
    };
    match (button, count) {
        (Button::Left, _) | (_, 1) => verb.to_owned(),
        (Button::Middle | Button::Right, n) => format!("{verb} {n} times"),
    }
}

fn scroll(dx: i32, dy: i32) -> String {
    let turned = |by: i32, back: &str, forth: &str| {
        (by != 0).then(|| {
            format!(
                "{} {}",
                if by < 0 { back } else { forth },
                by.unsigned_abs()
            )
        })
    };
    let turns = [turned(dy, "up", "down"), turned(dx, "left", "right")];
    let turns: Vec<String> = turns.into_iter().flatten().collect();
    match turns.is_empty() {
        true => "Scrolled nowhere".to_owned(),
        false => format!("Scrolled {}", turns.join(" and ")),
    }
}

fn pressed(keys: &str, repeat: u8) -> String {
    match repeat {
        1 => format!("Pressed {keys}"),
        n => format!("Pressed {keys} {n} times"),
    }
}

fn drag(start: Point, end: Point) -> Vec<ResultPart> {
    vec![
        "Dragged from ".into(),
        start.into(),
        " to ".into(),
        end.into(),
    ]
}

fn area(region: Region) -> Vec<ResultPart> {
    let Region { x0, y0, x1, y1 } = region;
    let corner = |x, y| ResultPart::Point(Point { x, y });
    vec![corner(x0, y0), " to ".into(), corner(x1, y1)]
}

/// Appends the place, if there is one, and the keys that were held.
fn with_place(verb: &str, at: Option<Point>, modifiers: &[String]) -> String {
    let place = at.map(|at| plain(&[" at ".into(), at.into()]));
    format!("{verb}{}{}", place.unwrap_or_default(), held(modifiers))
}

fn held(modifiers: &[String]) -> String {
    match modifiers {
        [] => String::new(),
        keys => format!(" with {}", keys.join("+")),
    }
}

/// Writes parts with points in native pixels.
fn plain(parts: &[ResultPart]) -> String {
    write_parts(parts, |at| at)
}

fn name(button: Button) -> &'static str {
    match button {
        Button::Left => "left",
        Button::Middle => "middle",
        Button::Right => "right",
    }
}

#[cfg(test)]
#[path = "computer_tests.rs"]
mod tests;
