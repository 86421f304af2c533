//! An answer of the model, assembled from the log.

use deskhand_core::{
    action::Point,
    browser::BrowserState,
    event::{Cost, Said, Screenshot, ToolResult, ToolUse},
    model::{CallResult, Item, Original, ToolCall},
    tool::{NativeTool, write_parts},
};
use serde::Deserialize;

use super::{Blocks, PictureOf, Sight};

/// The result of a call whose turn ended without one.
const INTERRUPTED: &str = "Interrupted: it is not known whether it was done.";
/// The note in place of a picture that is no longer shown.
const NO_PICTURE: &str = "[The picture is not shown any more.]";
/// The note for a model whose answer was empty.
const NUDGE: &str = "[Your last answer was empty. Go on with the task, or say that you are done.]";
/// The note for a model that only announced its next step.
const ASIDE: &str =
    "[You said what comes next and did nothing. Go on with the task, or say that you are done.]";
/// The note for a model whose answer was cut off as too long.
const TOO_LONG: &str = "[Your answer was cut off because it became too long. Go on from there.]";
/// The same note, if there was no text and no complete call by then.
const TOO_LONG_FOR_ANY: &str = "[Your answer was cut off because it became too long, before any part of it was \
                                complete. Go on in smaller steps.]";

/// The words and calls of one answer, and the results so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    thinking: Blocks,
    text: Blocks,
    calls: Vec<Call>,
    /// The answer as its vendor sent it.
    original: Option<Original>,
    /// True if the model has finished the answer. The log then has its cost.
    is_whole: bool,
}

#[derive(Debug)]
struct Call {
    call: ToolCall,
    result: Option<CallResult>,
}

impl Answer {
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(super) fn has_results(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_some())
    }

    pub(super) fn think(&mut self, said: &Said) {
        self.is_whole = false;
        self.thinking.push(said);
    }

    pub(super) fn say(&mut self, said: &Said) {
        self.is_whole = false;
        self.text.push(said);
    }

    pub(super) fn call(&mut self, tool_use: &ToolUse) {
        let call = ToolCall {
            id: tool_use.call.clone(),
            tool: tool_use.tool.clone(),
            input: tool_use.input.clone(),
            checks: tool_use.checks.clone(),
            problem: None,
        };
        self.calls.push(Call { call, result: None });
    }

    /// Adds the result of a call, with points in the model's own pixels. Logs of earlier versions have no parts;
    /// their text is used as it is.
    pub(super) fn result(&mut self, result: &ToolResult, place: &dyn Fn(Point) -> Point) {
        let mut calls = self.calls.iter_mut();
        let open = calls.find(|call| call.call.id == result.call && call.result.is_none());
        if let Some(call) = open {
            call.result = Some(CallResult {
                call: result.call.clone(),
                text: if result.parts.is_empty() {
                    result.text.clone()
                } else {
                    write_parts(&result.parts, place)
                },
                is_error: result.is_error,
                image: None,
                browser: browser_state(&call.call, result),
            });
        }
    }

    /// Adds the picture to its result, or a note that there was one.
    pub(super) fn picture(&mut self, screenshot: &Screenshot, sight: &Sight<'_>) {
        let mut calls = self.calls.iter_mut().rev();
        let is_its = |call: &&mut Call| Some(&call.call.id) == screenshot.call.as_ref();
        let Some(Call {
            call,
            result: Some(result),
        }) = calls.find(is_its)
        else {
            return;
        };
        let subject = if call.tool == NativeTool::Browser.name() {
            PictureOf::Page
        } else if call.input["action"] == "zoom" {
            PictureOf::PartOfScreen
        } else {
            PictureOf::Screen
        };
        result.image = sight.image(screenshot, subject).cloned();
        if result.image.is_none() {
            if !result.text.is_empty() {
                result.text.push('\n');
            }
            result.text.push_str(NO_PICTURE);
        }
    }

    /// Marks the answer as complete. Returns a note for the model if the answer leaves it nothing to react to.
    pub(super) fn complete(
        &mut self,
        cost: &Cost,
        original: Option<Original>,
    ) -> Option<&'static str> {
        self.is_whole = true;
        self.original = original;
        if self.calls.iter().any(|call| call.result.is_none()) {
            return None;
        }
        match (cost.unfinished, self.text.is_empty()) {
            (true, false) => Some(TOO_LONG),
            (true, true) => Some(TOO_LONG_FOR_ANY),
            (false, true) => Some(NUDGE),
            (false, false) => cost.aside.then_some(ASIDE),
        }
    }

    /// Drops the text and thinking of an incomplete answer.
    pub(super) fn forget(&mut self) {
        if !self.is_whole {
            self.thinking = Blocks::default();
            self.text = Blocks::default();
        }
    }

    /// Takes the text of an answer that broke off.
    pub(super) fn take_cut_off(&mut self) -> Option<String> {
        if self.is_whole {
            return None;
        }
        self.thinking = Blocks::default();
        let text = std::mem::take(&mut self.text).whole();
        (!text.trim().is_empty()).then_some(text)
    }

    /// Takes the answer and the results of its calls as items. An answer that consists of thinking alone is left out:
    /// it said nothing and called nothing. `is_whole` is kept.
    pub(super) fn take(&mut self) -> Vec<Item> {
        let is_whole = self.is_whole;
        let answer = std::mem::replace(
            self,
            Self {
                is_whole,
                ..Self::default()
            },
        );
        let text = answer.text.whole();
        if text.trim().is_empty() && answer.calls.is_empty() {
            return Vec::new();
        }
        let (calls, results): (Vec<_>, Vec<_>) = answer.calls.into_iter().map(Call::split).unzip();
        let said = Item::Answer {
            thinking: answer.thinking.whole(),
            text,
            calls,
            original: answer.original,
        };
        let results = (!results.is_empty()).then_some(Item::Results(results));
        std::iter::once(said).chain(results).collect()
    }
}

impl Call {
    fn split(self) -> (ToolCall, CallResult) {
        let interrupted = CallResult {
            call: self.call.id.clone(),
            text: INTERRUPTED.to_owned(),
            is_error: true,
            image: None,
            browser: None,
        };
        (self.call, self.result.unwrap_or(interrupted))
    }
}

/// Returns the state of the browser that a result reports. Results of earlier versions have none.
fn browser_state(call: &ToolCall, result: &ToolResult) -> Option<BrowserState> {
    let state = result.state.as_ref()?;
    let is_browser = call.tool == NativeTool::Browser.name();
    is_browser
        .then(|| BrowserState::deserialize(state).ok())
        .flatten()
}
