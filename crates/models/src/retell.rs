//! Retells in words to one vendor's model what another's did.
//!
//! The user tells it, not the model: a model that reads its own calls as text starts to write such text instead of
//! calls.

use deskhand_core::{
    action::Action,
    model::{CallResult, Image, ToolCall},
    tool::NativeTool,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{browser_input, declared, exchange::Exchange, space::Space};

/// Stands in for missing text if a vendor requires some.
pub(crate) const NOTHING: &str = "[nothing]";
/// Stands in for the result of a call that was abandoned.
pub(crate) const NOT_DONE: &str = "Not executed: the turn was interrupted.";
/// Asks a model to continue an answer that was cut off.
pub(crate) const GO_ON: &str =
    "[Your answer was cut off there. Go on from where it stopped, and do not repeat it.]";
/// Stands in for a picture that is no longer shown.
pub(crate) const OLD_PICTURE: &str = "[An older picture, no longer shown.]";

/// Text and a picture.
pub(crate) type Told<'a> = (String, Option<&'a Image>);

/// Returns true if a text is not blank.
pub(crate) fn is_something(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Retells the calls of an answer and their results, with places in the coordinates of `space`.
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

/// Returns the input of a call. Input that is not a valid action stays as it is.
fn input(call: &ToolCall, space: &Space) -> Value {
    if call.tool == NativeTool::Browser.name() {
        return browser_input::shown(&call.input, space);
    }
    let is_computer = call.tool == NativeTool::Computer.name();
    let (action, declaration) = declared::split(&call.input);
    match Action::deserialize(&action) {
        Ok(action) if is_computer => declared::join(json!(space.shown_action(action)), declaration),
        Ok(_) | Err(_) => call.input.clone(),
    }
}

/// Retells a result whose call is unknown.
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
