//! Evals: runs and their trials, the limits that hold them up, and everything that ends them.

mod bounds;
mod day;
mod delete;
mod life;
mod refusals;

use std::time::Duration;

use deskhand_api::evals::{EvalResultsView, ModelFiguresView, TrialView};
use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, SessionId},
};
use deskhand_testkit::Client;
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};

/// The most seconds that a test lets pass for one thing.
const LONGEST_SECONDS: u64 = 900;

/// Does what it is asked for.
const WORKER: &str = "
steps:
  - calls: [{bash: {command: 'echo done > /home/agent/done.txt'}}]
  - text: It is done.
";
/// Only says so.
const TALKER: &str = "steps: [{text: It is done.}]";
/// Works for a minute.
const SLOW: &str = "
steps:
  - calls: [{bash: {command: 'sleep 60'}}]
  - text: It is done.
";

/// A suite whose checkers look for the file that the worker writes.
fn suite(n_tasks: usize, more: &str) -> String {
    let task = |n: usize| {
        format!("  - {{name: task-{n}, task: Write it., check: cat /home/agent/done.txt{more}}}\n")
    };
    let tasks: String = (1..=n_tasks).map(task).collect();
    format!("name: mine\ndescription: Tasks of a test.\ntasks:\n{tasks}")
}

/// A server whose runs the test watches.
struct EvalWorld {
    world: World,
}

impl EvalWorld {
    async fn start(scenarios: &[(&str, &str)]) -> Self {
        Self::with(WorldOptions::default().knowing(scenarios)).await
    }

    async fn with(options: WorldOptions) -> Self {
        let world = World::with(options).await;
        Self { world }
    }

    fn client(&self) -> Client {
        self.world.client()
    }

    /// Starts a run of this suite on these scenarios.
    async fn run(&self, suite: &str, models: &[&str], more: Value) -> EvalId {
        let models: Vec<_> = models
            .iter()
            .map(|name| format!("scripted/{name}"))
            .collect();
        let mut body = json!({"suite": suite, "models": models});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let started: EvalResultsView = self.client().post("/api/evals", body).await.view();
        assert_eq!(started.eval.state, EvalState::Running);
        started.eval.id
    }

    async fn show(&self, id: EvalId) -> EvalResultsView {
        self.client().get(&format!("/api/evals/{id}")).await.view()
    }

    /// Returns the state of a session.
    async fn session_state(&self, session: SessionId) -> Value {
        let session = self.client().session(&session.to_string());
        session.show().await["state"].clone()
    }

    /// Lets a little time pass until a session has ended.
    async fn until_ended(&self, session: SessionId) {
        for _ in 0..100 {
            if self.session_state(session).await == "terminated" {
                return;
            }
            self.world.pass(Duration::from_millis(100)).await;
        }
        panic!("it goes on: {}", self.session_state(session).await);
    }

    /// Returns the cost of all sessions.
    async fn cost_of_sessions(&self) -> f64 {
        let page = self.client().get("/api/sessions").await.good();
        let sessions = page["sessions"].as_array().unwrap();
        let costs = sessions.iter().map(|one| one["cost_usd"].as_f64().unwrap());
        costs.sum()
    }

    /// Lets time pass until a run is as expected.
    async fn until(&self, id: EvalId, is_so: impl Fn(&EvalResultsView) -> bool) -> EvalResultsView {
        for _ in 0..LONGEST_SECONDS / 3 {
            let results = self.show(id).await;
            if is_so(&results) {
                return results;
            }
            self.world.pass(Duration::from_secs(3)).await;
        }
        panic!("it stays {:?}\n{}", self.show(id).await, self.world.log());
    }

    async fn until_over(&self, id: EvalId) -> EvalResultsView {
        self.until(id, |results| results.eval.state != EvalState::Running)
            .await
    }

    /// Runs a suite of one task on one scenario, and returns the trial.
    async fn one_trial(yaml: &str, suite: &str) -> TrialView {
        Self::one_trial_with(WorldOptions::default(), yaml, suite).await
    }

    async fn one_trial_with(options: WorldOptions, yaml: &str, suite: &str) -> TrialView {
        let world = Self::with(options.knowing(&[("one", yaml)])).await;
        let id = world.run(suite, &["one"], json!({})).await;
        let results = world.until_over(id).await;
        assert_eq!(results.eval.state, EvalState::Done);
        results.tasks[0].trials[0].clone()
    }
}

/// Returns the states of all trials in the order in which they begin.
fn states(results: &EvalResultsView) -> Vec<TrialState> {
    let trials = results.tasks.iter().flat_map(|task| &task.trials);
    let mut trials: Vec<_> = trials.collect();
    trials.sort_by_key(|trial| trial.number);
    trials.iter().map(|trial| trial.state).collect()
}

fn figures<'a>(results: &'a EvalResultsView, model: &str) -> &'a ModelFiguresView {
    let model = format!("scripted/{model}");
    let found = results.figures.iter().find(|one| one.model == model);
    found.unwrap()
}
