//! Answers that were given with one form of the tools, sent back with another.
//!
//! A session may change its model, and a model may change the form of the computer tool that it accepts. Earlier
//! answers must read as if the current form had always been used.

use serde_json::{Value, json};

use super::{
    EarlierThinking,
    calls::TOOLSET,
    generation::{Generation, Thinking, ToolVersion},
};

/// Returns the blocks of an answer for a request to `generation` with these tools.
///
/// Returns `None` if the answer can only be retold in words. `original` is the data that [`super::stream`] stored.
/// Thinking goes back only to the model that produced it.
pub(super) fn blocks(
    original: &Value,
    generation: Generation,
    tools: ToolVersion,
    thinking: EarlierThinking,
) -> Option<Vec<Value>> {
    let sent = original["content"].as_array()?;
    let by = original["model"].as_str().map(Generation::of);
    let is_same_model = by.is_none_or(|by| by == generation);
    // These models require every call to follow its thinking.
    if !is_same_model && generation.thinking() == Thinking::Budget {
        return None;
    }
    let kept = sent.iter().filter(|block| {
        let is_foreign = !is_same_model && is_bound(block);
        let is_dropped = thinking == EarlierThinking::Dropped && is_thinking(block);
        !is_foreign && !is_dropped
    });
    let blocks: Vec<Value> = kept.map(|block| in_form(block, tools)).collect();
    (!blocks.is_empty()).then_some(blocks)
}

/// The mark of an answer to a request without earlier thinking, in its stored data.
pub(super) const BEGINS_ANEW: &str = "begins_anew";

/// Returns true if this model gave the answer after its earlier thinking was refused.
pub(super) fn begins_anew(original: &Value, generation: Generation) -> bool {
    let by = original["model"].as_str().map(Generation::of);
    original[BEGINS_ANEW] == true && by == Some(generation)
}

/// Returns true if a block is thinking, which a vendor may bind to the conversation before it.
pub(super) fn is_thinking(block: &Value) -> bool {
    matches!(
        block["type"].as_str(),
        Some("thinking" | "redacted_thinking")
    )
}

/// Returns true if only the model that produced this block may get it back.
pub(super) fn is_bound(block: &Value) -> bool {
    is_thinking(block) || block["type"] == "compaction"
}

/// Converts a call of the computer to the form of these tools. Everything else stays as it is.
fn in_form(block: &Value, tools: ToolVersion) -> Value {
    let is_member = block["toolset_name"] == TOOLSET;
    let is_dated = block["type"] == "tool_use"
        && block["name"] == "computer"
        && block["toolset_name"].is_null()
        && block["input"]["action"].is_string();
    match tools {
        ToolVersion::Toolset20260801 if is_dated => {
            let mut input = block["input"].clone();
            let action = input
                .as_object_mut()
                .and_then(|input| input.remove("action"));
            json!({
                "type": "tool_use",
                "id": block["id"],
                "name": action,
                "toolset_name": TOOLSET,
                "input": input,
            })
        }
        ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Computer20241022
        | ToolVersion::Function
            if is_member =>
        {
            let mut input = block["input"].clone();
            input["action"] = block["name"].clone();
            json!({"type": "tool_use", "id": block["id"], "name": "computer", "input": input})
        }
        ToolVersion::Toolset20260801
        | ToolVersion::Computer20251124
        | ToolVersion::Computer20250124
        | ToolVersion::Computer20241022
        | ToolVersion::Function => block.clone(),
    }
}
