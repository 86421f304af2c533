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
}

fn click(x: u8, picture: u8) -> Drawn {
    Drawn {
        input: json!({"action": "click", "at": {"x": x, "y": 1}}),
        text: "Did it.".to_owned(),
        picture: Some(picture),
    }
}

fn look(picture: u8) -> Drawn {
    Drawn {
        input: json!({"action": "screenshot"}),
        ..click(0, picture)
    }
}

fn events(turn: TurnId, n: usize, drawn: &Drawn) -> Vec<EventBody> {
    let (turn, call) = (Some(turn), format!("call{n}"));
    let mut bodies = vec![
        EventBody::ToolUse(ToolUse {
            turn,
            call: call.clone(),
            tool: "computer".to_owned(),
            input: drawn.input.clone(),
            description: None,
            by: None,
            checks: Vec::new(),
        }),
        EventBody::ToolResult(ToolResult {
            turn,
            call: call.clone(),
            text: drawn.text.clone(),
            is_error: false,
            // How long it took says nothing.
            duration_ms: u64::try_from(n).unwrap(),
            partial: false,
            parts: Vec::new(),
            state: None,
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

fn counted(rounds: &[Drawn]) -> u32 {
    let turn = TurnId::new();
    let log: Vec<_> = rounds
        .iter()
        .enumerate()
        .flat_map(|(n, drawn)| events(turn, n, drawn))
        .collect();
    repeats(&log, turn, &crate::tools::all()).n_times
}

#[test]
fn the_same_on_the_same_picture_is_counted() {
    assert_eq!(counted(&[]), 0);
    assert_eq!(counted(&[click(1, 1)]), 1);
    assert_eq!(counted(&[click(1, 1), click(1, 1), click(1, 1)]), 3);
    assert_eq!(counted(&[click(1, 1), click(2, 1), click(1, 1)]), 1);
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
fn looking_is_no_repetition_and_ends_none() {
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
    assert_eq!(repeats(&log, turn, &crate::tools::all()).n_times, 3);
    log.push(EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::User,
        content: "Try the other one.".to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::Steer,
        model: None,
        turn: None,
        attachments: Vec::new(),
        start_url: None,
    }));
    assert_eq!(
        repeats(&log, turn, &crate::tools::all()),
        Repeats::default()
    );
    log.extend(round(4));
    assert_eq!(repeats(&log, turn, &crate::tools::all()).n_times, 1);
}

#[test]
fn that_the_model_was_told_holds_as_long_as_the_repetition() {
    let turn = TurnId::new();
    let mut log: Vec<_> = (0..3).flat_map(|n| events(turn, n, &click(1, 1))).collect();
    assert!(!repeats(&log, turn, &crate::tools::all()).is_warned);
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
    assert_eq!(repeats(&log, turn, &crate::tools::all()), told);
    log.extend(events(turn, 5, &click(1, 2)));
    assert!(!repeats(&log, turn, &crate::tools::all()).is_warned);
}

proptest! {
    /// It counts exactly the equal rounds at the end, so it never counts two that differ in what was
    /// done, what was said or what was shown.
    #[test]
    fn only_equal_rounds_count(drawn in prop::collection::vec((0u8..3, 0u8..3, 0u8..2), 0..12)) {
        let rounds: Vec<_> = drawn
            .into_iter()
            .map(|(x, picture, text)| Drawn { text: text.to_string(), ..click(x, picture) })
            .collect();
        let equal = rounds.iter().rev().take_while(|round| Some(*round) == rounds.last());
        prop_assert_eq!(counted(&rounds), u32::try_from(equal.count()).unwrap());
    }
}
