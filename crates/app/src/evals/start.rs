//! Starting a run.

use deskhand_core::{
    id::{EvalId, UserId},
    model::UnknownModel,
};
use deskhand_evals::{BUILT_IN, BuiltIn, Double, EvalTask, ReadSuiteError, Suite};
use deskhand_store::{NewEval, NewTrial};

use super::{EvalResults, Evals, FindEvalError};
use crate::{InternalError, refusal::refusals};

/// The trials at the same time, unless the caller chooses another number.
const USUAL_PARALLEL: u64 = 4;
const MOST_PARALLEL: u64 = 50;
/// The most times that a model gets a task.
const MOST_ROUNDS: u64 = 100;
const MOST_MODELS: usize = 20;
const MOST_TRIALS: usize = 5000;
const LARGEST_BUDGET_USD: f64 = 1_000_000.0;
/// The most runs of one user at the same time.
const MOST_OPEN: u64 = 5;

/// A run to start.
#[derive(Debug, Clone, Default)]
pub struct StartEval {
    /// The suite as YAML.
    pub suite: Option<String>,
    /// The name of a built-in suite.
    pub built_in: Option<String>,
    /// The models to measure. The model of new sessions if there is none.
    pub models: Vec<String>,
    /// The names of the tasks to run. All if there is none.
    pub tasks: Vec<String>,
    /// The number of times that each model gets each task.
    pub rounds: Option<u64>,
    /// The number of trials at the same time.
    pub parallel: Option<u64>,
    /// The cost after which no trial begins.
    pub budget_usd: Option<f64>,
}

/// The reason why a run was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartEvalError {
    #[error("give either a suite or the name of a built-in one")]
    NoSuite,
    #[error("there is no built-in suite {0:?}; there is {names}", names = built_in_names())]
    NoBuiltIn(String),
    #[error("the suite has a mistake: {0}")]
    BadSuite(#[from] ReadSuiteError),
    #[error("the suite {suite} has no task {task:?}; `deskhand eval --check` lists its tasks")]
    NoTask { suite: String, task: String },
    #[error(
        "the task {task:?} has no `{key}`, so {model} cannot play it; add one, or choose other tasks"
    )]
    NoDouble {
        task: String,
        key: &'static str,
        model: &'static str,
    },
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("{0:?} is listed twice; name each model and each task once")]
    Twice(String),
    #[error("an eval has at most {MOST_MODELS} models, not {0}")]
    Models(usize),
    #[error("each model gets each task 1 to {MOST_ROUNDS} times, not {0}")]
    Rounds(u64),
    #[error("1 to {MOST_PARALLEL} trials run at the same time, not {0}")]
    Parallel(u64),
    #[error(
        "an eval has at most {MOST_TRIALS} trials, and this one would have {0}; choose fewer models, tasks or rounds"
    )]
    Trials(usize),
    #[error(
        "a budget is more than 0 and at most {LARGEST_BUDGET_USD} US dollars, not {0}; leave it out for no limit"
    )]
    Budget(f64),
    #[error(
        "a trial of the task {task:?} may cost {limit} US dollars, so a budget of {budget} is not enough for it; give \
         the eval more, or the task a lower limit `usd`"
    )]
    SmallBudget {
        task: String,
        limit: f64,
        budget: f64,
    },
    #[error("you have {MOST_OPEN} evals that have not ended; wait for one, or stop one")]
    TooManyOpen,
    #[error(transparent)]
    Find(#[from] FindEvalError),
    #[error("could not store the eval")]
    Internal(#[source] InternalError),
}

refusals! {
    StartEvalError passes on UnknownModel, Find, Internal;
    Self::NoSuite | Self::NoBuiltIn(_) => Invalid("no_suite"),
    Self::BadSuite(mistake) => Invalid("bad_suite", { "line": mistake.line, "column": mistake.column }),
    Self::NoDouble { .. } => Invalid("bad_suite"),
    Self::NoTask { .. }
        | Self::Twice(_)
        | Self::Models(_)
        | Self::Rounds(_)
        | Self::Parallel(_)
        | Self::Trials(_) => Invalid("bad_eval"),
    Self::Budget(_) | Self::SmallBudget { .. } => Invalid("bad_budget"),
    Self::TooManyOpen => TooMany("too_many_evals"),
}

fn built_in_names() -> String {
    let names: Vec<_> = BUILT_IN.iter().map(|suite| suite.name).collect();
    names.join(", ")
}

impl Evals {
    /// Starts a run. Its trials begin in the background, as sessions of the user.
    pub async fn start(
        &self,
        owner: UserId,
        wanted: StartEval,
    ) -> Result<EvalResults, StartEvalError> {
        let yaml = suite_text(&wanted)?;
        let suite = Suite::read(&yaml)?;
        let models = self.models(wanted.models)?;
        let tasks = chosen(&suite, &wanted.tasks)?;
        check_doubles(&tasks, &models)?;
        let n_rounds = wanted.rounds.unwrap_or(1);
        if !(1..=MOST_ROUNDS).contains(&n_rounds) {
            return Err(StartEvalError::Rounds(n_rounds));
        }
        let n_parallel = wanted.parallel.unwrap_or(USUAL_PARALLEL);
        if !(1..=MOST_PARALLEL).contains(&n_parallel) {
            return Err(StartEvalError::Parallel(n_parallel));
        }
        let budget_usd = wanted.budget_usd;
        check_budget(budget_usd, &tasks)?;
        let trials = trials(&tasks, &models, n_rounds);
        if trials.len() > MOST_TRIALS {
            return Err(StartEvalError::Trials(trials.len()));
        }
        let id = EvalId::new();
        let new = NewEval {
            id,
            owner,
            name: &suite.name,
            suite: &yaml,
            models: &models,
            n_rounds,
            n_parallel,
            budget_usd,
            created_at: self.0.clock.now(),
            trials,
        };
        if !self.0.store.insert_eval(new, MOST_OPEN).await? {
            return Err(StartEvalError::TooManyOpen);
        }
        tracing::info!(eval.id = %id, eval.suite = suite.name, "an eval was started");
        self.0.open.wake.notify_one();
        Ok(self.find(owner, id).await?)
    }

    fn models(&self, wanted: Vec<String>) -> Result<Vec<String>, StartEvalError> {
        if wanted.is_empty() {
            return Ok(vec![self.0.catalog.default_model()]);
        }
        if wanted.len() > MOST_MODELS {
            return Err(StartEvalError::Models(wanted.len()));
        }
        once(&wanted)?;
        for model in &wanted {
            self.0.catalog.check(model)?;
        }
        Ok(wanted)
    }
}

fn suite_text(wanted: &StartEval) -> Result<String, StartEvalError> {
    match (&wanted.suite, &wanted.built_in) {
        (Some(yaml), None) => Ok(yaml.clone()),
        (None, Some(name)) => match BuiltIn::named(name) {
            Some(suite) => Ok(suite.yaml.to_owned()),
            None => Err(StartEvalError::NoBuiltIn(name.clone())),
        },
        (None, None) | (Some(_), Some(_)) => Err(StartEvalError::NoSuite),
    }
}

/// Returns the chosen tasks in the order of the suite.
fn chosen<'a>(suite: &'a Suite, names: &[String]) -> Result<Vec<&'a EvalTask>, StartEvalError> {
    once(names)?;
    if let Some(unknown) = names.iter().find(|name| suite.task(name).is_none()) {
        return Err(StartEvalError::NoTask {
            suite: suite.name.clone(),
            task: unknown.clone(),
        });
    }
    let is_chosen = |task: &&EvalTask| names.is_empty() || names.contains(&task.name);
    Ok(suite.tasks.iter().filter(is_chosen).collect())
}

fn once(names: &[String]) -> Result<(), StartEvalError> {
    let twice = (1..names.len()).find(|index| names[..*index].contains(&names[*index]));
    match twice {
        Some(index) => Err(StartEvalError::Twice(names[index].clone())),
        None => Ok(()),
    }
}

fn check_doubles(tasks: &[&EvalTask], models: &[String]) -> Result<(), StartEvalError> {
    for double in models.iter().filter_map(|model| Double::of_model(model)) {
        if let Some(task) = tasks.iter().find(|task| task.steps(double).is_none()) {
            return Err(StartEvalError::NoDouble {
                task: task.name.clone(),
                key: double.key(),
                model: double.model(),
            });
        }
    }
    Ok(())
}

/// Checks that a budget is an amount, and is enough for any of the tasks.
fn check_budget(budget_usd: Option<f64>, tasks: &[&EvalTask]) -> Result<(), StartEvalError> {
    let Some(budget) = budget_usd else {
        return Ok(());
    };
    if !(budget > 0.0 && budget <= LARGEST_BUDGET_USD) {
        return Err(StartEvalError::Budget(budget));
    }
    match tasks.iter().find(|task| task.limits.usd > budget) {
        Some(task) => Err(StartEvalError::SmallBudget {
            task: task.name.clone(),
            limit: task.limits.usd,
            budget,
        }),
        None => Ok(()),
    }
}

/// Lists all trials in the order in which they begin. The models of a task follow one another, so that a run that ends
/// early has compared them.
fn trials(tasks: &[&EvalTask], models: &[String], n_rounds: u64) -> Vec<NewTrial> {
    let mut trials = Vec::new();
    for round in 1..=n_rounds {
        for task in tasks {
            trials.extend(models.iter().map(|model| NewTrial {
                task: task.name.clone(),
                model: model.clone(),
                round,
            }));
        }
    }
    trials
}
