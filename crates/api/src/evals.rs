//! Evals: suites of tasks, carried out on models to measure them.

use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, SessionId},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An eval to start. Either `suite` or `built_in` is required.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = StartEval)]
#[serde(deny_unknown_fields)]
pub struct StartEvalBody {
    /// The suite as YAML: at most 512 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub suite: Option<String>,
    /// The name of a built-in suite, such as `desktop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub built_in: Option<String>,
    /// The models to measure, as `vendor/name`. Without any, the model of new sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub models: Vec<String>,
    /// The tasks to run, by name. Without any, all tasks of the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 200)]
    pub tasks: Vec<String>,
    /// The number of times that each model gets each task. 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, maximum = 100)]
    pub runs: Option<u64>,
    /// The number of trials at the same time. Fewer run while your limits do not allow as many sessions. 4 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, maximum = 50)]
    pub parallel: Option<u64>,
    /// US dollars, at least the largest limit of its tasks. The eval does not cost more; what does not begin because of
    /// it is skipped. No limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub budget_usd: Option<f64>,
}

/// An eval: a suite of tasks, carried out on models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Eval)]
pub struct EvalView {
    #[schema(value_type = Uuid)]
    pub id: EvalId,
    /// The name of the suite.
    pub suite: String,
    pub models: Vec<String>,
    /// The number of times that each model gets each task.
    pub runs: u64,
    pub parallel: u64,
    #[schema(required)]
    pub budget_usd: Option<f64>,
    pub state: EvalState,
    /// The reason why fewer trials run than could, while it is so: a limit of yours.
    #[schema(required)]
    pub waits_for: Option<String>,
    pub n_trials: u64,
    /// The trials that have a result.
    pub n_ended: u64,
    pub n_passed: u64,
    // An earlier server does not say it.
    #[serde(default)]
    #[schema(required)]
    pub n_failed: u64,
    /// The cost so far, with that of attempts that a restart of the server cut short.
    pub cost_usd: f64,
    pub created_at: Timestamp,
    #[schema(required)]
    pub ended_at: Option<Timestamp>,
}

/// A page of evals, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = EvalsPage)]
pub struct EvalsView {
    pub evals: Vec<EvalView>,
    /// The `before` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<EvalId>,
}

/// An eval with all its results so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = EvalResults)]
pub struct EvalResultsView {
    #[serde(flatten)]
    pub eval: EvalView,
    /// A sentence about the suite. It may be empty.
    pub description: String,
    /// The figures of each model, in the order in which they were given.
    pub figures: Vec<ModelFiguresView>,
    /// The tasks in the order of the suite.
    pub tasks: Vec<EvalTaskView>,
}

/// The figures of one model over all tasks of an eval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelFigures)]
pub struct ModelFiguresView {
    pub model: String,
    pub n_passed: u64,
    pub n_failed: u64,
    /// The trials that say nothing about the model. They are in no other figure.
    pub n_errors: u64,
    pub n_skipped: u64,
    /// The trials that run or wait.
    pub n_open: u64,
    /// The share of passed among passed and failed trials. Null before the first.
    #[schema(required)]
    pub success: Option<SuccessView>,
    /// The median of passed and failed trials, and so are the following.
    #[schema(required)]
    pub median_steps: Option<f64>,
    #[schema(required)]
    pub median_seconds: Option<f64>,
    #[schema(required)]
    pub median_usd: Option<f64>,
    /// The cost of all its trials.
    pub total_usd: f64,
}

/// A share, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Success)]
pub struct SuccessView {
    /// From 0 to 1.
    pub rate: f64,
    /// The lower end of the interval that contains the true rate with a confidence of 95 %.
    pub low: f64,
    pub high: f64,
}

/// A task of an eval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = EvalTask)]
pub struct EvalTaskView {
    pub name: String,
    pub tags: Vec<String>,
    /// The prompt.
    pub task: String,
    /// Its trials, by model in the order of the eval, then by round.
    pub trials: Vec<TrialView>,
}

/// A trial: one task, given to one model once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Trial)]
pub struct TrialView {
    /// The number in its eval, in the order in which they begin, counted from 0.
    pub number: u64,
    pub model: String,
    /// Counted from 1.
    pub round: u64,
    pub state: TrialState,
    /// A sentence about the result: the last line of the checker, or the problem.
    #[schema(required)]
    pub reason: Option<String>,
    /// Its session, from its start on. Null if it was deleted.
    #[schema(required, value_type = Option<Uuid>)]
    pub session: Option<SessionId>,
    /// The answers of the model.
    pub n_steps: u64,
    pub cost_usd: f64,
    /// The time from the prompt to the end of the turn.
    #[schema(required)]
    pub seconds: Option<f64>,
    /// The number of times that a restart of the server cut it short and it began anew.
    pub n_restarts: u64,
    #[schema(required)]
    pub started_at: Option<Timestamp>,
    #[schema(required)]
    pub ended_at: Option<Timestamp>,
}

/// A suite that comes with the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = BuiltInSuite)]
pub struct BuiltInSuiteView {
    pub name: String,
    pub description: String,
    pub n_tasks: u64,
}

/// The suites that come with the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = BuiltInSuites)]
pub struct BuiltInSuitesView {
    pub suites: Vec<BuiltInSuiteView>,
}
