//! The tools in the format of Anthropic's API.

use deskhand_core::{
    action::ScreenSize,
    model::ModelRequest,
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{
    browser,
    generation::{Generation, ToolVersion},
    offer::{AnthropicOffer, BrowserForm},
};
use crate::tool_input::function_name;

/// Writes the tools of a request.
pub(super) fn entries(
    offer: AnthropicOffer,
    generation: Generation,
    request: &ModelRequest,
) -> Vec<Value> {
    let version = offer.tools;
    let entry = |tool: &ToolSpec| match tool.native {
        Some(NativeTool::Computer) => computer(tool, version, request.shown),
        Some(NativeTool::Shell) => shell(version),
        Some(NativeTool::Editor) => editor(version, generation),
        Some(NativeTool::Browser) if offer.browser == BrowserForm::Toolset => browser::entry(tool),
        Some(NativeTool::Browser) | None => function(tool),
    };
    request.tools.iter().map(entry).collect()
}

fn shell(version: ToolVersion) -> Value {
    let kind = match version {
        ToolVersion::Computer20241022 => "bash_20241022",
        ToolVersion::Toolset20260801
        | ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Function => "bash_20250124",
    };
    json!({"type": kind, "name": "bash"})
}

fn editor(version: ToolVersion, generation: Generation) -> Value {
    let (kind, name) = match version {
        ToolVersion::Computer20241022 => ("text_editor_20241022", "str_replace_editor"),
        _ if generation.has_old_editor() => ("text_editor_20250124", "str_replace_editor"),
        ToolVersion::Toolset20260801
        | ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Function => ("text_editor_20250728", "str_replace_based_edit_tool"),
    };
    json!({"type": kind, "name": name})
}

fn function(tool: &ToolSpec) -> Value {
    json!({
        "name": function_name(tool),
        "description": tool.description,
        "input_schema": tool.parameters,
    })
}

fn computer(tool: &ToolSpec, version: ToolVersion, shown: ScreenSize) -> Value {
    let dated = |kind: &str| {
        json!({
            "type": kind,
            "name": "computer",
            "display_width_px": shown.width,
            "display_height_px": shown.height,
        })
    };
    match version {
        ToolVersion::Toolset20260801 => json!({"type": "computer_toolset_20260801"}),
        ToolVersion::Computer20251124 => {
            let mut entry = dated("computer_20251124");
            entry["enable_zoom"] = true.into();
            entry
        }
        ToolVersion::Computer20250124 => dated("computer_20250124"),
        ToolVersion::Computer20241022 => dated("computer_20241022"),
        ToolVersion::Function => function(tool),
    }
}
