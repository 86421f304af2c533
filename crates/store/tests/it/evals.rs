//! Evals: runs, their trials, and the moves between states.

use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, UserId},
};
use deskhand_store::{NewEval, NewTrial, TrialEnd};
use jiff::Timestamp;

use crate::{World, on_both_databases};

on_both_databases! {
    a_run_has_its_trials_in_order,
    a_trial_begins_once_and_ends_once,
    a_cut_trial_waits_again_and_its_cost_counts,
    a_stopped_run_has_a_result_for_every_trial_and_begins_no_more,
    a_run_is_deleted_by_its_owner_after_its_end,
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
    let session = world.session().await;
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
    store.skip_trial(id, 0, "no money", at(9)).await.unwrap();
    store.skip_trial(id, 1, "no money", at(9)).await.unwrap();
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
    assert_eq!(progress.n_failed, 0);
    // In the end it has cost what its session has cost, which is nothing.
    store.settle_trial_cost(id, 0).await.unwrap();
    assert_eq!(store.trials(id).await.unwrap()[0].cost_usd.to_bits(), 0);
}

async fn a_stopped_run_has_a_result_for_every_trial_and_begins_no_more(world: World) {
    let (store, owner) = (&world.store, world.user);
    let id = insert(&world, owner, 3).await;
    let session = world.session().await;
    for number in [0, 1] {
        assert!(store.begin_trial(id, number, at(1)).await.unwrap());
    }
    store.set_trial_session(id, 0, session).await.unwrap();
    store
        .end_trial(id, 1, &end(TrialState::Passed))
        .await
        .unwrap();
    assert_eq!(store.leftover_trial_sessions().await.unwrap(), []);
    assert!(store.stop_eval(id, "enough", at(5)).await.unwrap());
    assert!(!store.stop_eval(id, "again", at(6)).await.unwrap());
    let leftover = store.leftover_trial_sessions().await.unwrap();
    assert_eq!(leftover, [(owner, session)]);
    store.repeat_trial(id, 0, true).await.unwrap();
    assert!(!store.begin_trial(id, 2, at(7)).await.unwrap());
    let trials = store.trials(id).await.unwrap();
    let states: Vec<_> = trials.iter().map(|trial| trial.state).collect();
    let (passed, skipped) = (TrialState::Passed, TrialState::Skipped);
    assert_eq!(states, [skipped, passed, skipped]);
    assert_eq!(trials[0].reason.as_deref(), Some("enough"));
    let row = store.eval(owner, id).await.unwrap().unwrap();
    assert_eq!((row.state, row.ended_at), (EvalState::Stopped, Some(at(5))));
    assert_eq!(store.open_evals().await.unwrap(), []);
}

async fn a_run_is_deleted_by_its_owner_after_its_end(world: World) {
    let (store, owner) = (&world.store, world.user);
    let id = insert(&world, owner, 2).await;
    assert!(!store.delete_eval(owner, id).await.unwrap());
    assert!(store.stop_eval(id, "enough", at(5)).await.unwrap());
    assert!(!store.delete_eval(UserId::new(), id).await.unwrap());
    let suite = store.eval_suite(id).await.unwrap();
    assert_eq!(suite.as_deref(), Some("name: mine"));
    assert_eq!(store.trials(id).await.unwrap().len(), 2);
    assert_eq!(store.evals_ended_before(at(5), 9).await.unwrap(), []);
    let ended = store.evals_ended_before(at(6), 9).await.unwrap();
    assert_eq!(ended, [(owner, id)]);
    assert!(store.delete_eval(owner, id).await.unwrap());
    assert_eq!(store.eval(owner, id).await.unwrap(), None);
    assert_eq!(store.trials(id).await.unwrap(), []);
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
