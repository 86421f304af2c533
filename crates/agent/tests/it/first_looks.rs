//! The beginning of a turn: the screen as it is, and what has become of the computer.

use deskhand_core::{
    blob::{BlobFormat, BlobName},
    event::{EventBody, Outcome, Screenshot, Status},
    id::{MessageId, TurnId},
    model::Item,
    session::{Phase, SandboxState},
};

use crate::{
    fakes::FakeSandbox,
    stage::{Stage, complete, prompt, says},
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

/// What has happened to the computer before the turn.
#[derive(Debug, Clone, Copy)]
enum Before {
    Was(SandboxState),
    /// The agent looked at the screen.
    Used,
}

fn event(before: Before) -> EventBody {
    match before {
        Before::Was(sandbox) => status(sandbox, None),
        Before::Used => EventBody::Screenshot(Screenshot {
            turn: Some(TurnId::new()),
            call: None,
            blob: BlobName::of([1; 32], BlobFormat::Png),
            // No model is shown a picture of this size.
            width: 1,
            height: 1,
        }),
    }
}

/// Returns the texts of the first request, and the number of its pictures.
async fn first_request(before: &[Before]) -> (String, usize) {
    let turn = TurnId::new();
    let mut stage = Stage::new(vec![says("Done.")]);
    stage.history = before.iter().copied().map(event).collect();
    let states = before.iter().rev().filter_map(|before| match before {
        Before::Was(sandbox) => Some(*sandbox),
        Before::Used => None,
    });
    let now = states.into_iter().next().unwrap_or(SandboxState::None);
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
    use Before::{Used, Was};
    use SandboxState::{Lost, None, Paused, Ready, Starting, Stopped};
    // Opening the page starts the computer of a sleeping session.
    let opened = [Was(Stopped), Was(Starting), Was(Ready)];
    for (before, is_anew) in [
        (vec![], false),
        (vec![Was(None)], false),
        (vec![Was(None), Was(Ready)], false),
        (vec![Was(Ready), Used], false),
        (vec![Was(Ready), Used, Was(Stopped)], true),
        (vec![Was(Ready), Used, Was(Lost)], true),
        (vec![Was(Ready), Used, Was(None)], true),
        (vec![Was(Ready), Used, Was(Paused), Was(Ready)], false),
        ([&[Was(Ready), Used], &opened[..]].concat(), true),
        ([&[Was(Ready)], &opened[..]].concat(), false),
        ([&[Was(Ready), Used], &opened[..], &[Used]].concat(), false),
    ] {
        let (text, n_pictures) = first_request(&before).await;
        assert_eq!(n_pictures, 1, "{before:?}");
        assert_eq!(text.contains("started anew"), is_anew, "{before:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_was_told_and_did_nothing_since_is_not_told_again() {
    use Before::{Used, Was};
    let mut history: Vec<_> = [Was(SandboxState::Ready), Used, Was(SandboxState::Lost)]
        .map(event)
        .into();
    for _ in 0..2 {
        let turn = TurnId::new();
        let computers = Vec::<std::sync::Arc<FakeSandbox>>::new();
        let mut stage = Stage::with_computers(vec![says("Done.")], computers);
        history.extend([prompt("hello"), status(SandboxState::Lost, Some(turn))]);
        stage.history = history.clone();
        stage.turn(turn).run().await;
        let shown = format!("{:?}", stage.shown());
        assert_eq!(shown.matches("started anew").count(), 1, "{shown}");
        history.extend(stage.log.bodies());
        history.push(complete(turn, Outcome::Done));
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
