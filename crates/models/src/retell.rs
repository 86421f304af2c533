//! Answers of one vendor's model told to another's, in words.

use deskhand_core::model::{CallResult, ToolCall};

/// In place of words where there are none and a vendor wants some.
pub(crate) const NOTHING: &str = "[nothing]";

pub(crate) fn answer(text: &str, calls: &[ToolCall]) -> String {
    let calls = calls
        .iter()
        .map(|call| format!("[Used {}: {}]", call.tool, call.input));
    let text = (!text.trim().is_empty()).then(|| text.to_owned());
    let told: Vec<String> = text.into_iter().chain(calls).collect();
    if told.is_empty() {
        NOTHING.to_owned()
    } else {
        told.join("\n")
    }
}

pub(crate) fn result(result: &CallResult) -> String {
    if result.is_error {
        format!("[It failed: {}]", result.text)
    } else {
        format!("[Result: {}]", result.text)
    }
}
