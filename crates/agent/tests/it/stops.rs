//! A stop ends the turn within a second, whatever it is at, and leaves no use without a result.

use std::time::Duration;

use deskhand_core::{
    action::{Action, Button, Point},
    event::NotDone,
    model::Chunk,
    sandbox::{Act, Acted, ComputerError, SessionReply, SessionRequest},
    shell::ShellEnding,
};
use insta::assert_snapshot;
use serde_json::json;

use crate::{
    fakes::{Beat, FakeSandbox, Reaction, printed},
    stage::{Stage, calls, click, ending, runs, says, types},
};

/// Runs a turn and stops it once an event of this kind is in the log.
async fn stopped_at(stage: &Stage, kind: &str) {
    let (report, at) = tokio::join!(stage.run(), async {
        stage.log.until(kind).await;
        stage.stop.cancel();
        tokio::time::Instant::now()
    });
    assert!(at.elapsed() < Duration::from_secs(1));
    assert_eq!(ending(&report), "stopped (steps: 1)");
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_first_step_asks_nobody() {
    let stage = Stage::new(vec![says("Hello.")]);
    stage.stop.cancel();
    assert_eq!(ending(&stage.run().await), "stopped (steps: 0)");
    assert!(stage.model.requests.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_model_speaks_keeps_what_it_said() {
    let stage = Stage::new(vec![vec![
        Beat::Say(Chunk::Thinking("Let me see.".to_owned())),
        Beat::Say(Chunk::Text("I am ".to_owned())),
        calls(vec![click(1, 1)]).remove(0),
        Beat::Hang,
    ]]);
    stopped_at(&stage, "thinking").await;
    assert_snapshot!(stage.story(), @r#"
    thinking 0 "Let me see."
    -
    text 1 "I am "
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_an_action_cancels_it_and_all_that_wait() {
    let cancelled = Reaction::UntilCancelled(Err(ComputerError::Cancelled));
    let computer = FakeSandbox::new(vec![Reaction::Do, cancelled]);
    let answer = calls(vec![click(1, 2), types("a"), runs("ls")]);
    let stage = Stage::with_computers(vec![answer], vec![computer.clone()]);
    stopped_at(&stage, "tool_result").await;
    assert_snapshot!(stage.story(), @r#"
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b computer {"action":"type","text":"a"}
    use c bash {"command":"ls","shell":"run"}
    whole 1
    -
    result a "Clicked at (1, 2)."
    -
    error b "Stopped before it was done."
    error c "Stopped before it was done."
    "#);
    assert_eq!(computer.requests.borrow().len(), 2);
    let stopped = ["b", "c"].map(|call| (call.to_owned(), NotDone::Stopped));
    assert_eq!(stage.not_done(), stopped);
}

#[tokio::test(start_paused = true)]
async fn a_stop_tells_what_was_done_all_the_same() {
    let acted = Acted {
        pointer: Some(Point { x: 1, y: 2 }),
        ..Acted::default()
    };
    let output = printed("half of it", ShellEnding::Interrupted);
    for (call, reply, told) in [
        (
            click(1, 2),
            SessionReply::Act(acted),
            r#"result a "Clicked at (1, 2).""#,
        ),
        (
            runs("x"),
            SessionReply::Shell(output),
            r#"error a "half of it\nStopped before it was done.""#,
        ),
    ] {
        let computer = FakeSandbox::new(vec![Reaction::UntilCancelled(Ok(reply))]);
        let stage = Stage::with_computers(vec![calls(vec![call])], vec![computer]);
        stopped_at(&stage, "tool_use").await;
        assert_eq!(stage.story().lines().last(), Some(told));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_computer_that_is_deaf() {
    let computer = FakeSandbox::new(vec![Reaction::Deaf]);
    let stage = Stage::with_computers(vec![calls(vec![click(1, 2), runs("ls")])], vec![computer]);
    stopped_at(&stage, "tool_use").await;
    assert_snapshot!(stage.story(), @r#"
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b bash {"command":"ls","shell":"run"}
    whole 1
    -
    error a "Stopped; it is not known whether it was done."
    error b "Stopped before it was done."
    "#);
}

/// What the computer was asked last, when the model was stopped while it thought about the next step.
async fn last_request(answer: Vec<(&str, serde_json::Value)>) -> SessionRequest {
    let computer = FakeSandbox::new(Vec::new());
    let answers = vec![calls(answer), vec![Beat::Hang]];
    let stage = Stage::with_computers(answers, vec![computer.clone()]);
    let (report, ()) = tokio::join!(stage.run(), async {
        while stage.model.requests.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stage.stop.cancel();
    });
    assert_eq!(ending(&report), "stopped (steps: 2)");
    computer.requests.borrow().last().cloned().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stop_between_actions_lets_go_of_the_mouse() {
    let press = || {
        (
            "computer",
            json!({"action": "mouse_down", "button": "right"}),
        )
    };
    let release = || ("computer", json!({"action": "mouse_up", "button": "right"}));
    let is_let_go = |request| {
        let button = Button::Right;
        let action = Action::MouseUp { button };
        let (look, shown) = (false, None);
        request
            == SessionRequest::Act(Act {
                action,
                look,
                shown,
            })
    };
    assert!(is_let_go(last_request(vec![press()]).await));
    assert!(is_let_go(last_request(vec![press(), click(1, 1)]).await));
    // There is nothing to let go.
    assert!(!is_let_go(last_request(vec![press(), release()]).await));
    assert!(!is_let_go(last_request(vec![click(1, 1)]).await));
}

#[tokio::test(start_paused = true)]
async fn letting_go_does_not_wait_for_a_computer_that_is_deaf() {
    let computer = FakeSandbox::new(vec![Reaction::Do, Reaction::Deaf, Reaction::Deaf]);
    let press = ("computer", json!({"action": "mouse_down"}));
    let stage = Stage::with_computers(
        vec![calls(vec![press, click(1, 2)])],
        vec![computer.clone()],
    );
    stopped_at(&stage, "tool_result").await;
    assert_eq!(computer.requests.borrow().len(), 3);
}
