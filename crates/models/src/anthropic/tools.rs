//! The tools as Anthropic's models are offered them.

use deskhand_core::action::ScreenSize;
use serde_json::{Value, json};

use super::generation::{Generation, ToolVersion};
use crate::functions;

/// The tools of a request.
pub(super) fn entries(
    version: ToolVersion,
    generation: Generation,
    shown: ScreenSize,
) -> Vec<Value> {
    let bash = match version {
        ToolVersion::Computer20241022 => "bash_20241022",
        ToolVersion::Toolset20260801
        | ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Function => "bash_20250124",
    };
    let (editor, editor_name) = match version {
        ToolVersion::Computer20241022 => ("text_editor_20241022", "str_replace_editor"),
        _ if generation.has_old_editor() => ("text_editor_20250124", "str_replace_editor"),
        ToolVersion::Toolset20260801
        | ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Function => ("text_editor_20250728", "str_replace_based_edit_tool"),
    };
    let mut entries = vec![
        computer(version, shown),
        json!({"type": bash, "name": "bash"}),
        json!({"type": editor, "name": editor_name}),
    ];
    entries.extend(functions::of_every_model().map(|function| {
        json!({
            "name": function.name,
            "description": function.description,
            "input_schema": function.parameters,
        })
    }));
    entries
}

fn computer(version: ToolVersion, shown: ScreenSize) -> Value {
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
        ToolVersion::Function => {
            let function = functions::computer(shown);
            json!({
                "name": function.name,
                "description": function.description,
                "input_schema": function.parameters,
            })
        }
    }
}
