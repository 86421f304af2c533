//! Anthropic's browser toolset: its entry and the calls of its members.

use deskhand_core::{action::Point, tool::ToolSpec};
use serde_json::{Value, json};

use crate::{
    browser_input::REGION,
    input::{BadInput, Input},
    space::{Outside, Space},
};

/// The name of the toolset, which every result repeats.
pub(super) const TOOLSET: &str = "browser";

/// The members that are off unless they are asked for, with our actions for them.
const OFF_BY_DEFAULT: [(&str, &str); 4] = [
    ("file_upload", "upload"),
    ("javascript_exec", "script"),
    ("read_console", "console"),
    ("read_network", "network"),
];
/// The levels of a page that are read if the model does not say.
const USUAL_DEPTH: f64 = 15.0;
/// The CSS pixels of a click of the wheel.
const PIXELS_PER_CLICK: f64 = 100.0;
/// The clicks of the wheel if the model does not say.
const USUAL_CLICKS: f64 = 3.0;
const MOST_CLICKS: f64 = 10.0;
/// The longest time of a wait or of a held key, in seconds.
const LONGEST_SECONDS: f64 = 30.0;

/// A call that makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum BadMember {
    #[error(transparent)]
    Input(#[from] BadInput),
    #[error(transparent)]
    Outside(#[from] Outside),
    #[error("there is no action {0:?} in the browser")]
    NoMember(String),
    #[error("{0} must be a coordinate target: {{\"type\": \"coordinate\", \"x\": …, \"y\": …}}")]
    NoCoordinate(&'static str),
    #[error(
        "{0} must be a ref target: {{\"type\": \"ref\", \"ref\": …}}; read the page to get one"
    )]
    NoRef(&'static str),
    #[error("{0:?} is not a tab: list the tabs")]
    NoTab(String),
    #[error("scroll_direction must be up, down, left or right, not {0:?}")]
    Direction(String),
    #[error("{field} must be a number from {least} to {most}, not {got}")]
    Range {
        field: &'static str,
        least: f64,
        most: f64,
        got: f64,
    },
    #[error("files are given by paths on this computer; document_ids are unknown here")]
    NoDocuments,
}

/// Writes the entry of the toolset. Of the members that are off by default, those that our tool offers are on.
pub(super) fn entry(tool: &ToolSpec) -> Value {
    let actions = tool.parameters["properties"]["action"]["enum"].as_array();
    let offers = |action: &str| actions.is_some_and(|all| all.iter().any(|one| one == action));
    let on = OFF_BY_DEFAULT.iter().filter(|(_, action)| offers(action));
    let configs: serde_json::Map<String, Value> = on
        .map(|(member, _)| ((*member).to_owned(), json!({"enabled": true})))
        .collect();
    let mut entry = json!({"type": "browser_toolset_20260801"});
    if !configs.is_empty() {
        entry["configs"] = configs.into();
    }
    entry
}

/// Reads the call of a member as input of our tool. The error is for the model.
pub(super) fn read(member: &str, input: &Value, space: &Space) -> Result<Value, String> {
    let call = Member {
        input: Input::of(input),
        space: space.page(),
    };
    let read = call.read(member).and_then(|mut ours| {
        if let Some(tab) = call.tab()? {
            ours["tab"] = tab.into();
        }
        Ok(ours)
    });
    read.map_err(|problem| problem.to_string())
}

/// The input of a call.
struct Member<'a> {
    input: Input<'a>,
    /// The coordinates of the visible part of the page.
    space: Space,
}

impl Member<'_> {
    fn read(&self, member: &str) -> Result<Value, BadMember> {
        match member {
            "navigate" => Ok(acting(
                json!({"action": "navigate", "url": self.input.text("url")?}),
            )),
            "screenshot" => Ok(json!({"action": "screenshot"})),
            "zoom" => self.zoom(),
            "left_click" => self.click("click"),
            "right_click" | "middle_click" | "double_click" | "triple_click" => self.click(member),
            "hover" => self.at_target("hover"),
            "left_click_drag" | "left_mouse_down" | "left_mouse_up" | "mouse_move" | "scroll" => {
                self.pointer(member)
            }
            "scroll_to" | "form_input" | "file_upload" => self.element(member),
            "type" | "key" | "hold_key" | "wait" => self.keyboard(member),
            "read_page" => self.read_page(),
            "find" => Ok(json!({"action": "find", "text": self.input.text("query")?})),
            "get_page_text" => Ok(json!({"action": "page_text"})),
            "read_console" => Ok(json!({"action": "console"})),
            "read_network" => Ok(json!({"action": "network"})),
            "javascript_exec" => Ok(json!({"action": "script", "text": self.input.text("text")?})),
            "new_tab" | "list_tabs" => Ok(json!({"action": member})),
            "switch_tab" | "close_tab" => {
                self.input
                    .get("tab_id")
                    .ok_or(BadInput::Missing("tab_id"))?;
                let action = if member == "switch_tab" {
                    "select_tab"
                } else {
                    member
                };
                Ok(json!({"action": action}))
            }
            other => Err(BadMember::NoMember(other.to_owned())),
        }
    }

    fn zoom(&self) -> Result<Value, BadMember> {
        let corners = self
            .input
            .numbers::<4>(REGION, "four numbers, [x0, y0, x1, y1]")?;
        let region = self
            .space
            .region(corners.ok_or(BadInput::Missing(REGION))?)?;
        let corners = [region.x0, region.y0, region.x1, region.y1];
        Ok(json!({"action": "zoom", REGION: corners}))
    }

    fn click(&self, action: &str) -> Result<Value, BadMember> {
        let mut call = self.at_target(action)?;
        let modifiers = self.modifiers();
        if !modifiers.is_empty() {
            call["modifiers"] = modifiers.into();
        }
        Ok(call)
    }

    /// Returns the keys that are held meanwhile, as a list or joined by a plus.
    fn modifiers(&self) -> Vec<String> {
        let split = |chord: &str| {
            let keys = chord.split('+').map(str::trim);
            let keys = keys.filter(|key| !key.is_empty()).map(str::to_owned);
            keys.collect::<Vec<_>>()
        };
        match self.input.get("modifiers") {
            Some(Value::String(chord)) => split(chord),
            Some(Value::Array(keys)) => keys
                .iter()
                .filter_map(Value::as_str)
                .flat_map(split)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Acts at a target of either kind.
    fn at_target(&self, action: &str) -> Result<Value, BadMember> {
        let mut call = json!({"action": action});
        match self.reference("target") {
            Some(reference) => call["ref"] = reference.into(),
            None => {
                let at = self.coordinate("target")?;
                (call["x"], call["y"]) = (at.x.into(), at.y.into());
            }
        }
        Ok(acting(call))
    }

    fn pointer(&self, member: &str) -> Result<Value, BadMember> {
        let at = self.coordinate("target")?;
        Ok(acting(match member {
            "left_click_drag" => {
                let from = self.coordinate("from")?;
                json!({"action": "drag", "x": from.x, "y": from.y, "to_x": at.x, "to_y": at.y})
            }
            "left_mouse_down" => json!({"action": "mouse_down", "x": at.x, "y": at.y}),
            "left_mouse_up" => json!({"action": "mouse_up", "x": at.x, "y": at.y}),
            "mouse_move" => json!({"action": "hover", "x": at.x, "y": at.y}),
            _ => {
                let clicks = match self.input.get("scroll_amount") {
                    Some(_) => self.number("scroll_amount", 1.0, MOST_CLICKS)?,
                    None => USUAL_CLICKS,
                };
                let pixels = (clicks * PIXELS_PER_CLICK).round();
                let (dx, dy) = match self.input.text("scroll_direction")? {
                    "up" => (0.0, -pixels),
                    "down" => (0.0, pixels),
                    "left" => (-pixels, 0.0),
                    "right" => (pixels, 0.0),
                    other => return Err(BadMember::Direction(other.to_owned())),
                };
                json!({"action": "scroll", "x": at.x, "y": at.y, "dx": dx, "dy": dy})
            }
        }))
    }

    /// Acts on an element, which only a reference can name.
    fn element(&self, member: &str) -> Result<Value, BadMember> {
        let target = self.reference("target");
        let target = target.ok_or(BadMember::NoRef("target"))?;
        Ok(acting(match member {
            "scroll_to" => json!({"action": "scroll_to", "ref": target}),
            "form_input" => {
                let value = self.input.get("value").ok_or(BadInput::Missing("value"))?;
                json!({"action": "fill", "ref": target, "value": value})
            }
            _ => match (self.input.get("paths"), self.input.get("document_ids")) {
                (Some(paths), _) => json!({"action": "upload", "ref": target, "paths": paths}),
                (None, Some(_)) => return Err(BadMember::NoDocuments),
                (None, None) => return Err(BadInput::Missing("paths").into()),
            },
        }))
    }

    fn keyboard(&self, member: &str) -> Result<Value, BadMember> {
        let seconds = || self.number("duration", 0.0, LONGEST_SECONDS);
        Ok(acting(match member {
            "type" => json!({"action": "type", "text": self.input.text("text")?}),
            "key" => {
                let repeat = match self.input.get("repeat") {
                    Some(_) => self.number("repeat", 1.0, 100.0)?,
                    None => 1.0,
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "between 1 and 100"
                )]
                let repeat = repeat.round() as u8;
                json!({"action": "press", "keys": self.input.text("text")?, "repeat": repeat})
            }
            "hold_key" => {
                let keys = self.input.text("text")?;
                json!({"action": "hold_key", "keys": keys, "seconds": seconds()?})
            }
            _ => json!({"action": "pause", "seconds": seconds()?}),
        }))
    }

    fn read_page(&self) -> Result<Value, BadMember> {
        let depth = match self.input.get("depth") {
            Some(_) => self.number("depth", 1.0, f64::from(u16::MAX))?.round(),
            None => USUAL_DEPTH,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 65535"
        )]
        let depth = depth as u16;
        let mut call = json!({"action": "read_page", "depth": depth});
        if let Some(filter) = self.input.text_or_nothing("filter")? {
            call["filter"] = filter.into();
        }
        if let Some(reference) = self.input.text_or_nothing("ref")? {
            call["ref"] = our_ref(reference).into();
        }
        Ok(call)
    }

    /// Returns the reference of a target. Returns `None` if the target is not one.
    fn reference(&self, field: &str) -> Option<String> {
        let target = self.input.get(field)?;
        let reference = target["ref"].as_str().or(target.as_str());
        reference.map(our_ref)
    }

    fn coordinate(&self, field: &'static str) -> Result<Point, BadMember> {
        let target = self.input.get(field).ok_or(BadInput::Missing(field))?;
        let target = Input::of(target);
        match (target.get("x"), target.get("y")) {
            (Some(_), Some(_)) => Ok(self.space.point(target.number("x")?, target.number("y")?)?),
            _ => Err(BadMember::NoCoordinate(field)),
        }
    }

    fn number(&self, field: &'static str, least: f64, most: f64) -> Result<f64, BadMember> {
        let got = self.input.number(field)?;
        if (least..=most).contains(&got) {
            Ok(got)
        } else {
            Err(BadMember::Range {
                field,
                least,
                most,
                got,
            })
        }
    }

    /// Returns the number of the tab, if the call names one.
    fn tab(&self) -> Result<Option<u32>, BadMember> {
        let Some(id) = self.input.get("tab_id") else {
            return Ok(None);
        };
        let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let digits = text.trim_start_matches(|one: char| !one.is_ascii_digit());
        let number = digits.parse();
        number
            .map(Some)
            .map_err(|_digits| BadMember::NoTab(text.chars().take(40).collect()))
    }
}

/// Asks for a picture after the call. Only the last call of a batch gets it.
fn acting(mut call: Value) -> Value {
    call["look"] = true.into();
    call
}

/// Converts a reference from the vendor's spelling: `ref_12` is `e12`, and `ref_f1e12` is `f1e12`.
fn our_ref(text: &str) -> String {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    match text.strip_prefix("ref_") {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => format!("e{rest}"),
        Some(rest) => rest.to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "browser_tests.rs"]
mod tests;
