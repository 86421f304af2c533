//! What a vendor's model did, told to another's in words.
//!
//! What was done is told by the user, not by the model: a model that reads its own calls as text
//! begins to write such text instead of calls.

use deskhand_core::{
    action::Action,
    model::{CallResult, Image, ToolCall},
    tool::NativeTool,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{exchange::Exchange, space::Space};

/// In place of words where there are none and a vendor wants some.
pub(crate) const NOTHING: &str = "[nothing]";
/// In place of the result of a call that was given up.
pub(crate) const NOT_DONE: &str = "Not executed: the turn was interrupted.";
/// Asks a model to go on with an answer that broke off.
pub(crate) const GO_ON: &str =
    "[Your answer broke off there. Go on from where it stopped, and do not repeat it.]";
/// In place of a picture that is shown no more.
pub(crate) const OLD_PICTURE: &str = "[An older picture, no longer shown.]";

/// Words and a picture.
pub(crate) type Told<'a> = (String, Option<&'a Image>);

/// Whether there is something in a text.
pub(crate) fn is_something(text: &str) -> bool {
    !text.trim().is_empty()
}

/// What was done after an answer, call by call, with places as a model says them that counts in `space`.
pub(crate) fn done<'a>(exchange: &Exchange<'a>, space: &Space) -> Vec<Told<'a>> {
    let of_call = |call: &'a ToolCall| {
        let result = exchange.result(&call.id);
        let came = result.map_or_else(|| outcome(NOT_DONE, true), said);
        let told = format!(
            "[You used {} with {}. {came}]",
            call.tool,
            input(call, space)
        );
        (told, result.and_then(|result| result.image.as_ref()))
    };
    let calls = exchange.calls.iter().map(of_call);
    let is_stray = |result: &&CallResult| exchange.calls.iter().all(|call| call.id != result.call);
    let others = exchange.results.iter().filter(is_stray);
    calls.chain(others.map(stray)).collect()
}

/// What a call asks for. What nobody could read stays as it is.
fn input(call: &ToolCall, space: &Space) -> Value {
    let is_computer = call.tool == NativeTool::Computer.name();
    let action = is_computer.then(|| Action::deserialize(&call.input));
    match action {
        Some(Ok(action)) => json!(space.shown_action(action)),
        Some(Err(_)) | None => call.input.clone(),
    }
}

/// A result whose call is not known.
pub(crate) fn stray(result: &CallResult) -> Told<'_> {
    (format!("[{}]", said(result)), result.image.as_ref())
}

fn said(result: &CallResult) -> String {
    outcome(&result.text, result.is_error)
}

fn outcome(text: &str, is_error: bool) -> String {
    let text = if is_something(text) { text } else { "nothing" };
    let what = if is_error { "It failed" } else { "Result" };
    format!("{what}: {text}")
}
