//! The calls of a step.

use std::fmt;

use deskhand_core::{
    action::{Action, Point, Region},
    decision::DecisionKind,
    model::{Check, ToolCall},
    tool::NativeTool,
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Value, json};
use serde_saphyr::{Location, Spanned};

use crate::{
    browser_input, declared,
    space::{Outside, Space},
};

/// The key of the check that a person must agree to before the call, as a vendor's model would request it.
const SAFETY_CHECK: &str = "safety_check";

/// A tool call: one tool with its own input, except that points may be given by colour.
#[derive(Debug)]
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    input: Spanned<Value>,
    safety_check: Option<String>,
}

impl<'de> Deserialize<'de> for ScriptedCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CallVisitor)
    }
}

/// Reads a map of one tool's name to its input, with an optional `safety_check`.
///
/// The session knows which tools exist.
struct CallVisitor;

impl<'de> Visitor<'de> for CallVisitor {
    type Value = ScriptedCall;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool's name and its input")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ScriptedCall, A::Error> {
        let (mut named, mut safety_check) = (Vec::new(), None);
        while let Some(name) = map.next_key::<String>()? {
            if name == SAFETY_CHECK {
                safety_check = Some(map.next_value()?);
            } else {
                named.push((name, map.next_value::<Spanned<Value>>()?));
            }
        }
        let mut named = named.into_iter();
        match (named.next(), named.next()) {
            (Some((tool, input)), None) => Ok(ScriptedCall {
                tool,
                input,
                safety_check,
            }),
            (None, _) | (Some(_), Some(_)) => Err(A::Error::custom(
                "a call names one tool, such as bash, and nothing else but safety_check",
            )),
        }
    }
}

impl ScriptedCall {
    pub(super) fn location(&self) -> Location {
        self.input.referenced
    }

    /// Returns the input, in which points are still to be found and placeholders to be filled in.
    pub(super) fn input(&self) -> Value {
        let mut input = self.input.value.clone();
        if let ("bash", Value::Object(fields)) = (&*self.tool, &mut input) {
            let run = || Value::String("run".to_owned());
            fields.entry("shell").or_insert_with(run);
        }
        input
    }

    /// Returns the checks that a person must agree to before the call.
    pub(super) fn checks(&self) -> impl Iterator<Item = Check> {
        let check = |prompt: &String| Check {
            kind: DecisionKind::SafetyCheck,
            prompt: prompt.clone(),
        };
        self.safety_check.iter().map(check)
    }
}

/// Converts the places in a call from the model's coordinates to the screen's.
///
/// A place outside the picture makes the call as invalid as a vendor's would be.
pub(super) fn on_screen(mut call: ToolCall, space: &Space) -> ToolCall {
    if call.tool == NativeTool::Browser.name() {
        match browser_input::read(&call.input, space) {
            Ok(input) => call.input = input,
            Err(outside) => call.problem = Some(outside),
        }
        return call;
    }
    if call.tool != NativeTool::Computer.name() {
        return call;
    }
    let (action, declaration) = declared::split(&call.input);
    if let Ok(action) = Action::deserialize(&action) {
        match moved(action, space) {
            Ok(action) => call.input = declared::join(json!(action), declaration),
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
