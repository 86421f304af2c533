//! Answers of one vendor's model told to another's, in words.

use deskhand_core::model::{CallResult, ToolCall};

/// In place of words where there are none and a vendor wants some.
pub(crate) const NOTHING: &str = "[nothing]";

/// Asks a model to go on with an answer that broke off.
pub(crate) const GO_ON: &str =
    "[Your answer broke off there. Go on from where it stopped, and do not repeat it.]";

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
