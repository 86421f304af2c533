//! Turns come up against bounds, and people are asked before they pass one.

use std::time::Duration;

use deskhand_core::{
    budget::{Account, Accounts, Amount, Bound, Budget},
    decision::{Ask, DecisionKind, DecisionState, Reply},
    event::{DecisionRaised, DecisionSettled, EventBody},
    id::{DecisionId, TurnId, UserId},
    model::{Chunk, Item, ModelError, Price, PriceSource, Usage},
    sandbox::{Acted, Frame, SessionReply},
};
use insta::assert_snapshot;

use crate::{
    fakes::{Beat, FakeSandbox, Reaction},
    stage::{Stage, calls, click, ending, runs, says},
};

/// A dollar for a million tokens.
const CHEAP: Price = Price {
    input: 1.0,
    cache_write: 1.0,
    cache_read: 1.0,
    output: 1.0,
    long: None,
    source: PriceSource::Set,
};

/// An answer that takes so many tokens.
fn taking(tokens: u64, mut answer: Vec<Beat>) -> Vec<Beat> {
    let usage = Usage {
        input: tokens,
        ..Usage::default()
    };
    answer.insert(answer.len() - 1, Beat::Say(Chunk::Usage(usage)));
    answer
}

/// Works in steps of $0.004 each, three times, and is done.
fn working() -> Vec<Vec<Beat>> {
    let step = |command| taking(4_000, calls(vec![runs(command)]));
    vec![step("one"), step("two"), step("three"), says("Done.")]
}

fn session_usd(usd: f64) -> Accounts {
    let budget = Budget {
        usd: Some(usd),
        tokens: None,
    };
    Accounts {
        session: Account {
            budget,
            ..Account::default()
        },
        day: Account::default(),
    }
}

fn priced(answers: Vec<Vec<Beat>>, accounts: Accounts) -> Stage {
    let stage = Stage::new(answers);
    *stage.model.price.lock().unwrap() = Some(CHEAP);
    stage.people.accounts.send_replace(accounts);
    stage
}

fn answered_with(stage: &Stage, replies: &[bool]) {
    *stage.people.replies.lock().unwrap() = replies.iter().copied().map(Reply::Yes).collect();
}

fn asked(stage: &Stage) -> Vec<Ask> {
    let asked = stage.people.asked.lock().unwrap();
    asked.iter().map(|(_, ask)| ask.clone()).collect()
}

fn prompts(stage: &Stage) -> Vec<String> {
    asked(stage).into_iter().map(|ask| ask.prompt).collect()
}

fn n_calls(stage: &Stage) -> usize {
    stage.model.requests.lock().unwrap().len()
}

fn notices(stage: &Stage) -> Vec<(Bound, String)> {
    let mut notices = Vec::new();
    for body in stage.log.bodies() {
        if let EventBody::Notice(notice) = body {
            notices.push((notice.bound, notice.message));
        }
    }
    notices
}

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_before_the_call_that_would_pass_the_budget() {
    let stage = priced(working(), session_usd(0.01));
    answered_with(&stage, &[false]);
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(SessionUsd) (steps: 2)");
    assert_eq!(n_calls(&stage), 2, "the third would have passed it");
    let [ask] = &asked(&stage)[..] else {
        panic!("{:?}", asked(&stage))
    };
    assert_eq!(ask.kind, DecisionKind::Budget);
    assert_snapshot!(ask.prompt, @"This session has used $0.008 of its $0.01. The next step would go beyond that. Give it $0.01 more?");
    let over = ask.over.unwrap();
    assert_eq!(
        (over.bound, over.limit, over.more),
        (Bound::SessionUsd, 0.01, 0.01)
    );

    let stage = priced(working(), session_usd(0.01));
    answered_with(&stage, &[true]);
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 4)");
    assert_eq!(prompts(&stage).len(), 1, "what was given is enough");
}

#[tokio::test(start_paused = true)]
async fn the_first_call_is_judged_by_its_request() {
    let stage = priced(vec![says("Never said.")], session_usd(0.0001));
    answered_with(&stage, &[false]);
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(SessionUsd) (steps: 0)");
    assert_eq!(n_calls(&stage), 0);
}

#[tokio::test(start_paused = true)]
async fn a_free_model_is_bound_by_tokens_only() {
    let mut accounts = session_usd(0.01);
    accounts.day.budget.tokens = Some(10_000);
    let stage = Stage::new(working());
    stage.people.accounts.send_replace(accounts);
    answered_with(&stage, &[false]);
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(DayTokens) (steps: 2)");
    assert_snapshot!(prompts(&stage).join("\n"), @"The owner of this session has used 8000 of 10000 tokens for today. The next step would go beyond that. Only an administrator can give 10000 tokens more, here or with `deskhand user limit`; at midnight UTC the agent goes on by itself. Go on?");
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_by_itself_when_there_is_room_again() {
    let stage = priced(working(), session_usd(0.01));
    let owner = async {
        while prompts(&stage).is_empty() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        // Something else changed first.
        stage.people.accounts.send_modify(|_| ());
        tokio::time::sleep(Duration::from_secs(60)).await;
        stage.people.accounts.send_replace(session_usd(1.0));
    };
    let (report, ()) = tokio::join!(stage.run(), owner);
    assert_eq!(ending(&report), "done: Done. (steps: 4)");
    assert_eq!(prompts(&stage).len(), 1);
    assert_eq!(stage.people.withdrawn.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn people_and_the_model_are_warned_once() {
    let accounts = session_usd(0.04);
    let step = |n: u32| taking(2_000, calls(vec![runs(&n.to_string())]));
    let stage = priced((0..17).map(step).chain([says("Done.")]).collect(), accounts);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 18)");
    let message = "This session has used $0.032 of its $0.04.".to_owned();
    assert_eq!(notices(&stage), [(Bound::SessionUsd, message)]);
    let mut told = Vec::new();
    for item in stage.shown() {
        if let Item::Steering { text } = item {
            told.push(text);
        }
    }
    assert_snapshot!(told.join("\n"), @"[This session has used $0.032 of its $0.04. Come to an end soon, or say what remains to be done.]");

    // Another turn of the same session.
    let mut next = priced(vec![says("Hm."), says("Done.")], accounts);
    next.people.accounts.send_modify(|accounts| {
        accounts.session.used = Amount {
            usd: 0.034,
            tokens: 34_000,
        };
    });
    next.history.extend(stage.log.bodies());
    next.history.push(crate::stage::prompt("more"));
    next.run().await;
    assert_eq!(notices(&next), []);
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_many_steps_asks_for_more_and_each_yes_gives_as_many() {
    let mut stage = Stage::new(
        (0..12)
            .map(|n| calls(vec![runs(&n.to_string())]))
            .chain([says("Done.")])
            .collect(),
    );
    stage.limits.max_steps = 5;
    answered_with(&stage, &[true, true]);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 13)");
    assert_snapshot!(prompts(&stage).join("\n"), @"
    This turn has used 5 of its 5 steps. Give it 5 steps more?
    This turn has used 10 of its 10 steps. Give it 5 steps more?
    ");
    let warned: Vec<_> = notices(&stage).into_iter().map(|(_, text)| text).collect();
    assert_snapshot!(warned.join("\n"), @"
    This turn has used 4 of its 5 steps.
    This turn has used 8 of its 10 steps.
    This turn has used 12 of its 15 steps.
    ");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_takes_long_asks_between_two_steps_and_waiting_does_not_count_as_work() {
    let slow = |command| {
        let mut answer = calls(vec![runs(command)]);
        answer.insert(0, Beat::Pause(Duration::from_secs(50)));
        answer
    };
    let mut stage = Stage::new(vec![slow("one"), slow("two"), slow("three"), says("Done.")]);
    stage.limits.max_duration = Duration::from_secs(90);
    *stage.people.pause.lock().unwrap() = Duration::from_secs(3_600);
    answered_with(&stage, &[true]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: Done. (steps: 4)");
    assert_eq!(report.duration, Duration::from_secs(3_750));
    assert_snapshot!(prompts(&stage).join("\n"), @"This turn has used 1 min of its 1 min. Give it 1 min more?");
}

#[tokio::test(start_paused = true)]
async fn a_computer_that_never_answers_does_not_hold_a_turn_up_for_ever() {
    let computer = FakeSandbox::new(vec![Reaction::Deaf]);
    let answers = vec![calls(vec![click(1, 2)]), says("I look.")];
    let stage = Stage::with_computers(answers, vec![computer]);
    answered_with(&stage, &[true]);
    assert_eq!(ending(&stage.run().await), "done: I look. (steps: 2)");
    assert!(stage.story().contains("The computer gave no answer"));
}

/// Clicks again and again, and the screen stays as it is.
fn stuck(n_times: usize) -> Stage {
    let same = Ok(SessionReply::Act(Acted {
        dragged_from: None,
        pointer: Some(deskhand_core::action::Point { x: 1, y: 2 }),
        frame: Some(Frame {
            bytes: bytes::Bytes::from_static(b"the same"),
            format: deskhand_core::blob::BlobFormat::Png,
            size: deskhand_core::action::ScreenSize::default(),
            pointer: deskhand_core::action::Point { x: 0, y: 0 },
        }),
    }));
    let computer = FakeSandbox::new(vec![Reaction::Answer(same); n_times]);
    let mut answers = vec![calls(vec![click(1, 2)]); n_times];
    answers.push(says("I give up."));
    Stage::with_computers(answers, vec![computer])
}

#[tokio::test(start_paused = true)]
async fn an_agent_in_a_circle_is_told_and_then_a_person_is_asked() {
    let stage = stuck(4);
    assert_eq!(ending(&stage.run().await), "done: I give up. (steps: 5)");
    let message = "The agent has repeated itself or failed 3 times in a row.".to_owned();
    assert_eq!(notices(&stage), [(Bound::Repeats, message)]);
    let told = |item: &Item| matches!(item, Item::Steering { text } if text.starts_with("[You have repeated yourself or failed 3 times"));
    assert_eq!(stage.shown().iter().filter(|item| told(item)).count(), 1);

    let stage = stuck(6);
    answered_with(&stage, &[false]);
    assert_eq!(
        ending(&stage.run().await),
        "enough: Some(Repeats) (steps: 5)"
    );
    assert_snapshot!(prompts(&stage).join("\n"), @"The agent has repeated itself or failed 5 times in a row. Let it go on?");

    let stage = stuck(9);
    answered_with(&stage, &[true]);
    assert_eq!(ending(&stage.run().await), "done: I give up. (steps: 10)");
}

/// A turn that a server left while it asked for more, and what became of that.
async fn held_up(settled: Option<Reply>) -> (Stage, TurnId) {
    let turn = TurnId::new();
    let mut before = Stage::new(vec![calls(vec![runs("one")]), calls(vec![runs("two")])]);
    before.limits.max_steps = 2;
    let park = async {
        while prompts(&before).is_empty() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        before.parking.cancel();
    };
    let (report, ()) = tokio::join!(before.turn(turn).run(), park);
    assert_eq!(ending(&report), "stopped (steps: 2)");
    let (decision, ask) = before.people.asked.lock().unwrap()[0].clone();
    let mut stage = Stage::new(vec![calls(vec![runs("three")]), says("Done.")]);
    stage.limits.max_steps = 2;
    stage.history.extend(before.log.bodies());
    stage.history.extend(story_of(turn, decision, ask, settled));
    (stage, turn)
}

fn story_of(
    turn: TurnId,
    decision: DecisionId,
    ask: Ask,
    settled: Option<Reply>,
) -> Vec<EventBody> {
    let raised = EventBody::Decision(DecisionRaised {
        turn,
        decision,
        ask,
    });
    let answer = settled.map(|reply| {
        EventBody::Answer(DecisionSettled {
            turn,
            decision,
            state: DecisionState::Answered,
            answer: Some(reply),
            by: Some(UserId::new()),
        })
    });
    std::iter::once(raised).chain(answer).collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_held_up_still_asks_and_asks_once() {
    let (stage, turn) = held_up(None).await;
    answered_with(&stage, &[true]);
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: Done. (steps: 4)");
    assert_eq!(prompts(&stage), [""; 0], "the same decision is waited for");

    let (stage, turn) = held_up(None).await;
    answered_with(&stage, &[false]);
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "enough: Some(Steps) (steps: 2)");
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_before_it_was_held_up_counts() {
    let (stage, turn) = held_up(Some(Reply::Yes(true))).await;
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: Done. (steps: 4)");
    assert_eq!(prompts(&stage), [""; 0]);

    let (stage, turn) = held_up(Some(Reply::Yes(false))).await;
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "enough: Some(Steps) (steps: 2)");
    assert_eq!(n_calls(&stage), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_over_any_more_after_a_restart_is_not_asked_any_more() {
    let (mut stage, turn) = held_up(None).await;
    stage.limits.max_steps = 50;
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: Done. (steps: 4)");
    assert_eq!(stage.people.withdrawn.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn answers_that_break_off_use_up_a_budget_and_people_are_asked_before_the_next_try() {
    let away = Beat::Fail(ModelError::unavailable("it is overloaded"));
    let broken = taking(4_000, vec![away]);
    let mut stage = priced(vec![broken], session_usd(0.01));
    stage.limits.max_steps = 1;
    answered_with(&stage, &[false]);
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(SessionUsd) (steps: 1)");
    assert_eq!((n_calls(&stage), prompts(&stage).len()), (2, 1));
}
