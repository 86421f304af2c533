//! The part of the log that a summary covers: the words of people in it, the plan, and the summary itself.

use std::{collections::HashMap, fmt::Write};

use deskhand_core::{
    event::{EventBody, PlanChanged, StepState},
    message::Role,
    tool::{ASK_USER, write_parts},
};

use super::{Sight, files};

const BEGINNING: &str = "[The conversation became too long for you, so everything before this point was summarized. \
                         First come the messages of people and their answers to your questions, word for word; the \
                         newest message is what you are to work on.]";
/// The length to which a message is shortened if there is no room for all of them, in bytes.
const SHORTENED_BYTES: usize = 400;

/// Returns the number of the oldest events that a summary covers. The summary is the last of them.
pub(crate) fn n_covered(log: &[EventBody]) -> usize {
    let is_summary =
        |body: &EventBody| matches!(body, EventBody::Summary(summary) if summary.text.is_some());
    log.iter()
        .rposition(is_summary)
        .map_or(0, |index| index + 1)
}

/// Returns the text that stands for the covered part of the log.
pub(super) fn retold(covered: &[EventBody], sight: &Sight<'_>) -> String {
    let mut words = said(covered, sight);
    shorten(&mut words, sight.most_words_bytes);
    let mut text = BEGINNING.to_owned();
    for one in &words {
        let _ = write!(text, "\n\n{one}");
    }
    let plan = covered.iter().rev().find_map(|body| {
        let EventBody::Plan(plan) = body else {
            return None;
        };
        Some(plan)
    });
    if let Some(plan) = plan {
        text.push_str("\n\n");
        write_plan(&mut text, plan);
    }
    if let Some(EventBody::Summary(summary)) = covered.last() {
        let summary = summary.text.as_deref().unwrap_or_default();
        let _ = write!(text, "\n\n[Your summary of everything else:]\n{summary}");
    }
    text
}

/// Returns the messages and answers of people, and notes about their files and about changes, oldest first.
fn said(covered: &[EventBody], sight: &Sight<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let mut attached = Vec::new();
    let mut questions = HashMap::new();
    for body in covered {
        if let EventBody::Message(message) = body
            && message.role == Role::User
        {
            words.push(format!("[A person said:]\n{}", message.content));
            attached.extend_from_slice(&message.attachments);
        } else if let EventBody::Placed(placed) = body {
            words.push(files::note(&attached, &placed.files, sight.files));
        } else if let EventBody::Told(told) = body {
            words.push(told.text.clone());
        } else if let EventBody::ToolUse(call) = body
            && call.turn.is_some()
            && call.tool == ASK_USER
        {
            let question = call.input["question"].as_str().unwrap_or_default();
            questions.insert(&call.call, question);
        } else if let EventBody::ToolResult(result) = body
            && !result.partial
            && let Some(question) = questions.remove(&result.call)
        {
            let answer = if result.parts.is_empty() {
                result.text.clone()
            } else {
                write_parts(&result.parts, sight.place)
            };
            words.push(format!("[You asked: {question}]\n[The answer:] {answer}"));
        }
    }
    words
}

/// Shortens the oldest texts, and then drops them, until all of them have at most this many bytes. The newest stays.
fn shorten(words: &mut Vec<String>, most_bytes: usize) {
    let mut n_bytes: usize = words.iter().map(String::len).sum();
    let n_old = words.len().saturating_sub(1);
    for one in words.iter_mut().take(n_old) {
        if n_bytes <= most_bytes {
            return;
        }
        if one.len() > SHORTENED_BYTES {
            n_bytes -= one.len();
            one.truncate(one.floor_char_boundary(SHORTENED_BYTES));
            one.push_str(" […]");
            n_bytes += one.len();
        }
    }
    let mut n_dropped = 0;
    while n_bytes > most_bytes && n_dropped < n_old {
        n_bytes -= words[n_dropped].len();
        n_dropped += 1;
    }
    words.drain(..n_dropped);
}

fn write_plan(text: &mut String, plan: &PlanChanged) {
    text.push_str("[Your plan:]");
    for step in &plan.steps {
        let state = match step.state {
            StepState::Pending => "to do",
            StepState::Doing => "doing",
            StepState::Done => "done",
        };
        let _ = write!(text, "\n- {state}: {}", step.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_words_go_first_and_the_newest_stays() {
        let long = |letter: &str| letter.repeat(1_000);
        let mut words = vec![long("a"), long("b"), long("c")];
        shorten(&mut words, 3_000);
        assert_eq!(words, [long("a"), long("b"), long("c")]);
        shorten(&mut words, 2_500);
        assert_eq!(words[0].len(), SHORTENED_BYTES + " […]".len());
        assert_eq!(words[1..], [long("b"), long("c")]);
        shorten(&mut words, 1_500);
        assert_eq!(words.len(), 2);
        shorten(&mut words, 10);
        assert_eq!(words, [long("c")]);
    }
}
