//! The result of a call.

use deskhand_core::{
    sandbox::Frame,
    tool::{ResultPart, write_parts},
};
use serde_json::Value;

/// The result of a call that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The text for the model and for people. Points in it are native pixels.
    pub parts: Vec<ResultPart>,
    /// A picture of the screen.
    pub picture: Option<Frame>,
    /// Facts for programs, such as a command's exit code.
    pub state: Option<Value>,
    /// True if it counts as a failure, so that the rest of a batch is not carried out.
    pub is_error: bool,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self::parts(vec![ResultPart::Text(text.into())])
    }

    pub fn parts(parts: Vec<ResultPart>) -> Self {
        Self {
            parts,
            picture: None,
            state: None,
            is_error: false,
        }
    }

    /// Returns the text as people read it, with points in native pixels.
    pub fn for_people(&self) -> String {
        write_parts(&self.parts, |at| at)
    }

    /// Returns the parts to store besides the text: all of them if one is a point, otherwise none, since the text is
    /// enough.
    pub(crate) fn stored_parts(&self) -> Vec<ResultPart> {
        let is_text = |part: &ResultPart| matches!(part, ResultPart::Text(_));
        if self.parts.iter().all(is_text) {
            Vec::new()
        } else {
            self.parts.clone()
        }
    }
}

/// The reason why a call failed, for the model and for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

impl From<&str> for ToolFailure {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<ToolFailure> for ToolOutput {
    fn from(failure: ToolFailure) -> Self {
        Self {
            is_error: true,
            ..Self::text(failure.0)
        }
    }
}
