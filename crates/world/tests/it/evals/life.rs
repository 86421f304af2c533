//! From the start of a run to its end, across restarts, and the way of one trial.

use deskhand_api::evals::{BuiltInSuitesView, EvalsView};
use deskhand_world::Ending;

use super::*;

#[tokio::test]
async fn each_model_gets_each_task_and_the_checkers_decide() {
    let world = EvalWorld::start(&[("worker", WORKER), ("talker", TALKER)]).await;
    let id = world
        .run(&suite(2, ""), &["worker", "talker"], json!({"runs": 2}))
        .await;
    let results = world.until_over(id).await;
    let eval = &results.eval;
    assert_eq!((&*eval.suite, eval.state), ("mine", EvalState::Done));
    assert_eq!((eval.n_trials, eval.n_ended, eval.n_passed), (8, 8, 4));
    assert!(eval.ended_at.is_some());
    assert_eq!(results.description, "Tasks of a test.");

    let worker = figures(&results, "worker");
    assert_eq!((worker.n_passed, worker.n_failed, worker.n_open), (4, 0, 0));
    let success = worker.success.unwrap();
    assert!((success.rate - 1.0).abs() < 1e-9 && (0.5..0.52).contains(&success.low));
    assert_eq!(worker.median_steps, Some(2.0));
    assert!(worker.median_seconds.is_some());
    let talker = figures(&results, "talker");
    assert_eq!((talker.n_passed, talker.n_failed), (0, 4));
    assert_eq!(talker.median_steps, Some(1.0));

    let names: Vec<_> = results.tasks.iter().map(|task| &*task.name).collect();
    assert_eq!(names, ["task-1", "task-2"]);
    let of_first: Vec<_> = results.tasks[0].trials.iter().collect();
    let order: Vec<_> = of_first
        .iter()
        .map(|trial| (&*trial.model, trial.round))
        .collect();
    let (first, second) = ("scripted/worker", "scripted/talker");
    assert_eq!(order, [(first, 1), (first, 2), (second, 1), (second, 2)]);
    assert_eq!(of_first[0].reason.as_deref(), Some("done"));
    let reason = of_first[2].reason.as_deref().unwrap();
    assert!(reason.ends_with("No such file or directory"), "{reason}");

    // Its session says what it was for, and has ended.
    let session = of_first[0].session.unwrap();
    let session = world.client().session(&session.to_string());
    let shown = session.show().await;
    assert_eq!(shown["title"], "mine: task-1");
    assert_eq!(shown["metadata"]["eval"]["run"], id.to_string());
    assert_eq!(shown["network"]["mode"], "closed");
    assert_eq!(shown["approvals"]["mode"], "never");
    assert_eq!(shown["state"], "terminated");

    let listed: EvalsView = world.client().get("/api/evals").await.view();
    assert_eq!((listed.evals, listed.next), (vec![eval.clone()], None));
}

#[tokio::test]
async fn the_set_up_is_there_before_the_turn_and_the_checker_after_it() {
    let looks = "
steps:
  - calls:
      - bash: {command: 'cat /home/agent/given.txt'}
      - bash: {command: 'cat /home/agent/made.txt'}
      - bash: {command: 'cat /tmp/eval/check.sh'}
      - bash: {command: 'cat /tmp/eval/setup.sh'}
  - text: \"{{ result.1 }} {{ result.2 }} {{ result.3 }}\\n{{ result.4 }}\"
";
    let suite = "
name: mine
tasks:
  - name: looks
    task: Look around.
    files: {~/given.txt: given}
    setup: printf made > /home/agent/made.txt
    check: cat /tmp/eval/answer.txt
";
    let trial = EvalWorld::one_trial(looks, suite).await;
    assert_eq!(trial.state, TrialState::Passed);
    let reason = trial.reason.unwrap();
    assert!(
        reason.contains("/tmp/eval/setup.sh: No such file"),
        "{reason}"
    );
    let world = EvalWorld::start(&[("looks", looks)]).await;
    let id = world.run(suite, &["looks"], json!({})).await;
    let session = world.until_over(id).await.tasks[0].trials[0]
        .session
        .unwrap();
    let messages = world
        .client()
        .session(&session.to_string())
        .messages()
        .await;
    let answer = messages.last().unwrap()["content"].as_str().unwrap();
    let beginning = "given made cat: /tmp/eval/check.sh: No such file";
    assert!(answer.starts_with(beginning), "{answer}");
}

#[tokio::test]
async fn doubles_play_the_steps_of_each_task() {
    let suite = "
name: mine
tasks:
  - name: one
    task: Write one.
    check: cat /home/agent/one.txt
    oracle: [{calls: [{bash: {command: 'echo 1 > /home/agent/one.txt'}}]}, {text: Done.}]
    fool: [{text: Done.}]
  - name: two
    task: Write two.
    check: cat /home/agent/two.txt
    oracle: [{calls: [{bash: {command: 'echo 2 > /home/agent/two.txt'}}]}, {text: Done.}]
    fool: [{calls: [{bash: {command: 'echo 2 > /home/agent/one.txt'}}]}, {text: Done.}]
";
    let world = EvalWorld::start(&[]).await;
    let id = world.run(suite, &["oracle", "fool"], json!({})).await;
    let results = world.until_over(id).await;
    assert_eq!(figures(&results, "oracle").n_passed, 2);
    assert_eq!(figures(&results, "fool").n_failed, 2);
}

#[tokio::test]
async fn a_run_goes_on_after_a_restart_and_begins_cut_trials_anew() {
    for ending in [Ending::InOrder, Ending::Crash] {
        let priced = format!(
            "price: {{input: 1}}\n{}",
            SLOW.replace("- calls", "- usage: {input: 50000}\n    calls")
        );
        let mut world = EvalWorld::start(&[("slow", &priced)]).await;
        let suite = suite(2, "").replace("cat /home/agent/done.txt", "'true'");
        let id = world.run(&suite, &["slow"], json!({"parallel": 1})).await;
        let before = world
            .until(id, |results| results.tasks[0].trials[0].n_steps > 0)
            .await;
        let cut = before.tasks[0].trials[0].session.unwrap();
        world.world.end(ending).await;
        world.world.open().await;
        let results = world.until_over(id).await;
        assert_eq!(states(&results), [TrialState::Passed; 2], "{ending:?}");
        let (first, second) = (&results.tasks[0].trials[0], &results.tasks[1].trials[0]);
        assert_eq!((first.n_restarts, second.n_restarts), (1, 0));
        assert_ne!(first.session, Some(cut));
        let session = world.client().session(&cut.to_string()).show().await;
        assert_eq!(session["state"], "terminated");
        // The attempt that was cut short has cost something, too.
        assert!((first.cost_usd - 0.05).abs() < 1e-6, "{first:?}");
        assert!(results.eval.cost_usd > 0.14, "{:?}", results.eval);
        let of_sessions = world.cost_of_sessions().await;
        assert!((results.eval.cost_usd - of_sessions).abs() < 1e-6);
    }
}

#[tokio::test]
async fn a_stopped_run_ends_its_sessions_and_begins_no_more() {
    let world = EvalWorld::start(&[("slow", SLOW)]).await;
    let id = world
        .run(&suite(3, ""), &["slow"], json!({"parallel": 2}))
        .await;
    let running = world
        .until(id, |results| {
            let sessions = results
                .tasks
                .iter()
                .filter_map(|task| task.trials[0].session);
            sessions.count() == 2
        })
        .await;
    let path = format!("/api/evals/{id}/stop");
    let stopped: EvalResultsView = world.client().post(&path, json!({})).await.view();
    assert_eq!(stopped.eval.state, EvalState::Stopped);
    // No trial is left without a result, however long its session takes to end.
    assert_eq!(stopped.eval.n_ended, 3);
    assert_eq!(states(&stopped), [TrialState::Skipped; 3]);
    let reason = stopped.tasks[0].trials[0].reason.as_deref();
    assert_eq!(reason, Some("the eval was stopped"));
    for task in &running.tasks[..2] {
        world.until_ended(task.trials[0].session.unwrap()).await;
    }
    // A second time changes nothing.
    let again: EvalResultsView = world.client().post(&path, json!({})).await.view();
    assert_eq!(again, stopped);
}

#[tokio::test]
async fn the_sessions_of_a_stopped_run_end_even_if_the_server_ends_at_once() {
    for ending in [Ending::InOrder, Ending::Crash] {
        let mut world = EvalWorld::start(&[("slow", SLOW)]).await;
        let id = world.run(&suite(2, ""), &["slow"], json!({})).await;
        let running = world
            .until(id, |results| results.tasks[0].trials[0].session.is_some())
            .await;
        let session = running.tasks[0].trials[0].session.unwrap();
        let path = format!("/api/evals/{id}/stop");
        world.client().post(&path, json!({})).await.good();
        world.world.end(ending).await;
        world.world.open().await;
        world.until_ended(session).await;
        let shown = world.show(id).await;
        assert_eq!(states(&shown), [TrialState::Skipped; 2], "{ending:?}");
    }
}

#[tokio::test]
async fn the_built_in_suite_is_listed() {
    let world = EvalWorld::start(&[]).await;
    let suites: BuiltInSuitesView = world.client().get("/api/eval-suites").await.view();
    let desktop = suites.suites.iter().find(|suite| suite.name == "desktop");
    assert_eq!(desktop.unwrap().n_tasks, 20);
}
