//! Evals with real sandboxes: the built-in suite on its two doubles, and the command.

use std::time::Duration;

use deskhand_api::evals::{EvalResultsView, EvalTaskView};
use deskhand_core::eval::{EvalState, TrialState};
use deskhand_testkit::{Client, not_run};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{program::Place, world::serve};

const BROWSER: &str = "/usr/bin/chromium";
/// The longest time for the built-in suite. It usually takes a quarter of it.
const PATIENCE: Duration = Duration::from_secs(150);

async fn until_over(client: &Client, id: &str) -> EvalResultsView {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let results: EvalResultsView = client.get(&format!("/api/evals/{id}")).await.view();
        if results.eval.state != EvalState::Running {
            return results;
        }
        assert!(Instant::now() < deadline, "it goes on: {results:?}");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Returns one line for each task: the result of a double, and the reason.
fn results_of(tasks: &[EvalTaskView], model: &str) -> String {
    let line = |task: &EvalTaskView| {
        let trial = task.trials.iter().find(|trial| trial.model == model);
        let trial = trial.unwrap();
        let reason = trial.reason.as_deref().unwrap_or_default();
        let line = format!("{} {}: {reason}", trial.state.name(), task.name);
        line.trim_end_matches([' ', ':']).to_owned()
    };
    let lines: Vec<_> = tasks.iter().map(line).collect();
    lines.join("\n")
}

#[tokio::test]
async fn the_oracle_does_all_built_in_tasks_and_the_fool_none() {
    if !std::path::Path::new(BROWSER).exists() {
        return not_run("Chromium is not installed");
    }
    let server = serve(&[]);
    let client = server.client();
    let (oracle, fool) = ("scripted/oracle", "scripted/fool");
    let body = json!({"built_in": "desktop", "models": [oracle, fool], "parallel": 3});
    let started = client.post("/api/evals", body).await.good();
    let results = until_over(&client, started["id"].as_str().unwrap()).await;
    let told = |model| results_of(&results.tasks, model);
    let n = |model: &str, state: TrialState| {
        let trials = results.tasks.iter().flat_map(|task| &task.trials);
        let own = trials.filter(|trial| trial.model == model && trial.state == state);
        own.count()
    };
    assert_eq!(n(oracle, TrialState::Passed), 20, "{}", told(oracle));
    assert_eq!(n(fool, TrialState::Failed), 20, "{}", told(fool));
    // Each checker fails for the reason that its fool gives it.
    insta::assert_snapshot!(told(fool));
}

#[test]
fn the_command_checks_a_suite_runs_it_and_prints_the_results_side_by_side() {
    let place = Place::new();
    let suite = place.write(
        "mine.yaml",
        "name: mine
defaults: {computer: browser}
tasks:
  - name: greet
    tags: [files]
    task: Write hello into ~/greeting.txt
    check: |
      [ -f greeting.txt ] || { echo \"there is no greeting.txt\"; exit 1; }
      grep -qx hello greeting.txt
    oracle: [{calls: [{bash: {command: 'echo hello >~/greeting.txt'}}]}, {text: Done.}]
    fool: [{text: Done.}]
",
    );
    let checked = place.run(&["eval", "--check", &suite]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert_eq!(checked.stdout, "greet\tfiles\n");
    let broken = place.write(
        "broken.yaml",
        "name: mine\ntasks:\n  - {name: a, task: b}\n",
    );
    let refused = place.run(&["eval", "--check", &broken]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(place.neutral(&refused.stderr));

    let ran = place.run(&["eval", &suite, "--oracle", "--fool"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let is_stable = |line: &&str| !line.contains("seconds") && !line.contains("/sessions/");
    let stable: Vec<_> = ran.stdout.lines().filter(is_stable).collect();
    insta::assert_snapshot!(stable.join("\n"));
    // Sign-in links have the same host.
    let link = "http://localhost:";
    assert!(ran.stdout.contains(link), "{}", ran.stdout);
    assert!(ran.stdout.contains("/sessions/"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("2 trials of mine begin"),
        "{}",
        ran.stderr
    );
}
