//! Numbers of everything.

use deskhand_core::{
    clock::{Clock, SystemClock},
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
        let queued = world.store.queue_prompt(prompt(&world, session, "x"), 9);
        queued.await.unwrap().unwrap().unwrap();
    }
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 3);
    let unwanted = world.store.waiting(open).await.unwrap()[0].id;
    let remove = [QueueChange::Removed];
    let now = SystemClock.now();
    let removed = world
        .store
        .change_waiting(open, unwanted, world.user, &remove, now);
    assert!(matches!(removed.await.unwrap(), ChangeWaiting::Changed(_)));
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 2);
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    let moved = world.store.transition(ended, end, SystemClock.now()).await;
    assert!(moved.unwrap().is_some());
    assert_eq!(world.store.n_waiting_everywhere().await.unwrap(), 1);
    assert_eq!(
        world.store.n_sessions_by_phase().await.unwrap(),
        [(Phase::Initializing, 1), (Phase::Terminated, 1)]
    );
}
