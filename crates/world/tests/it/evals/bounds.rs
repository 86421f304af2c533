//! Limits: of the task, of the run, and of the user whose sessions the trials are.

use super::*;

#[tokio::test]
async fn trials_run_side_by_side_as_far_as_the_limits_of_the_user_allow() {
    let options = WorldOptions::default().knowing(&[("slow", SLOW)]);
    let options = options.limited(|limits| limits.awake_sessions = 2);
    let world = EvalWorld::with(options).await;
    let suite = suite(5, "").replace("cat /home/agent/done.txt", "'true'");
    let id = world.run(&suite, &["slow"], json!({"parallel": 4})).await;
    let held = world
        .until(id, |results| results.eval.waits_for.is_some())
        .await;
    let reason = held.eval.waits_for.unwrap();
    assert!(reason.contains("2 of 2 sessions are awake"), "{reason}");
    let mut most = 0;
    let results = loop {
        let results = world.show(id).await;
        let running = states(&results);
        let n_awake = running
            .iter()
            .filter(|state| **state == TrialState::Running);
        most = most.max(n_awake.count());
        if results.eval.state != EvalState::Running {
            break results;
        }
        world.world.pass(Duration::from_secs(5)).await;
    };
    // Those beyond the limit begin, are refused a session, and wait again.
    assert!((2..=4).contains(&most), "{most}");
    assert_eq!(states(&results), [TrialState::Passed; 5]);
    assert_eq!(results.eval.waits_for, None);
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_run_does_not_cost_more_than_its_budget() {
    // Each trial costs 0.4 dollars.
    let dear = "
price: {input: 1}
steps:
  - usage: {input: 200000}
    calls: [{bash: {command: 'echo done > /home/agent/done.txt'}}]
  - {usage: {input: 200000}, text: It is done.}
";
    let world = EvalWorld::start(&[("dear", dear)]).await;
    let id = world
        .run(
            &suite(6, ", limits: {usd: 0.4}"),
            &["dear"],
            json!({"budget_usd": 1.0, "parallel": 3}),
        )
        .await;
    let results = world.until_over(id).await;
    let (passed, skipped) = (TrialState::Passed, TrialState::Skipped);
    assert_eq!(
        states(&results),
        [passed, passed, skipped, skipped, skipped, skipped]
    );
    assert!(results.eval.cost_usd <= 1.0 + 1e-9, "{:?}", results.eval);
    let reason = results.tasks[5].trials[0].reason.as_deref();
    assert_eq!(reason, Some("the budget of the eval was used up"));
    let dear = figures(&results, "dear");
    assert_eq!((dear.n_passed, dear.n_skipped), (2, 4));
    assert_eq!(dear.success.map(|success| success.rate), Some(1.0));
    assert_eq!(dear.median_usd, Some(0.4));
    // A trial that could not have all that it may need does not begin.
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn trials_wait_for_what_others_have_reserved() {
    let cheap = "
price: {input: 1}
steps:
  - usage: {input: 200000}
    calls: [{bash: {command: 'echo done > /home/agent/done.txt'}}]
  - {usage: {input: 200000}, text: It is done.}
";
    let world = EvalWorld::start(&[("cheap", cheap)]).await;
    // Each may cost all of the budget but one trial, and costs less.
    let suite = suite(3, ", limits: {usd: 0.6}");
    let id = world
        .run(
            &suite,
            &["cheap"],
            json!({"budget_usd": 1.0, "parallel": 3}),
        )
        .await;
    let results = world.until_over(id).await;
    let (passed, skipped) = (TrialState::Passed, TrialState::Skipped);
    assert_eq!(states(&results), [passed, passed, skipped]);
}

#[tokio::test]
async fn the_limits_that_the_server_sets_for_a_turn_do_not_count() {
    let busy = "
steps:
  - calls: [{bash: {command: echo 1}}]
  - calls: [{bash: {command: echo 2}}]
  - calls: [{bash: {command: echo 3}}]
  - calls: [{bash: {command: 'sleep 60'}}]
  - text: It is done.
";
    let limited = |limits: &str| {
        suite(1, &format!(", limits: {{{limits}}}")).replace("cat /home/agent/done.txt", "'true'")
    };
    let mut options = WorldOptions::default();
    options.settings.turn.max_steps = 1;
    options.settings.turn.max_duration = Duration::from_secs(20);
    let trial =
        EvalWorld::one_trial_with(options.clone(), busy, &limited("steps: 5, seconds: 300")).await;
    assert_eq!(trial.state, TrialState::Passed, "{trial:?}");
    assert_eq!(trial.n_steps, 5);
    let trial = EvalWorld::one_trial_with(options, busy, &limited("steps: 3")).await;
    assert_eq!(
        trial.reason.as_deref(),
        Some("not done within its limit of 3 steps")
    );
}

#[tokio::test]
async fn a_computer_that_fails_during_the_check_says_nothing_about_the_model() {
    let world = EvalWorld::start(&[("worker", WORKER)]).await;
    let suite = suite(1, "").replace("cat /home", "sleep 60; cat /home");
    let id = world.run(&suite, &["worker"], json!({})).await;
    let sandboxes = world.world.sandboxes();
    let has_checker = |session| sandboxes.file(session, "/tmp/eval/check.sh").is_some();
    let checked = world
        .until(id, |results| {
            let session = results.tasks[0].trials[0].session;
            session.is_some_and(has_checker)
        })
        .await;
    let session = checked.tasks[0].trials[0].session.unwrap();
    sandboxes.running(session).unwrap().die("out of memory");
    let results = world.until_over(id).await;
    let trial = &results.tasks[0].trials[0];
    assert_eq!(trial.state, TrialState::Error, "{trial:?}");
}

#[tokio::test]
async fn a_turn_that_reaches_a_limit_of_its_task_has_failed() {
    let busy = "
steps:
  - calls: [{bash: {command: echo 1}}]
  - calls: [{bash: {command: echo 2}}]
  - calls: [{bash: {command: echo 3}}]
  - text: It is done.
";
    let limited = |limits: &str| {
        suite(1, &format!(", limits: {{{limits}}}")).replace("cat /home/agent/done.txt", "'true'")
    };
    let trial = EvalWorld::one_trial(busy, &limited("steps: 2")).await;
    assert_eq!(trial.state, TrialState::Failed);
    assert_eq!(
        trial.reason.as_deref(),
        Some("not done within its limit of 2 steps")
    );
    assert_eq!(
        EvalWorld::one_trial(busy, &limited("steps: 4")).await.state,
        TrialState::Passed
    );

    let trial = EvalWorld::one_trial(SLOW, &limited("seconds: 30")).await;
    assert_eq!(trial.state, TrialState::Failed);
    assert_eq!(
        trial.reason.as_deref(),
        Some("not done within its limit of 30 s")
    );
    assert!((30.0..50.0).contains(&trial.seconds.unwrap()), "{trial:?}");

    let dear = "price: {input: 1000}\nsteps: [{usage: {input: 1000}, calls: [{bash: {command: ls}}]}, {text: Done.}]";
    let trial = EvalWorld::one_trial(dear, &limited("usd: 1.5")).await;
    assert_eq!(trial.state, TrialState::Failed);
    assert_eq!(
        trial.reason.as_deref(),
        Some("not done within its limit of 1.5 US dollars")
    );
}

#[tokio::test]
async fn a_question_to_a_person_fails_and_a_broken_set_up_says_nothing() {
    let asks =
        "steps: [{calls: [{ask_user: {question: 'Left or right?', form: text}}]}, {text: Done.}]";
    let trial = EvalWorld::one_trial(asks, &suite(1, "")).await;
    assert_eq!(trial.state, TrialState::Failed);
    let reason = trial.reason.unwrap();
    assert_eq!(reason, "the agent asked a person: Left or right?");

    let broken = suite(1, ", setup: 'false'");
    let trial = EvalWorld::one_trial(WORKER, &broken).await;
    assert_eq!(trial.state, TrialState::Error);
    assert!(trial.reason.unwrap().starts_with("the set-up failed"));
    assert_eq!((trial.n_steps, trial.seconds), (0, None));

    let vendor = "steps: [{error: {kind: rejected, message: no such model}}]";
    let trial = EvalWorld::one_trial(vendor, &suite(1, "")).await;
    assert_eq!(trial.state, TrialState::Error);
    assert!(trial.reason.unwrap().contains("no such model"));

    let refuses = "steps: [{error: {kind: refused, message: I will not}}]";
    let trial = EvalWorld::one_trial(refuses, &suite(1, "")).await;
    assert_eq!(trial.state, TrialState::Failed);
}

#[tokio::test]
async fn a_disabled_user_runs_nothing() {
    let world = EvalWorld::start(&[("slow", SLOW)]).await;
    let bob = world.client().new_user("bob").await;
    let body = json!({"suite": suite(3, ""), "models": ["scripted/slow"], "parallel": 1});
    let started = bob.post("/api/evals", body).await.good();
    let id = started["id"].as_str().unwrap();
    let users = world.client().get("/api/users").await.good();
    let users = users["users"].as_array().unwrap().clone();
    let user = users.iter().find(|user| user["name"] == "bob").unwrap();
    let path = format!("/api/users/{}", user["id"].as_str().unwrap());
    world
        .client()
        .patch(&path, json!({"active": false}))
        .await
        .good();
    // Long before the turn is over.
    world.world.pass(Duration::from_secs(15)).await;
    world
        .client()
        .patch(&path, json!({"active": true}))
        .await
        .good();
    let shown: EvalResultsView = bob.get(&format!("/api/evals/{id}")).await.view();
    assert_eq!(shown.eval.state, EvalState::Stopped);
    assert_eq!(states(&shown), [TrialState::Skipped; 3]);
    let session = shown.tasks[0].trials[0].session.unwrap();
    let session = bob.session(&session.to_string());
    assert_eq!(session.show().await["state"], "terminated");
}
