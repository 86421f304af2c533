//! `browser_*`: the browser of a session's computer, driven by its pages.

mod forms;
mod navigation;
mod pointer;
mod reading;

use serde_json::{Value, json};

use super::{AnyTool, BROWSER, hand::HandActs};

/// The name of the agent's own tool that carries them out.
const BROWSER_TOOL: &str = "browser";
const IN_GROUP: &[&str] = &[BROWSER];

/// The tool that the server refuses where scripts are not allowed.
pub(super) const SCRIPT_TOOL: &str = "browser_evaluate";

/// All of them, in the order in which clients see them.
pub(super) static TOOLS: &[&dyn AnyTool] = &[
    &navigation::NAVIGATE,
    &reading::SNAPSHOT,
    &reading::FIND,
    &pointer::CLICK,
    &forms::TYPE,
    &forms::FILL_FORM,
    &forms::SELECT_OPTION,
    &forms::PRESS_KEY,
    &reading::TAKE_SCREENSHOT,
    &reading::TEXT,
    &reading::WAIT_FOR,
    &pointer::SCROLL,
    &pointer::HOVER,
    &pointer::DRAG,
    &navigation::TABS,
    &navigation::HANDLE_DIALOG,
    &forms::FILE_UPLOAD,
    &navigation::DOWNLOADS,
    &reading::CONSOLE_MESSAGES,
    &reading::NETWORK_REQUESTS,
    &reading::EVALUATE,
    &reading::PDF_SAVE,
    &navigation::RESIZE,
    &navigation::STORAGE_STATE,
];

/// Returns one action of the browser. Absent fields of `input` are null.
fn browse(session: String, input: Value) -> HandActs {
    HandActs::one(session, BROWSER_TOOL, without_nulls(input))
}

/// Reads the page after an action, if the client asks for it.
fn and_read(acts: HandActs, snapshot: Option<bool>, tab: Option<u32>) -> HandActs {
    if snapshot == Some(true) {
        let read = json!({ "action": "read_page", "tab": tab });
        acts.then(BROWSER_TOOL, without_nulls(read))
    } else {
        acts
    }
}

fn without_nulls(mut input: Value) -> Value {
    if let Value::Object(fields) = &mut input {
        fields.retain(|_, value| !value.is_null());
    }
    input
}
