//! What a turn asks people, and how it goes on.

use std::time::Duration;

use deskhand_core::{
    decision::{Ask, DecisionKind, DecisionState, Reply},
    event::{DecisionRaised, DecisionSettled, EventBody, NotDone, Status},
    id::{DecisionId, TurnId},
    model::{Check, Chunk, ModelError},
    policy::{Mode, Policy},
    sandbox::SessionRequest,
    session::{Phase, SandboxState},
};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    fakes::{Beat, FakeSandbox},
    stage::{Stage, calls, click, ending, fails, prompt, runs, says},
};

fn asks(question: &str) -> (&'static str, Value) {
    ("ask_user", json!({"question": question}))
}

fn told(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn asked(stage: &Stage) -> Vec<DecisionKind> {
    let asked = stage.people.asked.lock().unwrap();
    asked.iter().map(|(_, ask)| ask.kind).collect()
}

fn answered_with(stage: &Stage, replies: Vec<Reply>) {
    *stage.people.replies.lock().unwrap() = replies.into();
}

#[tokio::test(start_paused = true)]
async fn the_answer_is_the_result_and_waiting_takes_no_time() {
    let mut stage = Stage::new(vec![
        calls(vec![asks("Which colour?"), runs("paint")]),
        says("Painted."),
    ]);
    stage.limits.max_duration = Duration::from_secs(60);
    *stage.people.pause.lock().unwrap() = Duration::from_secs(3_600);
    answered_with(&stage, vec![told("blue")]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: Painted. (steps: 2)");
    assert_snapshot!(stage.story(), @r#"
    use a ask_user {"question":"Which colour?"}
    use b bash {"command":"paint","shell":"run"}
    whole 1
    -
    result a "blue"
    -
    result b "output"
    -
    text 0 "Painted."
    whole 2
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_makes_no_sense_is_not_asked() {
    let stage = Stage::new(vec![calls(vec![asks(" ")]), says("I see.")]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: I see. (steps: 2)");
    assert_eq!(asked(&stage), []);
    assert!(stage.story().contains("the question is empty"));
}

#[tokio::test(start_paused = true)]
async fn what_the_policy_asks_about_waits_for_a_yes() {
    let sandbox = FakeSandbox::new(Vec::new());
    let answers = vec![
        calls(vec![runs("ls"), runs("git push"), runs("sudo y")]),
        says("Well."),
    ];
    let stage = Stage::with_computers(answers, vec![sandbox.clone()]);
    answered_with(&stage, vec![Reply::Yes(true), Reply::Yes(false)]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: Well. (steps: 2)");
    assert_eq!(asked(&stage), [DecisionKind::Approval; 2]);
    assert_eq!(sandbox.requests.borrow().len(), 2, "not what was refused");
    assert!(
        stage
            .story()
            .contains("error c \"Not executed: a person was asked and said no.\"")
    );
    assert_eq!(stage.not_done(), [("c".to_owned(), NotDone::Refused)]);
}

#[tokio::test(start_paused = true)]
async fn checks_of_a_call_are_asked_about_whatever_the_policy_says() {
    let check = |kind| Check {
        kind,
        prompt: "Really?".to_owned(),
    };
    let answers = |checks: Vec<Check>| {
        let mut answer = calls(vec![click(1, 1)]);
        if let Some(Beat::Say(Chunk::Call(call))) = answer.first_mut() {
            call.checks = checks;
        }
        vec![answer, says("Clicked.")]
    };
    let never = Policy {
        mode: Mode::Never,
        ..Policy::default()
    };

    let both = vec![
        check(DecisionKind::Budget),
        check(DecisionKind::SafetyCheck),
    ];
    let stage = Stage::new(answers(both));
    *stage.people.policy.lock().unwrap() = never.clone();
    answered_with(&stage, vec![Reply::Yes(true), Reply::Yes(true)]);
    assert_eq!(ending(&stage.run().await), "done: Clicked. (steps: 2)");
    assert_eq!(
        asked(&stage),
        [DecisionKind::Budget, DecisionKind::SafetyCheck]
    );

    let stage = Stage::new(answers(vec![check(DecisionKind::Budget)]));
    *stage.people.policy.lock().unwrap() = never;
    answered_with(&stage, vec![Reply::Yes(false)]);
    let end = ending(&stage.run().await);
    assert_eq!(end, "enough: None (steps: 1)");
    assert_eq!(stage.not_done(), [("a".to_owned(), NotDone::Refused)]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_waiting_and_parking_leaves_it() {
    let answers = || vec![calls(vec![asks("Which?"), runs("x")]), says("Never said.")];
    let stage = Stage::new(answers());
    let stop = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stage.stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.run(), stop);
    assert_eq!(ending(&report), "stopped (steps: 1)");
    assert!(stage.story().contains("error b \"Stopped before"));
    let stopped = ["a", "b"].map(|call| (call.to_owned(), NotDone::Stopped));
    assert_eq!(stage.not_done(), stopped);

    let stage = Stage::new(answers());
    let park = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stage.parking.cancel();
        stage.stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.run(), park);
    assert_eq!(ending(&report), "stopped (steps: 1)");
    assert!(!stage.story().contains("error"), "{}", stage.story());
}

/// A turn that was held up while it waited for this, and what the log said by then.
async fn held_up(call: (&str, Value), settled: Option<Reply>) -> (Stage, TurnId) {
    let turn = TurnId::new();
    let before = Stage::new(vec![calls(vec![call, runs("rest")])]);
    let park = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        before.parking.cancel();
    };
    tokio::join!(before.turn(turn).run(), park);
    let (decision, ask): (DecisionId, Ask) = before.people.asked.lock().unwrap()[0].clone();

    let mut stage = Stage::new(vec![says("I go on.")]);
    stage.history = vec![prompt("do it")];
    stage.history.extend(before.log.bodies());
    stage.history.push(EventBody::Decision(DecisionRaised {
        turn,
        decision,
        ask,
    }));
    stage.history.extend(settled.map(|reply| {
        EventBody::Answer(DecisionSettled {
            turn,
            decision,
            state: DecisionState::Answered,
            answer: Some(reply),
            by: None,
        })
    }));
    stage.history.push(EventBody::Status(Status {
        state: Phase::Waiting,
        sandbox: SandboxState::Lost,
        reason: None,
        turn: Some(turn),
        prompt: None,
    }));
    (stage, turn)
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_held_up_waits_for_the_same_decision() {
    let (stage, turn) = held_up(asks("Which?"), None).await;
    answered_with(&stage, vec![told("this")]);
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: I go on. (steps: 2)");
    assert_eq!(asked(&stage), [], "nothing is asked again");
    let story = stage.story();
    assert!(
        story.starts_with("result a \"this\\n[The server"),
        "{story}"
    );
    assert!(
        story.contains("error b \"Not executed: the server"),
        "{story}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_approved_command_is_run_after_a_restart_unless_it_may_have_been() {
    let risky = || runs("git push");
    let n_commands = |stage: &Stage| {
        let computers = stage.desk.computers.lock().unwrap();
        let requests = computers[0].requests.borrow().clone();
        let is_shell = |request: &&SessionRequest| matches!(request, SessionRequest::Shell(_));
        requests.iter().filter(is_shell).count()
    };

    let (stage, turn) = held_up(risky(), None).await;
    answered_with(&stage, vec![Reply::Yes(true)]);
    stage.turn(turn).run().await;
    assert_eq!(n_commands(&stage), 1, "{}", stage.story());

    let (stage, turn) = held_up(risky(), Some(Reply::Yes(true))).await;
    stage.turn(turn).run().await;
    assert_eq!(n_commands(&stage), 0);
    assert!(stage.story().contains("not known whether"));

    let (stage, turn) = held_up(risky(), Some(Reply::Yes(false))).await;
    answered_with(&stage, vec![Reply::Yes(false)]);
    stage.turn(turn).run().await;
    assert!(stage.story().contains("said no"), "{}", stage.story());
}

#[tokio::test(start_paused = true)]
async fn what_was_meant_for_the_screen_of_before_is_not_done_on_the_new_one() {
    let turn = TurnId::new();
    let always = Policy {
        mode: Mode::Always,
        ..Policy::default()
    };
    let before = Stage::new(vec![calls(vec![click(1, 1)])]);
    *before.people.policy.lock().unwrap() = always.clone();
    let park = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        before.parking.cancel();
    };
    tokio::join!(before.turn(turn).run(), park);
    let (decision, ask) = before.people.asked.lock().unwrap()[0].clone();

    let mut stage = Stage::new(vec![says("I look first.")]);
    stage.history.extend(before.log.bodies());
    stage.history.push(EventBody::Decision(DecisionRaised {
        turn,
        decision,
        ask,
    }));
    *stage.people.policy.lock().unwrap() = always;
    answered_with(&stage, vec![Reply::Yes(true)]);
    stage.turn(turn).run().await;
    assert_eq!(*stage.desk.n_asked.lock().unwrap(), 0);
    assert!(
        stage
            .story()
            .contains("error a \"Not executed: the server and the computer")
    );
}

#[tokio::test(start_paused = true)]
async fn a_safety_check_holds_the_whole_batch_up_until_a_person_has_answered() {
    let checked = || {
        let mut answer = calls(vec![click(1, 1), click(2, 2)]);
        if let Some(Beat::Say(Chunk::Call(call))) = answer.first_mut() {
            call.checks = vec![Check {
                kind: DecisionKind::SafetyCheck,
                prompt: "The page gives orders.".to_owned(),
            }];
        }
        answer
    };
    for (reply, n_done) in [(Reply::Yes(true), 2), (Reply::Yes(false), 0)] {
        let sandbox = FakeSandbox::new(Vec::new());
        let stage = Stage::with_computers(vec![checked(), says("Well.")], vec![sandbox.clone()]);
        *stage.people.pause.lock().unwrap() = Duration::from_secs(3_600);
        answered_with(&stage, vec![reply]);
        let before = async {
            tokio::time::sleep(Duration::from_secs(3_000)).await;
            assert_eq!(asked(&stage), [DecisionKind::SafetyCheck]);
            assert!(sandbox.requests.borrow().is_empty());
            assert_eq!(stage.model.requests.lock().unwrap().len(), 1);
        };
        let (report, ()) = tokio::join!(stage.run(), before);
        assert_eq!(ending(&report), "done: Well. (steps: 2)");
        assert_eq!(sandbox.requests.borrow().len(), n_done);
    }
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_refusal_outlive_a_summary() {
    let stage = Stage::new(vec![
        calls(vec![runs("git push")]),
        fails(ModelError::TooLong("prompt is too long".to_owned())),
        says("I tried to push."),
        says("Done."),
    ]);
    stage.people.policy.lock().unwrap().mode = Mode::Always;
    answered_with(
        &stage,
        vec![Reply::NoBecause("Use the branch review.".to_owned())],
    );
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 2)");
    let shown = format!("{:?}", stage.shown());
    assert!(shown.contains("I tried to push."), "{shown}");
    assert!(shown.contains("Use the branch review."), "{shown}");
}
