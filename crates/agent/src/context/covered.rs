//! The part of the log that a summary covers: the words of people in it, the plan, and the summary itself.

use std::{collections::HashMap, fmt::Write};

use deskhand_core::{
    event::{EventBody, NotDone, PlanChanged, StepState},
    message::Role,
    model::REFUSED_BECAUSE,
    tool::{ASK_USER, write_parts},
};

use super::{Sight, files};

const BEGINNING: &str = "[The conversation became too long for you, so everything before this point was summarized. \
                         First come the messages of people and their answers, word for word unless something is said \
                         to be left out; the newest message is what you are to work on.]";
/// The length to which a message is shortened if there is no room for all of them, in bytes.
const SHORTENED_BYTES: usize = 400;
/// The same for the first message, which mostly is the task.
const SHORTENED_FIRST_BYTES: usize = 2_000;
const LEFT_OUT: &str = " [… The rest of this message is left out.]";

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
    let mut wanted = HashMap::new();
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
        {
            if call.tool == ASK_USER {
                let question = call.input["question"].as_str().unwrap_or_default();
                questions.insert(&call.call, question);
            } else {
                wanted.insert(&call.call, call.description.as_ref().unwrap_or(&call.tool));
            }
        } else if let EventBody::ToolResult(result) = body
            && result.not_done == Some(NotDone::Refused)
            && result.text.starts_with(REFUSED_BECAUSE)
            && let Some(wanted) = wanted.remove(&result.call)
        {
            words.push(format!("[You wanted: {wanted}]\n[{}]", result.text));
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

/// Shortens the oldest texts, and then drops them, until all of them have at most this many bytes. The first is shortened
/// last and not dropped, and the newest stays whole.
fn shorten(words: &mut Vec<String>, most_bytes: usize) {
    let mut n_bytes: usize = words.iter().map(String::len).sum();
    let newest = words.len().saturating_sub(1);
    let first = (newest > 0).then_some((0, SHORTENED_FIRST_BYTES));
    let others = (1..newest).map(|index| (index, SHORTENED_BYTES));
    for (index, bytes) in others.chain(first) {
        if n_bytes <= most_bytes {
            return;
        }
        let one = &mut words[index];
        if one.len() > bytes {
            n_bytes -= one.len();
            one.truncate(one.floor_char_boundary(bytes));
            one.push_str(LEFT_OUT);
            n_bytes += one.len();
        }
    }
    let mut n_dropped = 0;
    while n_bytes > most_bytes && n_dropped + 1 < newest {
        n_dropped += 1;
        n_bytes -= words[n_dropped].len();
    }
    if n_dropped > 0 {
        let note = format!("[Messages that are left out here: {n_dropped}]");
        words.splice(1..=n_dropped, [note]);
    }
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
    fn the_oldest_words_go_first_the_task_last_and_the_newest_stays() {
        let long = |letter: &str, n_bytes: usize| letter.repeat(n_bytes);
        let all = vec![long("a", 5_000), long("b", 1_000), long("c", 1_000)];
        let shortened = |most_bytes| {
            let mut words = all.clone();
            shorten(&mut words, most_bytes);
            words
        };
        let beginning = |letter: &str, n_bytes| long(letter, n_bytes) + LEFT_OUT;
        assert_eq!(shortened(7_000), all);
        let b = beginning("b", SHORTENED_BYTES);
        assert_eq!(
            shortened(6_500),
            [all[0].clone(), b.clone(), all[2].clone()]
        );
        let a = beginning("a", SHORTENED_FIRST_BYTES);
        assert_eq!(shortened(4_000), [a.clone(), b, all[2].clone()]);
        let note = "[Messages that are left out here: 1]".to_owned();
        assert_eq!(shortened(10), [a, note, all[2].clone()]);
        let mut one = vec![long("a", 5_000)];
        shorten(&mut one, 10);
        assert_eq!(one, [long("a", 5_000)]);
    }
}
