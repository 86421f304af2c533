//! Results of earlier calls, shortened to a line each.

use deskhand_core::{
    model::{CallResult, Item, REFUSED_BECAUSE, ToolCall},
    tool::ASK_USER,
};

/// The number of newest answers whose results stay as they are.
const N_WHOLE: usize = 4;
/// The length of a shortened result, in bytes.
const LINE_BYTES: usize = 160;
const CUT: &str = " […]";

/// Shortens the results of all calls except those of the newest answers, and drops the pictures and files before them.
/// People's answers stay as they are, also those with which they refused a call.
pub(crate) fn shorten_results(items: &mut [Item]) {
    let mut answers = items.iter().enumerate().rev();
    let is_answer = |item: &Item| matches!(item, Item::Answer { calls, .. } if !calls.is_empty());
    let whole_from = answers
        .by_ref()
        .filter(|(_, item)| is_answer(item))
        .nth(N_WHOLE - 1)
        .map_or(0, |(index, _)| index);
    shorten_all(&mut items[..whole_from]);
}

/// Shortens the results of all calls, and leaves out all pictures and files.
pub(crate) fn shorten_all(items: &mut [Item]) {
    let mut calls: &[ToolCall] = &[];
    for item in items {
        match item {
            Item::Answer {
                calls: of_answer, ..
            } => calls = of_answer,
            Item::Results(results) => {
                for result in results {
                    let asks = |call: &ToolCall| call.id == result.call && call.tool == ASK_USER;
                    let is_refusal = result.is_error && result.text.starts_with(REFUSED_BECAUSE);
                    if !is_refusal && !calls.iter().any(asks) {
                        shorten(result);
                    }
                }
            }
            Item::HandedBack { image, .. } => *image = None,
            Item::Files(files) => files.clear(),
            Item::Prompt { .. }
            | Item::Steering { .. }
            | Item::Note { .. }
            | Item::CutOff { .. } => {}
        }
    }
}

fn shorten(result: &mut CallResult) {
    result.image = None;
    let line = result.text.lines().next().unwrap_or_default();
    if line.len() <= LINE_BYTES && line.len() == result.text.trim_end().len() {
        return;
    }
    let end = line.floor_char_boundary(LINE_BYTES);
    result.text = format!("{}{CUT}", &line[..end]);
}
