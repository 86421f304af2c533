//! Numbers of everything.

use deskhand_core::{
    event::QueueChange,
    session::{Phase, Signal},
};
use deskhand_store::{ChangeWaiting, PhaseMove, Transition};

use crate::{World, log::prompt, on_both_databases};

on_both_databases! {
    sessions_are_counted_by_phase_and_prompts_while_they_can_be_taken,
}

async fn sessions_are_counted_by_phase_and_prompts_while_they_can_be_taken(world: World) {
    assert_eq!(world.store.n_sessions_by_phase().await.unwrap(), []);
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 0);
    let (open, ended) = (world.session().await, world.session().await);
    for session in [open, open, ended] {
        world.commit(session, prompt(&world, "x")).await.unwrap();
    }
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 3);
    let unwanted = world.store.waiting(open).await.unwrap()[0].id;
    let remove = ChangeWaiting {
        message: unwanted,
        by: world.user,
        changes: &[QueueChange::Removed],
    };
    world.commit(open, remove).await.unwrap();
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 2);
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    world.commit(ended, end).await.unwrap();
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 1);
    assert_eq!(
        world.store.n_sessions_by_phase().await.unwrap(),
        [(Phase::Initializing, 1), (Phase::Terminated, 1)]
    );
}
