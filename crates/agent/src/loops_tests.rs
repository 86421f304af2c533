use deskhand_core::{
    blob::BlobFormat,
    event::{MessageSaid, Notice, Screenshot, ToolResult, ToolUse},
    id::MessageId,
    message::{Delivery, Role},
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A round as a test draws it: what is done, what the shell says, and which picture follows.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    input: Value,
    text: String,
    picture: Option<u8>,
    has_failed: bool,
    exit_code: i64,
    duration_ms: u64,
}

fn click(x: u8, picture: u8) -> Drawn {
    Drawn {
        input: json!({"action": "click", "at": {"x": x, "y": 1}}),
        text: "Did it.".to_owned(),
        picture: Some(picture),
        has_failed: false,
        exit_code: 0,
        duration_ms: 100,
    }
}

/// A command that takes this long and prints this.
fn command(command: &str, text: &str, duration_ms: u64) -> Drawn {
    Drawn {
        input: json!({"shell": "run", "command": command}),
        text: text.to_owned(),
        picture: None,
        duration_ms,
        ..click(0, 0)
    }
}

fn look(picture: u8) -> Drawn {
    Drawn {
        input: json!({"action": "screenshot"}),
        ..click(0, picture)
    }
}

fn tool_of(input: &Value) -> &'static str {
    let fields = [
        ("shell", "bash"),
        ("command", "editor"),
        ("steps", "update_plan"),
    ];
    let field = fields.iter().find(|(field, _)| !input[field].is_null());
    field.map_or("computer", |(_, tool)| tool)
}

/// An edit of a file that fails, or a view of it.
fn edit(path: &str) -> Drawn {
    Drawn {
        input: json!({"command": "str_replace", "path": path, "old_str": "a", "new_str": "b"}),
        text: "There is no such text.".to_owned(),
        picture: None,
        has_failed: true,
        ..click(0, 0)
    }
}

fn view(path: &str, text: &str) -> Drawn {
    Drawn {
        input: json!({"command": "view", "path": path}),
        text: text.to_owned(),
        has_failed: false,
        ..edit(path)
    }
}

fn plan(step: &str) -> Drawn {
    Drawn {
        input: json!({"steps": [{"text": step, "state": "doing"}]}),
        text: "Noted.".to_owned(),
        ..view("", "")
    }
}

fn events(turn: TurnId, n: usize, drawn: &Drawn) -> Vec<EventBody> {
    let (turn, call) = (Some(turn), format!("call{n}"));
    let mut bodies = vec![
        EventBody::ToolUse(ToolUse {
            turn,
            call: call.clone(),
            tool: tool_of(&drawn.input).to_owned(),
            input: drawn.input.clone(),
            description: None,
            by: None,
            checks: Vec::new(),
        }),
        EventBody::ToolResult(ToolResult {
            turn,
            call: call.clone(),
            text: drawn.text.clone(),
            is_error: drawn.has_failed,
            duration_ms: drawn.duration_ms + u64::try_from(n).unwrap(),
            partial: false,
            parts: Vec::new(),
            state: Some(json!({"exit_code": drawn.exit_code})),
            not_done: None,
        }),
    ];
    bodies.extend(drawn.picture.map(|picture| {
        EventBody::Screenshot(Screenshot {
            turn,
            call: Some(call),
            blob: BlobName::of([picture; 32], BlobFormat::Png),
            width: 1024,
            height: 768,
        })
    }));
    bodies
}

/// Pictures whose numbers differ by 100 differ by a caret.
fn found(log: &[EventBody], turn: TurnId) -> Repeats {
    let number = |name: &BlobName| u8::from_str_radix(&name.as_str()[..2], 16).unwrap() % 100;
    let is_like = |one: &BlobName, other: &BlobName| number(one) == number(other);
    repeats(log, turn, &crate::tools::all(), &is_like)
}

fn counted(rounds: &[Drawn]) -> u32 {
    let turn = TurnId::new();
    let log: Vec<_> = rounds
        .iter()
        .enumerate()
        .flat_map(|(n, drawn)| events(turn, n, drawn))
        .collect();
    found(&log, turn).n_times
}

#[test]
fn the_same_on_the_same_picture_is_counted() {
    assert_eq!(counted(&[]), 0);
    assert_eq!(counted(&[click(1, 1)]), 1);
    assert_eq!(counted(&[click(1, 1), click(1, 1), click(1, 1)]), 3);
    assert_eq!(counted(&[click(1, 1), click(20, 1), click(1, 1)]), 1);
    assert_eq!(counted(&[click(1, 1), click(1, 1), click(1, 2)]), 1);
    let said = |text: &str| Drawn {
        text: text.to_owned(),
        picture: None,
        ..click(1, 1)
    };
    assert_eq!(counted(&[said("a"), said("a")]), 2);
    assert_eq!(counted(&[said("a"), said("b")]), 1, "the results differ");
}

#[test]
fn looking_is_not_a_repetition_and_does_not_end_one() {
    assert_eq!(counted(&[look(1), look(1), look(1), look(1)]), 0);
    assert_eq!(counted(&[click(1, 1), look(1), click(1, 1), look(1)]), 2);
    assert_eq!(
        counted(&[click(1, 1), look(2), click(1, 1)]),
        1,
        "something moved"
    );
}

#[test]
fn whoever_says_something_ends_it_and_other_turns_do_not_count() {
    let turn = TurnId::new();
    let round = |n| events(turn, n, &click(1, 1));
    let mut log: Vec<_> = [round(0), round(1)].concat();
    log.extend(events(TurnId::new(), 2, &click(9, 9)));
    log.extend(round(3));
    assert_eq!(found(&log, turn).n_times, 3);
    log.push(EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::User,
        content: "Try the other one.".to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::Steer,
        model: None,
        effort: None,
        turn: None,
        attachments: Vec::new(),
        start_url: None,
    }));
    assert_eq!(found(&log, turn), Repeats::default());
    log.extend(round(4));
    assert_eq!(found(&log, turn).n_times, 1);
}

#[test]
fn that_the_model_was_told_holds_as_long_as_the_repetition() {
    let turn = TurnId::new();
    let mut log: Vec<_> = (0..3).flat_map(|n| events(turn, n, &click(1, 1))).collect();
    assert!(!found(&log, turn).is_warned);
    log.push(EventBody::Notice(Notice {
        turn,
        bound: Bound::Repeats,
        used: 3.0,
        limit: 5.0,
        message: "The same three times.".to_owned(),
    }));
    log.extend(events(turn, 4, &click(1, 1)));
    let told = Repeats {
        n_times: 4,
        is_warned: true,
    };
    assert_eq!(found(&log, turn), told);
    log.extend(events(turn, 5, &click(1, 2)));
    assert!(!found(&log, turn).is_warned);
}

#[test]
fn a_caret_and_a_slightly_different_place_make_no_difference() {
    assert_eq!(counted(&[click(1, 1), click(3, 101), click(2, 1)]), 3);
    assert_eq!(counted(&[click(1, 1), click(30, 1)]), 1);
}

#[test]
fn taking_turns_is_repeating() {
    let (a, b, c) = (click(1, 1), click(50, 2), click(90, 3));
    let in_turn = |rounds: &[&Drawn]| {
        let rounds: Vec<Drawn> = rounds.iter().map(|round| (*round).clone()).collect();
        counted(&rounds)
    };
    assert_eq!(in_turn(&[&a, &b, &a]), 1);
    assert_eq!(in_turn(&[&a, &b, &a, &b, &a, &b]), 3);
    assert_eq!(in_turn(&[&a, &b, &c, &a, &b, &c]), 2);
    assert_eq!(in_turn(&[&a, &b, &a, &c]), 1);
}

#[test]
fn one_failure_after_another_counts_whatever_failed() {
    let failing = |name: &str| Drawn {
        has_failed: true,
        ..command(name, name, 10)
    };
    let names = ["a", "b", "c", "d"];
    let rounds: Vec<_> = names.iter().map(|name| failing(name)).collect();
    assert_eq!(counted(&rounds), 3);
    let mut mended = rounds;
    mended.push(command("e", "fine", 10));
    assert_eq!(counted(&mended), 1);
}

#[test]
fn a_look_that_shows_the_same_does_not_hide_failures() {
    let rounds = vec![[edit("/a"), view("/a", "text")]; 4].concat();
    // The first look shows something new.
    assert_eq!(counted(&rounds), 3);
    let mut changed = rounds;
    changed.push(view("/a", "other text"));
    assert_eq!(counted(&changed), 0);
    let with_picture = vec![[edit("/a"), look(1)]; 4].concat();
    assert_eq!(counted(&with_picture), 3);
    let with_plan: Vec<_> = ["one", "two", "three", "four"]
        .into_iter()
        .flat_map(|step| [plan(step), edit("/a")])
        .collect();
    assert_eq!(counted(&with_plan), 4);
}

#[test]
fn polling_is_patient_whatever_the_exit_code_and_failing_slowly_is_not() {
    let failing = |line: &str, code| Drawn {
        exit_code: code,
        ..command(line, "", 30_000)
    };
    let poll = failing("sleep 30; curl -sf localhost/health", 7);
    assert_eq!(counted(&vec![poll.clone(); 6]), 1);
    let names = ["a", "b", "c", "d"];
    let rounds: Vec<_> = names.iter().map(|name| failing(name, 1)).collect();
    assert_eq!(counted(&rounds), 3);
    let broken = Drawn {
        has_failed: true,
        ..poll
    };
    assert_eq!(counted(&vec![broken; 4]), 4, "the tool failed");
}

#[test]
fn patient_polling_is_no_repetition() {
    let poll = command("sleep 60; tail -n1 log", "12 %", 60_000);
    assert_eq!(counted(&vec![poll; 8]), 0);
    let hasty = command("tail -n1 log", "12 %", 20);
    assert_eq!(counted(&vec![hasty; 4]), 4);
}

proptest! {
    /// It never counts fewer than the equal rounds at the end, and never more than one if no round occurs twice.
    #[test]
    fn only_equal_rounds_count(drawn in prop::collection::vec((0u8..3, 0u8..3, 0u8..2), 0..12)) {
        let rounds: Vec<_> = drawn
            .into_iter()
            .map(|(x, picture, text)| Drawn { text: text.to_string(), ..click(x * 20, picture) })
            .collect();
        let equal = rounds.iter().rev().take_while(|round| Some(*round) == rounds.last());
        let n_equal = u32::try_from(equal.count()).unwrap();
        let n_counted = counted(&rounds);
        prop_assert!(n_counted >= n_equal);
        let occurs_again = |(index, round): (usize, &Drawn)| rounds[..index].contains(round);
        if !rounds.iter().enumerate().any(occurs_again) {
            prop_assert!(n_counted <= 1);
        }
    }
}
