//! The beginning of a turn: the screen as it is, and what has become of the computer.

use deskhand_core::{
    event::{EventBody, Status},
    id::{MessageId, TurnId},
    model::Item,
    session::{Phase, SandboxState},
};

use crate::{
    fakes::FakeSandbox,
    stage::{Stage, prompt, says},
};

fn status(sandbox: SandboxState, turn: Option<TurnId>) -> EventBody {
    EventBody::Status(Status {
        state: Phase::Running,
        sandbox,
        reason: None,
        turn,
        prompt: turn.map(|_turn| MessageId::new()),
    })
}

/// Returns the texts of the first request, and the number of its pictures.
async fn first_request(sandboxes: &[SandboxState]) -> (String, usize) {
    let turn = TurnId::new();
    let mut stage = Stage::new(vec![says("Done.")]);
    stage.history = sandboxes.iter().map(|one| status(*one, None)).collect();
    let now = sandboxes.last().copied().unwrap_or(SandboxState::None);
    stage
        .history
        .extend([prompt("do it"), status(now, Some(turn))]);
    stage.turn(turn).run().await;
    let requests = stage.model.requests.lock().unwrap();
    let items = &requests[0].items;
    let is_picture = |item: &&Item| matches!(item, Item::HandedBack { image: Some(_), .. });
    (
        format!("{items:?}"),
        items.iter().filter(is_picture).count(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_turn_begins_with_a_picture_and_says_if_the_computer_was_started_anew() {
    use SandboxState::{Lost, None, Ready, Stopped};
    for (sandboxes, is_anew) in [
        (vec![], false),
        (vec![None], false),
        (vec![None, Ready], false),
        (vec![None, Ready, Stopped], true),
        (vec![Ready, Lost], true),
        (vec![Ready, Stopped, Ready], false),
    ] {
        let (text, n_pictures) = first_request(&sandboxes).await;
        assert_eq!(n_pictures, 1, "{sandboxes:?}");
        assert_eq!(text.contains("started anew"), is_anew, "{sandboxes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_computer_that_cannot_start_does_not_keep_the_agent_from_talking() {
    let turn = TurnId::new();
    let mut stage = Stage::with_computers(
        vec![says("Done.")],
        Vec::<std::sync::Arc<FakeSandbox>>::new(),
    );
    stage.history = vec![prompt("hello"), status(SandboxState::None, Some(turn))];
    let end = stage.turn(turn).run().await.end;
    assert!(
        matches!(end, deskhand_agent::TurnEnd::Done { .. }),
        "{end:?}"
    );
}
