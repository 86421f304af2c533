//! A turn that a server left unfinished is taken up where it was.

use deskhand_core::{
    event::{EventBody, Status},
    id::TurnId,
    model::End,
    sandbox::SessionRequest,
    session::{Phase, SandboxState},
};

use crate::{
    fakes::{Beat, FakeModel, FakeSandbox},
    stage::{Stage, calls, click, ending, ends, prompt, runs, says, screenshot},
};

/// A turn of four answers, the second with a batch, and the third too long.
fn answers() -> Vec<Vec<Beat>> {
    vec![
        calls(vec![runs("one")]),
        calls(vec![click(1, 2), runs("two"), screenshot()]),
        ends(says("All"), End::Unfinished),
        says(" done."),
    ]
}

fn status(turn: TurnId) -> EventBody {
    EventBody::Status(Status {
        state: Phase::Running,
        sandbox: SandboxState::Lost,
        reason: None,
        turn: Some(turn),
        prompt: None,
    })
}

/// What a turn stores, transaction by transaction, when nothing holds it up.
async fn undisturbed(turn: TurnId) -> Vec<Vec<EventBody>> {
    let stage = Stage::new(answers());
    let report = stage.turn(turn).run().await;
    assert_eq!(ending(&report), "done: All done. (steps: 4)");
    stage.log.appended.borrow().clone()
}

fn count(bodies: &[EventBody], kind: &str) -> usize {
    bodies.iter().filter(|body| body.kind() == kind).count()
}

#[tokio::test(start_paused = true)]
async fn wherever_it_was_cut_it_comes_to_the_same_end_and_does_nothing_twice() {
    let turn = TurnId::new();
    let stored = undisturbed(turn).await;
    for cut in 0..=stored.len() {
        let past: Vec<EventBody> = stored[..cut].iter().flatten().cloned().collect();
        let n_whole = count(&past, "cost");
        let n_results = count(&past, "tool_result");
        let n_unknown = usize::from(count(&past, "tool_use") > n_results);

        let sandbox = FakeSandbox::new(Vec::new());
        // What was not done because of the unknown fate is asked for again, as a model would.
        let mut rest = answers().split_off(n_whole);
        if n_unknown > 0 {
            rest.insert(0, calls(vec![screenshot()]));
        }
        let n_rest = rest.len();
        let mut stage = Stage::with_computers(rest, vec![sandbox.clone()]);
        stage.history = vec![prompt("do it"), status(turn)];
        stage.history.extend(past.clone());
        stage.history.push(status(turn));
        let report = stage.turn(turn).run().await;

        let end = ending(&report);
        assert!(end.starts_with("done: All done."), "cut at {cut}: {end}");
        assert_eq!(
            stage.model.requests.lock().unwrap().len(),
            n_rest,
            "cut at {cut}: a stored answer was asked for again, or one was left out"
        );
        let done = stage.log.bodies();
        let n_uses = count(&past, "tool_use") + count(&done, "tool_use");
        let n_all = n_results + count(&done, "tool_result");
        assert_eq!(n_uses, n_all, "cut at {cut}: every call has one result");
        // Whatever the log had begun is not sent to the computer again.
        let sent = sandbox.requests.borrow().clone();
        let has_sent = |command: &str| {
            sent.iter().any(|request| {
                matches!(request, SessionRequest::Shell(shell) if format!("{shell:?}").contains(command))
            })
        };
        for (command, begun_with) in [("one", 1), ("two", 2)] {
            assert!(
                !(n_whole >= begun_with && has_sent(command)),
                "cut at {cut}: {command} was sent again"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_action_that_may_have_been_done_is_told_as_unknown() {
    let turn = TurnId::new();
    let stored = undisturbed(turn).await;
    let mut stage = Stage::new(vec![]);
    stage.model = FakeModel::new(vec![says("I see.")]);
    // Up to and with the batch, none of which has a result.
    let batch = stored
        .iter()
        .position(|bodies| count(bodies, "tool_use") == 3)
        .unwrap();
    stage.history.push(status(turn));
    stage
        .history
        .extend(stored[..=batch].iter().flatten().cloned());
    stage.history.push(status(turn));
    stage.turn(turn).run().await;
    insta::assert_snapshot!(stage.story(), @r#"
    error a "The server stopped during this action, so it is not known whether it was done. The computer was restarted: files are kept, open programs are gone."
    error b "Not executed: an earlier computer action in this turn failed."
    error c "Not executed: an earlier computer action in this turn failed."
    -
    text 0 "I see."
    whole 3
    "#);
}
