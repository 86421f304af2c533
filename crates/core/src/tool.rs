//! Tools as data: their offers to a model, and the parts of their results.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::action::Point;

/// A tool as it is offered to a model. A session keeps the offers of its first turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON schema of the input. A tool with a native counterpart has the schema that vendors train their models
    /// on; `models` translates calls in that spelling into ours.
    pub parameters: serde_json::Value,
    /// The vendor's own tool that can be offered in place of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeTool>,
}

/// The name of the tool whose results are people's answers. They stay when a long conversation is shortened.
pub const ASK_USER: &str = "ask_user";

/// The tools of one session, in the order in which they are offered to a model.
pub type ToolSpecs = Arc<[ToolSpec]>;

/// The sentence of a tool's description that names the unit of its points. Models that count otherwise get another.
pub const POINTS_ARE_PIXELS: &str = "coordinates are pixels from their top left corner";

/// A tool that vendors train their models on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeTool {
    Computer,
    Shell,
    Editor,
    Browser,
}

impl NativeTool {
    /// Returns the name of our tool for it, in the log and in approval rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Shell => "bash",
            Self::Editor => "editor",
            Self::Browser => "browser",
        }
    }
}

/// A part of a result's text. Points are separate from the text, since each model counts in pixels of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultPart {
    Text(String),
    /// A point in native pixels, written `(x, y)`.
    Point(Point),
    /// The same, written `X=…, Y=…`: the form in which models expect a pointer's position.
    Coordinates(Point),
}

impl From<&str> for ResultPart {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ResultPart {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Point> for ResultPart {
    fn from(at: Point) -> Self {
        Self::Point(at)
    }
}

/// Writes a result's parts as one text, with every point translated by `place`.
pub fn write_parts(parts: &[ResultPart], place: impl Fn(Point) -> Point) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            ResultPart::Text(words) => text.push_str(words),
            ResultPart::Point(at) => {
                let Point { x, y } = place(*at);
                text.push_str(&format!("({x}, {y})"));
            }
            ResultPart::Coordinates(at) => {
                let Point { x, y } = place(*at);
                text.push_str(&format!("X={x}, Y={y}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_translated_and_nothing_else() {
        let parts = [
            ResultPart::from("Dragged 4 from "),
            Point { x: 10, y: 20 }.into(),
            " to ".into(),
            Point { x: 0, y: 0 }.into(),
            ". ".into(),
            ResultPart::Coordinates(Point { x: 512, y: 384 }),
        ];
        let halved = |at: Point| Point {
            x: at.x / 2,
            y: at.y / 2,
        };
        assert_eq!(
            write_parts(&parts, halved),
            "Dragged 4 from (5, 10) to (0, 0). X=256, Y=192"
        );
        assert_eq!(
            write_parts(&parts, |at| at),
            "Dragged 4 from (10, 20) to (0, 0). X=512, Y=384"
        );
    }

    #[test]
    fn parts_are_stored_by_kind() {
        let parts = [
            ResultPart::from("at "),
            ResultPart::Point(Point { x: 1, y: 2 }),
        ];
        let stored = serde_json::to_string(&parts).unwrap();
        assert_eq!(stored, r#"[{"text":"at "},{"point":{"x":1,"y":2}}]"#);
    }
}
