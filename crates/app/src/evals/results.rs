//! The results of a run: the figures of each model, and the trials of each task.

use deskhand_core::eval::TrialState;
use deskhand_evals::{Rate, Suite, median};
use deskhand_store::TrialRow;

use super::EvalRun;

/// A run with its results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalResults {
    pub run: EvalRun,
    /// A sentence about the suite.
    pub description: String,
    /// One for each model, in the order of the run.
    pub figures: Vec<ModelFigures>,
    /// In the order of the suite.
    pub tasks: Vec<TaskResults>,
}

/// The figures of one model. Trials that say nothing about it are only counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFigures {
    pub model: String,
    pub n_passed: u64,
    pub n_failed: u64,
    pub n_errors: u64,
    pub n_skipped: u64,
    /// The trials that run or wait.
    pub n_open: u64,
    pub success: Option<Rate>,
    pub median_steps: Option<f64>,
    pub median_seconds: Option<f64>,
    pub median_usd: Option<f64>,
    pub total_usd: f64,
}

/// The trials of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResults {
    pub name: String,
    pub tags: Vec<String>,
    pub prompt: String,
    /// By model in the order of the run, then by round.
    pub trials: Vec<TrialRow>,
}

impl EvalResults {
    pub(super) fn of(run: EvalRun, suite: Option<&Suite>, trials: &[TrialRow]) -> Self {
        let models = &run.row.models;
        let figures = models.iter().map(|model| ModelFigures::of(model, trials));
        let figures = figures.collect();
        let description = suite.map(|suite| suite.description.clone());
        let place = |trial: &TrialRow| {
            let model = models.iter().position(|model| *model == trial.model);
            (model, trial.round)
        };
        let tasks = suite.into_iter().flat_map(|suite| &suite.tasks);
        let tasks = tasks.filter_map(|task| {
            let own = trials.iter().filter(|trial| trial.task == task.name);
            let mut own: Vec<_> = own.cloned().collect();
            own.sort_by_key(place);
            (!own.is_empty()).then_some(TaskResults {
                name: task.name.clone(),
                tags: task.tags.clone(),
                prompt: task.prompt.clone(),
                trials: own,
            })
        });
        let tasks = tasks.collect();
        Self {
            run,
            description: description.unwrap_or_default(),
            figures,
            tasks,
        }
    }
}

impl ModelFigures {
    fn of(model: &str, trials: &[TrialRow]) -> Self {
        let own: Vec<_> = trials.iter().filter(|trial| trial.model == model).collect();
        let n = |state: TrialState| {
            let n = own.iter().filter(|trial| trial.state == state).count();
            u64::try_from(n).unwrap_or(u64::MAX)
        };
        let (n_passed, n_failed) = (n(TrialState::Passed), n(TrialState::Failed));
        let counted = |value: &dyn Fn(&TrialRow) -> Option<f64>| {
            let counted = own.iter().filter(|trial| trial.state.counts());
            median(counted.filter_map(|trial| value(trial)).collect())
        };
        Self {
            model: model.to_owned(),
            n_passed,
            n_failed,
            n_errors: n(TrialState::Error),
            n_skipped: n(TrialState::Skipped),
            n_open: n(TrialState::Waiting) + n(TrialState::Running),
            success: Rate::of(n_passed, n_passed + n_failed),
            median_steps: counted(&|trial| Some(number(trial.n_steps))),
            median_seconds: counted(&|trial| Some(number(trial.duration_ms?) / 1e3)),
            median_usd: counted(&|trial| Some(trial.cost_usd)),
            total_usd: own
                .iter()
                .map(|trial| trial.cost_usd + trial.lost_usd)
                .sum(),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "steps and milliseconds stay far below 2^53"
)]
fn number(count: u64) -> f64 {
    count as f64
}
