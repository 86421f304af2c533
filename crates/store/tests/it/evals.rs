//! Evals: runs, their trials, and the moves between states.

use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, SessionId, UserId},
};
use deskhand_store::{NewEval, NewTrial, TrialEnd};
use jiff::Timestamp;

use crate::{World, on_both_databases};

on_both_databases! {
    a_run_has_its_trials_in_order,
    a_trial_begins_once_and_ends_once,
    a_cut_trial_waits_again_and_its_cost_counts,
    runs_come_in_pages_newest_first,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_770_000_000 + second).unwrap()
}

async fn insert(world: &World, owner: UserId, n_tasks: usize) -> EvalId {
    let id = EvalId::new();
    let trial = |n| NewTrial {
        task: format!("task-{n}"),
        model: "scripted/demo".to_owned(),
        round: 1,
    };
    let new = NewEval {
        id,
        owner,
        name: "mine",
        suite: "name: mine",
        models: &["scripted/demo".to_owned()],
        n_rounds: 1,
        n_parallel: 4,
        budget_usd: Some(2.5),
        created_at: at(0),
        trials: (0..n_tasks).map(trial).collect(),
    };
    assert!(world.store.insert_eval(new, 9).await.unwrap());
    id
}

fn end(state: TrialState) -> TrialEnd {
    TrialEnd {
        state,
        reason: Some("because".to_owned()),
        duration_ms: Some(1500),
        at: at(9),
    }
}

async fn a_run_has_its_trials_in_order(world: World) {
    let (store, owner) = (&world.store, world.user);
    let id = insert(&world, owner, 3).await;
    let row = store.eval(owner, id).await.unwrap().unwrap();
    assert_eq!((&*row.name, row.budget_usd), ("mine", Some(2.5)));
    assert_eq!((row.state, row.progress.n_trials), (EvalState::Running, 3));
    assert_eq!(store.eval(UserId::new(), id).await.unwrap(), None);
    let trials = store.trials(id).await.unwrap();
    let tasks: Vec<_> = trials.iter().map(|trial| &*trial.task).collect();
    assert_eq!(tasks, ["task-0", "task-1", "task-2"]);
    assert_eq!(store.open_evals().await.unwrap(), [row]);
    assert!(store.end_eval(id, EvalState::Done, at(5)).await.unwrap());
    assert!(!store.end_eval(id, EvalState::Stopped, at(6)).await.unwrap());
    assert_eq!(store.open_evals().await.unwrap(), []);
}

async fn a_trial_begins_once_and_ends_once(world: World) {
    let (store, owner) = (&world.store, world.user);
    let id = insert(&world, owner, 2).await;
    assert!(store.begin_trial(id, 0, at(1)).await.unwrap());
    assert!(!store.begin_trial(id, 0, at(1)).await.unwrap());
    let session = SessionId::new();
    store.set_trial_session(id, 0, session).await.unwrap();
    store.add_trial_cost(id, 0, 1, 0.25).await.unwrap();
    store.add_trial_cost(id, 0, 1, 0.5).await.unwrap();
    store
        .end_trial(id, 0, &end(TrialState::Passed))
        .await
        .unwrap();
    store
        .end_trial(id, 0, &end(TrialState::Failed))
        .await
        .unwrap();
    assert!(store.skip_trials(id, "no money", at(9)).await.unwrap());
    assert!(!store.skip_trials(id, "no money", at(9)).await.unwrap());
    let trials = store.trials(id).await.unwrap();
    let first = &trials[0];
    assert_eq!(
        (first.state, first.session),
        (TrialState::Passed, Some(session))
    );
    assert_eq!((first.n_steps, first.duration_ms), (2, Some(1500)));
    assert!((first.cost_usd - 0.75).abs() < 1e-9);
    assert_eq!(
        (first.started_at, first.ended_at),
        (Some(at(1)), Some(at(9)))
    );
    assert_eq!(trials[1].state, TrialState::Skipped);
    assert_eq!(trials[1].reason.as_deref(), Some("no money"));
    let progress = store.eval(owner, id).await.unwrap().unwrap().progress;
    assert_eq!((progress.n_ended, progress.n_passed), (2, 1));
}

async fn a_cut_trial_waits_again_and_its_cost_counts(world: World) {
    let (store, owner) = (&world.store, world.user);
    let id = insert(&world, owner, 1).await;
    assert!(store.begin_trial(id, 0, at(1)).await.unwrap());
    store.add_trial_cost(id, 0, 3, 0.5).await.unwrap();
    store.repeat_trial(id, 0, true).await.unwrap();
    let trial = &store.trials(id).await.unwrap()[0];
    assert_eq!((trial.state, trial.n_restarts), (TrialState::Waiting, 1));
    assert_eq!(
        (trial.n_steps, trial.session, trial.started_at),
        (0, None, None)
    );
    assert!(store.begin_trial(id, 0, at(2)).await.unwrap());
    store.add_trial_cost(id, 0, 1, 0.25).await.unwrap();
    store
        .end_trial(id, 0, &end(TrialState::Failed))
        .await
        .unwrap();
    // One that has ended is not repeated.
    store.repeat_trial(id, 0, true).await.unwrap();
    let trial = &store.trials(id).await.unwrap()[0];
    assert_eq!((trial.state, trial.n_restarts), (TrialState::Failed, 1));
    assert!((trial.cost_usd - 0.25).abs() < 1e-9 && (trial.lost_usd - 0.5).abs() < 1e-9);
    let progress = store.eval(owner, id).await.unwrap().unwrap().progress;
    assert!((progress.usd - 0.75).abs() < 1e-9);
}

async fn runs_come_in_pages_newest_first(world: World) {
    let (store, owner) = (&world.store, world.user);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(insert(&world, owner, 1).await);
    }
    let read = async |before| {
        let page = store.evals(owner, before, 2).await.unwrap();
        let ids: Vec<_> = page.rows.iter().map(|row| row.id).collect();
        (ids, page.next)
    };
    assert_eq!(read(None).await, (vec![ids[2], ids[1]], Some(ids[1])));
    assert_eq!(read(Some(ids[1])).await, (vec![ids[0]], None));
    let page = store.evals(UserId::new(), None, 2).await.unwrap();
    assert!(page.rows.is_empty());
}
