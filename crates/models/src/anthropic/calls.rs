//! Tool calls of Anthropic's models, in every version of the tools, as calls of ours.

use deskhand_core::model::ToolCall;
use serde_json::Value;

use crate::{space::Space, tool_input};

/// The name of the set of tools that the computer is in its newest form.
pub(super) const TOOLSET: &str = "computer";

/// Reads a `tool_use` block. What makes no sense stays as it is, with the problem told.
pub(super) fn read(block: &Value, space: &Space) -> ToolCall {
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let (name, input) = (text("name"), &block["input"]);
    let (tool, read) = if block["toolset_name"] == TOOLSET {
        (
            "computer".to_owned(),
            tool_input::read_action(name, input, space),
        )
    } else {
        tool_input::read(name, input, space)
    };
    let (input, problem) = match read {
        Ok(input) => (input, None),
        Err(problem) => (input.clone(), Some(problem)),
    };
    ToolCall {
        id: text("id").to_owned(),
        tool,
        input,
        checks: Vec::new(),
        problem,
    }
}
