//! The calls of a step.

use deskhand_core::{
    action::{Action, Point, Region},
    decision::DecisionKind,
    model::{Check, ToolCall, ToolRequest},
};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Value, json};
use serde_saphyr::{Location, Spanned};

use crate::space::{Outside, Space};

/// A tool call: one tool with its own input, except that points may be given by colour.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    input: Spanned<Value>,
    safety_check: Option<String>,
}

/// The same as it is written down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFile {
    computer: Option<Spanned<Value>>,
    bash: Option<Spanned<Value>>,
    editor: Option<Spanned<Value>>,
    ask_user: Option<Spanned<Value>>,
    fill_secret: Option<Spanned<Value>>,
    /// What a person must agree to before it, as a vendor's model would ask for it.
    safety_check: Option<String>,
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = CallFile::deserialize(deserializer)?;
        let tools = [
            ("computer", file.computer),
            ("bash", file.bash),
            ("editor", file.editor),
            ("ask_user", file.ask_user),
            ("fill_secret", file.fill_secret),
        ];
        let mut named = tools
            .into_iter()
            .filter_map(|(tool, input)| Some((tool, input?)));
        match (named.next(), named.next()) {
            (Some((tool, input)), None) => Ok(Self {
                tool,
                input,
                safety_check: file.safety_check,
            }),
            (None, _) | (Some(_), Some(_)) => Err(D::Error::custom(
                "a call names one tool: computer, bash, editor, ask_user or fill_secret",
            )),
        }
    }
}

impl Call {
    pub(super) fn location(&self) -> Location {
        self.input.referenced
    }

    /// What is sent once points are found and placeholders filled in.
    pub(super) fn input(&self) -> Value {
        let mut input = self.input.value.clone();
        if let ("bash", Value::Object(fields)) = (self.tool, &mut input) {
            let run = || Value::String("run".to_owned());
            fields.entry("shell").or_insert_with(run);
        }
        input
    }

    /// What a person must agree to before it.
    pub(super) fn checks(&self) -> impl Iterator<Item = Check> {
        let check = |prompt: &String| Check {
            kind: DecisionKind::SafetyCheck,
            prompt: prompt.clone(),
        };
        self.safety_check.iter().map(check)
    }
}

/// The call with its places on the screen instead of where its model points. One that points elsewhere
/// is as bad as a vendor's.
pub(super) fn on_screen(mut call: ToolCall, space: &Space) -> ToolCall {
    if let Ok(ToolRequest::Computer(action)) = ToolRequest::parse(&call.tool, &call.input) {
        match moved(action, space) {
            Ok(action) => call.input = json!(action),
            Err(outside) => call.problem = Some(outside.to_string()),
        }
    }
    call
}

fn moved(action: Action, space: &Space) -> Result<Action, Outside> {
    let point = |at: Point| space.point(at.x.into(), at.y.into());
    let maybe = |at: Option<Point>| at.map(point).transpose();
    Ok(match action {
        Action::Zoom { region } => {
            let Region { x0, y0, x1, y1 } = region;
            let region = space.region([x0, y0, x1, y1].map(f64::from))?;
            Action::Zoom { region }
        }
        Action::Move { at } => Action::Move { at: point(at)? },
        Action::Click {
            button,
            count,
            at,
            modifiers,
        } => Action::Click {
            button,
            count,
            at: maybe(at)?,
            modifiers,
        },
        Action::Drag { path, modifiers } => Action::Drag {
            path: path.into_iter().map(point).collect::<Result<_, _>>()?,
            modifiers,
        },
        Action::Scroll {
            at,
            dx,
            dy,
            modifiers,
        } => Action::Scroll {
            at: maybe(at)?,
            dx,
            dy,
            modifiers,
        },
        Action::Screenshot
        | Action::MouseDown { .. }
        | Action::MouseUp { .. }
        | Action::Type { .. }
        | Action::Key { .. }
        | Action::HoldKey { .. }
        | Action::Wait { .. }
        | Action::CursorPosition => action,
    })
}
