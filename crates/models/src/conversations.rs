//! Conversations in which anything happens, for tests of what vendors want of every request.

use deskhand_core::model::{CallResult, Item, Original, ToolCall};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use crate::testing::{browser_state, file, picture};

/// An answer as a vendor sends it, with the ids of its calls as we know them.
pub(crate) type Sent = (Value, Vec<String>);

/// What happens in a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Said(&'static str),
    Shown(bool),
    /// Files that came with a message: a picture, or a picture and a PDF.
    Files(bool),
    CutOff(&'static str),
    Stray,
    Answer {
        by: By,
        text: &'static str,
        came: Vec<Came>,
        /// Whether there are results at all.
        is_answered: bool,
    },
}

/// Who gave an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The model that is asked.
    Itself,
    /// Another of its vendor.
    Sibling,
    /// Another vendor's.
    Stranger,
}

/// What came of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Came {
    /// It was given up.
    Nothing,
    Result {
        is_error: bool,
        has_picture: bool,
    },
}

/// Conversations that begin with a prompt.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || select(vec!["", " \n", "words"]);
    let result = (any::<bool>(), any::<bool>());
    let result = result.prop_map(|(is_error, has_picture)| Came::Result {
        is_error,
        has_picture,
    });
    let came = prop_oneof![1 => Just(Came::Nothing), 6 => result];
    let by = select(vec![By::Itself, By::Itself, By::Sibling, By::Stranger]);
    let answer = (
        by,
        text(),
        prop::collection::vec(came, 0..4),
        prop::bool::weighted(0.9),
    );
    let answer = answer.prop_map(|(by, text, came, is_answered)| Step::Answer {
        by,
        text,
        came,
        is_answered,
    });
    let step = prop_oneof![
        2 => text().prop_map(Step::Said),
        1 => any::<bool>().prop_map(Step::Shown),
        1 => any::<bool>().prop_map(Step::Files),
        1 => text().prop_map(Step::CutOff),
        1 => Just(Step::Stray),
        6 => answer,
    ];
    prop::collection::vec(step, 0..12).prop_map(|mut steps| {
        steps.insert(0, Step::Said("begin"));
        steps
    })
}

/// The conversation. `sent` makes the answer with this number, text and number of calls.
pub(crate) fn items(
    vendor: &str,
    steps: &[Step],
    sent: impl Fn(usize, By, &str, usize) -> Sent,
) -> Vec<Item> {
    let mut items = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Said(text) => items.push(Item::Prompt {
                text: (*text).to_owned(),
            }),
            Step::Shown(has_picture) => items.push(Item::HandedBack {
                text: "Ada had the computer.".to_owned(),
                image: has_picture.then(picture),
            }),
            Step::Files(has_pdf) => {
                let mut files = vec![file("a.png", "image/png")];
                files.extend(has_pdf.then(|| file("b.pdf", "application/pdf")));
                items.push(Item::Files(files));
            }
            Step::CutOff(text) => items.push(Item::CutOff {
                text: (*text).to_owned(),
            }),
            // Directly behind an answer they would be its results.
            Step::Stray if !matches!(items.last(), Some(Item::Answer { .. })) => {
                items.push(Item::Results(vec![result("nobody's", false, true)]));
            }
            Step::Stray => {}
            Step::Answer {
                by,
                text,
                came,
                is_answered,
            } => {
                let (data, ids) = sent(index, *by, text, came.len());
                let calls = ids.iter().map(|id| call(id)).collect();
                let original = (*by != By::Stranger).then(|| Original {
                    vendor: vendor.to_owned(),
                    data,
                });
                items.push(Item::Answer {
                    thinking: String::new(),
                    text: (*text).to_owned(),
                    calls,
                    original,
                });
                if *is_answered && !ids.is_empty() {
                    items.push(Item::Results(results(&ids, came)));
                }
            }
        }
    }
    items
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        tool: "computer".to_owned(),
        input: json!({"action": "screenshot"}),
        checks: Vec::new(),
        problem: None,
    }
}

fn results(ids: &[String], came: &[Came]) -> Vec<CallResult> {
    let results = ids.iter().zip(came).filter_map(|(id, came)| match came {
        Came::Nothing => None,
        Came::Result {
            is_error,
            has_picture,
        } => Some(result(id, *is_error, *has_picture)),
    });
    results.collect()
}

fn result(call: &str, is_error: bool, has_picture: bool) -> CallResult {
    CallResult {
        call: call.to_owned(),
        text: if is_error { "It broke." } else { "" }.to_owned(),
        is_error,
        image: has_picture.then(picture),
        browser: Some(browser_state()),
    }
}

/// The beginnings of a conversation after which its model may have been asked.
pub(crate) fn beginnings(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    let is_question = |end: &usize| !matches!(items[end - 1], Item::Answer { .. });
    (1..=items.len())
        .filter(is_question)
        .map(|end| &items[..end])
}

/// Whether a conversation goes on as it was. The last part of what was said may have become longer.
pub(crate) fn goes_on(before: &[Value], after: &[Value], parts: &str) -> bool {
    let Some((last, first)) = before.split_last() else {
        return true;
    };
    let Some(same) = after.get(first.len()) else {
        return false;
    };
    let is_longer = match (last[parts].as_array(), same[parts].as_array()) {
        (Some(last), Some(same)) => same.starts_with(last),
        _ => last == same,
    };
    after.starts_with(first) && last["role"] == same["role"] && is_longer
}
