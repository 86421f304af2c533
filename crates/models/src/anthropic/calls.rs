//! Converts tool calls of Anthropic's models, in every version of the tools, to our calls.

use deskhand_core::{model::ToolCall, tool::NativeTool};
use serde_json::Value;

use super::browser;
use crate::{space::Space, tool_input};

/// The name of the toolset that the computer is in its newest form.
pub(super) const TOOLSET: &str = "computer";

/// Reads a `tool_use` block. Input that makes no sense stays as it is, and the call carries the problem.
pub(super) fn read(block: &Value, space: &Space) -> ToolCall {
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let (name, input) = (text("name"), &block["input"]);
    let (tool, read) = if block["toolset_name"] == TOOLSET {
        (
            "computer".to_owned(),
            tool_input::read_action(name, input, space),
        )
    } else if block["toolset_name"] == browser::TOOLSET {
        (
            NativeTool::Browser.name().to_owned(),
            browser::read(name, input, space),
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
