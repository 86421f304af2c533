use deskhand_core::{
    decision::{Ask, DecisionKind, DecisionState, Form},
    event::{Cost, DecisionRaised, DecisionSettled, Retry},
    id::{MessageId, UserId},
    lease::{LeaseChanged, LeaseEnd},
    model::Usage,
    session::{Phase, SandboxState},
};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn status(turn: TurnId, prompt: Option<MessageId>) -> EventBody {
    EventBody::Status(Status {
        state: Phase::Running,
        sandbox: SandboxState::Ready,
        reason: None,
        turn: Some(turn),
        prompt,
    })
}

fn cost(turn: TurnId) -> EventBody {
    EventBody::Cost(Cost {
        turn,
        step: 1,
        usd: 0.0,
        model: String::new(),
        usage: Usage::default(),
        unpriced: false,
        unfinished: false,
        aside: false,
        broken_off: false,
        summary: false,
    })
}

fn lease(change: LeaseChange) -> EventBody {
    EventBody::Lease(LeaseChanged {
        user: UserId::new(),
        name: "Ada".to_owned(),
        change,
    })
}

fn seconds(turn: TurnId, events: Vec<(i64, EventBody)>) -> u64 {
    let events: Vec<_> = (1..)
        .zip(events)
        .map(|(seq, (second, body))| Event {
            seq,
            at: at(second),
            body,
        })
        .collect();
    worked(&events, turn).as_secs()
}

#[test]
fn time_runs_from_the_turns_begin() {
    let (turn, other) = (TurnId::new(), TurnId::new());
    let events = vec![
        (0, status(other, Some(MessageId::new()))),
        (50, cost(other)),
        (100, status(turn, Some(MessageId::new()))),
        (103, cost(turn)),
        (110, cost(turn)),
    ];
    assert_eq!(seconds(turn, events), 10);
    assert_eq!(seconds(turn, Vec::new()), 0);
}

#[test]
fn nobody_works_while_the_server_is_away() {
    let turn = TurnId::new();
    let events = vec![
        (0, status(turn, Some(MessageId::new()))),
        (5, cost(turn)),
        (500, status(turn, None)),
        (507, cost(turn)),
    ];
    assert_eq!(seconds(turn, events), 12);
}

#[test]
fn waiting_for_people_and_vendors_does_not_count() {
    let (turn, decision) = (TurnId::new(), DecisionId::new());
    let raised = EventBody::Decision(DecisionRaised {
        turn,
        decision,
        ask: Ask {
            call: None,
            kind: DecisionKind::Budget,
            prompt: "More?".to_owned(),
            form: Form::YesNo,
            subject: None,
            over: None,
            rule: None,
            default: None,
            expires_at: None,
        },
    });
    let settled = EventBody::Answer(DecisionSettled {
        turn,
        decision,
        state: DecisionState::Withdrawn,
        answer: None,
        by: None,
    });
    let retry = EventBody::Retry(Retry {
        turn,
        attempt: 1,
        message: "it is overloaded".to_owned(),
        next_at: at(260),
        model: None,
        without_files: false,
        refused: false,
    });
    let events = vec![
        (0, status(turn, Some(MessageId::new()))),
        (1, raised),
        (90, cost(turn)),
        (100, settled),
        (
            102,
            lease(LeaseChange::Taken {
                until: at(200),
                from: None,
            }),
        ),
        (
            190,
            lease(LeaseChange::Ended {
                reason: LeaseEnd::HandedBack,
            }),
        ),
        (194, retry),
        (268, cost(turn)),
    ];
    assert_eq!(seconds(turn, events), 1 + 2 + 4 + 8);
}
