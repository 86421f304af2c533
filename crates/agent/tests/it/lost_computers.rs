//! Computers that die, and desks that have none.

use deskhand_core::sandbox::ComputerError;
use insta::assert_snapshot;

use crate::{
    fakes::{FakeSandbox, Reaction},
    stage::{Stage, calls, click, ending, runs, says},
};

#[tokio::test(start_paused = true)]
async fn a_turn_that_only_speaks_needs_no_computer() {
    let stage = Stage::with_computers(vec![says("Hello.")], Vec::new());
    assert_snapshot!(ending(&stage.run().await), @"done: Hello. (steps: 1)");
    assert_eq!(*stage.desk.n_asked.lock().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_desk_is_asked_once_while_the_computer_lives() {
    let work = || calls(vec![click(1, 2), runs("ls")]);
    let stage = Stage::new(vec![work(), work(), says("Done.")]);
    stage.run().await;
    assert_eq!(*stage.desk.n_asked.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_action_of_unknown_fate_is_told_and_never_repeated() {
    for error in [ComputerError::FateUnknown, ComputerError::Gone] {
        let dying = FakeSandbox::new(vec![Reaction::Answer(Err(error.clone()))]);
        let fresh = FakeSandbox::new(Vec::new());
        let stage = Stage::with_computers(
            vec![
                calls(vec![click(1, 2), runs("ls")]),
                calls(vec![runs("pwd")]),
                says("Done."),
            ],
            vec![dying.clone(), fresh.clone()],
        );
        let report = stage.run().await;
        assert_eq!(ending(&report), "done: Done. (steps: 3)");
        assert_eq!(dying.requests.borrow().len(), 1);
        assert_eq!(fresh.requests.borrow().len(), 1);
        if error == ComputerError::Gone {
            assert_snapshot!(stage.story().lines().nth(3).unwrap(), @"-");
        } else {
            assert_snapshot!(stage.story(), @r#"
            use a computer {"action":"click","at":{"x":1,"y":2}}
            use b bash {"command":"ls","shell":"run"}
            whole 1
            -
            error a "The computer was lost during this action, so it is not known whether it was done. It starts again for the next action: files are kept, open programs are gone."
            error b "Not executed: an earlier computer action in this turn failed."
            -
            use a bash {"command":"pwd","shell":"run"}
            whole 2
            -
            result a "output"
            -
            text 0 "Done."
            whole 3
            "#);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_desk_without_a_computer_ends_the_turn() {
    let dying = FakeSandbox::new(vec![Reaction::Answer(Err(ComputerError::FateUnknown))]);
    let mut stage = Stage::with_computers(
        vec![
            calls(vec![click(1, 2)]),
            calls(vec![runs("ls"), runs("pwd")]),
        ],
        vec![dying],
    );
    std::sync::Arc::get_mut(&mut stage.desk).unwrap().runs_out = true;
    let report = stage.run().await;
    assert_snapshot!(ending(&report), @"sandbox_failed: The sandbox could not be started: bubblewrap is missing. (steps: 2)");
    assert_snapshot!(stage.story(), @r#"
    use a computer {"action":"click","at":{"x":1,"y":2}}
    whole 1
    -
    error a "The computer was lost during this action, so it is not known whether it was done. It starts again for the next action: files are kept, open programs are gone."
    -
    use a bash {"command":"ls","shell":"run"}
    use b bash {"command":"pwd","shell":"run"}
    whole 2
    -
    error a "Not executed: the computer was not ready."
    error b "Not executed: the turn ended before."
    "#);
}
