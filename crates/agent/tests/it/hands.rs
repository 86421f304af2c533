//! People take mouse and keyboard and give them back.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    event::EventBody,
    id::{TurnId, UserId},
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
    model::Item,
    sandbox::ComputerError,
};

use crate::{
    fakes::{FakeSandbox, Reaction},
    stage::{Stage, calls, ending, runs, says},
};

fn changed(name: &str, change: LeaseChange) -> EventBody {
    EventBody::Lease(LeaseChanged {
        user: UserId::new(),
        name: name.to_owned(),
        change,
    })
}

fn taken(name: &str) -> EventBody {
    let until = "2026-07-03T12:05:00Z".parse().unwrap();
    changed(name, LeaseChange::Taken { until, from: None })
}

fn ended(name: &str) -> EventBody {
    let reason = LeaseEnd::HandedBack;
    changed(name, LeaseChange::Ended { reason })
}

/// What the model was told of people, and whether with a picture.
fn told(items: &[Item]) -> Vec<(String, bool)> {
    let told = items.iter().filter_map(|item| match item {
        Item::HandedBack { text, image } => Some((text.clone(), image.is_some())),
        Item::Prompt { .. }
        | Item::Steering { .. }
        | Item::Files(_)
        | Item::Note { .. }
        | Item::CutOff { .. }
        | Item::Answer { .. }
        | Item::Results(_) => None,
    });
    told.collect()
}

const BOB: &str = "[bob had mouse and keyboard and gave them back. The screen has changed since \
                   you last saw it. This is how it looks now.]";

#[tokio::test(start_paused = true)]
async fn a_refused_action_waits_for_the_hand_back_and_the_time_does_not_count() {
    let refused = ComputerError::Refused { was_begun: true };
    let computer = FakeSandbox::new(vec![Reaction::AnswerAfter(
        Duration::from_secs(1),
        Err(refused),
    )]);
    let answers = vec![calls(vec![runs("make"), runs("ls")]), says("I see.")];
    let mut stage = Stage::with_computers(answers, vec![computer]);
    stage.limits.max_duration = Duration::from_secs(60);
    let (desk, log) = (Arc::clone(&stage.desk), Arc::clone(&stage.log));
    let person = async {
        log.until("tool_use").await;
        desk.is_taken.send_replace(true);
        log.until("tool_result").await;
        tokio::time::sleep(Duration::from_secs(3000)).await;
        assert_eq!(stage.model.requests.lock().unwrap().len(), 1, "it waits");
        log.leases
            .lock()
            .unwrap()
            .extend([taken("bob"), ended("bob")]);
        desk.is_taken.send_replace(false);
    };
    let (report, ()) = tokio::join!(stage.run(), person);
    assert_eq!(ending(&report), "done: I see. (steps: 2)");
    assert_eq!(told(&stage.shown()), [(BOB.to_owned(), true)]);
    let results: Vec<_> = log
        .bodies()
        .into_iter()
        .filter_map(|body| {
            if let EventBody::ToolResult(result) = body {
                return Some(result.text);
            }
            (body.kind() == "screenshot").then(|| "screenshot".to_owned())
        })
        .collect();
    assert_eq!(
        results,
        [
            "Cut off: a person took over mouse and keyboard during this action. It is not known \
             whether it was done.",
            "Not executed: an earlier computer action in this turn failed.",
            "screenshot"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_turn_that_waits() {
    let stage = Stage::new(vec![says("never")]);
    stage.desk.is_taken.send_replace(true);
    let stop = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stage.stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.run(), stop);
    assert_eq!(ending(&report), "stopped (steps: 0)");
}

#[tokio::test(start_paused = true)]
async fn what_happened_between_turns_is_told_and_shown_once() {
    let mut stage = Stage::new(vec![says("I see.")]);
    let turn = TurnId::new();
    stage
        .history
        .splice(0..0, [taken("bob"), taken("eve"), ended("eve")]);
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: I see. (steps: 1)");
    let both = BOB.replace("bob", "bob and eve");
    assert_eq!(told(&stage.shown()), [(both.clone(), true)]);

    // The next turn is shown the same and does not look again.
    stage.history.extend(stage.log.bodies());
    stage.history.push(crate::stage::prompt("and now?"));
    let n_appended = stage.log.bodies().len();
    stage.run().await;
    assert_eq!(told(&stage.shown()), [(both, true)]);
    let kinds: Vec<_> = stage.log.bodies()[n_appended..]
        .iter()
        .map(EventBody::kind)
        .collect();
    assert_eq!(kinds, ["text", "cost"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_over_again_is_waited_for_again() {
    let refused = ComputerError::Refused { was_begun: false };
    let computer = FakeSandbox::new(vec![Reaction::Answer(Err(refused))]);
    let mut stage = Stage::with_computers(vec![says("I see.")], vec![computer]);
    stage.history.splice(0..0, [taken("bob"), ended("bob")]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: I see. (steps: 1)");
    assert_eq!(told(&stage.shown()), [(BOB.to_owned(), true)]);
}

#[tokio::test(start_paused = true)]
async fn without_a_picture_it_is_told_to_look() {
    let failed = ComputerError::Failed("no picture".to_owned());
    let computer = FakeSandbox::new(vec![Reaction::Answer(Err(failed))]);
    let mut stage = Stage::with_computers(vec![says("I see.")], vec![computer]);
    stage.history.splice(0..0, [taken("bob"), ended("bob")]);
    stage.run().await;
    let told = told(&stage.shown());
    assert!(
        told[0].0.ends_with("Look at it before you go on.]"),
        "{told:?}"
    );
}
