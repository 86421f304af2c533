//! The job that begins the trials of runs, and ends runs that are done.

use std::{sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use deskhand_core::{
    eval::{EvalState, TrialState},
    id::EvalId,
    viewer::Viewer,
};
use deskhand_evals::Suite;
use deskhand_store::{EvalRow, StoreError, TrialRow};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Evals, Hold,
    attempt::{Later, Trial},
};
use crate::{
    FindError,
    jobs::{Job, JobError, JobReport},
};

/// The smallest amount that is counted.
const SMALLEST_USD: f64 = 1e-9;
/// The reason that a trial shows if it did not begin because of the budget.
pub(super) const OVER_BUDGET: &str = "the budget of the eval was used up";

/// Begins trials whenever there is one that waits and a place for it.
#[derive(Debug)]
pub(crate) struct ContinueEvals {
    pub(crate) evals: Evals,
}

#[async_trait]
impl Job for ContinueEvals {
    fn name(&self) -> &'static str {
        "evals"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(&self.evals.0.open.wake)
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        if !self.evals.0.open.is_ready.load(Ordering::Acquire) {
            return Ok(JobReport::default());
        }
        let open = self.evals.0.store.open_evals().await?;
        self.evals.forget_others(&open);
        let mut next_in = None;
        for row in open {
            let wait = self.evals.go_on(row).await?;
            next_in = [next_in, wait].into_iter().flatten().min();
        }
        Ok(JobReport { next_in })
    }
}

impl Evals {
    /// Begins the trials of a run for which there is a place. Returns the time until the next one may begin, if it is
    /// known.
    async fn go_on(&self, row: EvalRow) -> Result<Option<Duration>, StoreError> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let owner = store.user(row.owner).await?;
        let Some(suite) = self.readable(&row, owner.is_some_and(|owner| owner.active)) else {
            let reason = "the owner of the eval was disabled, or its suite is no longer readable";
            store.skip_trials(row.id, reason, now).await?;
            store.end_eval(row.id, EvalState::Stopped, now).await?;
            return Ok(None);
        };
        let mut trials = store.trials(row.id).await?;
        if self.begin_anew(&row, &trials).await? {
            trials = store.trials(row.id).await?;
        }
        if trials.iter().all(|trial| trial.state.is_final()) {
            if store.end_eval(row.id, EvalState::Done, now).await? {
                tracing::info!(eval.id = %row.id, "an eval is done");
            }
            self.0.open.runs().remove(&row.id);
            return Ok(None);
        }
        let left_usd = row.budget_usd.map(|budget| budget - row.progress.usd);
        if left_usd.is_some_and(|left| left < SMALLEST_USD) {
            if store.skip_trials(row.id, OVER_BUDGET, now).await? {
                // If none runs any more, the run is done.
                self.0.open.wake.notify_one();
            }
            return Ok(None);
        }
        let left_usd = left_usd.map(|left| left - self.reserved_usd(row.id, &trials));
        self.begin_waiting(&row, &suite, trials, left_usd).await
    }

    /// Forgets runs that have ended.
    fn forget_others(&self, open: &[EvalRow]) {
        let is_open = |id: &EvalId| open.iter().any(|row| row.id == *id);
        self.0.open.runs().retain(|id, _| is_open(id));
    }

    /// Returns the amount that the running trials may still cost.
    fn reserved_usd(&self, run: EvalId, trials: &[TrialRow]) -> f64 {
        let runs = self.0.open.runs();
        let Some(open) = runs.get(&run) else {
            return 0.0;
        };
        let reserved = open.trials.iter().map(|(number, cap)| {
            let row = trials.iter().find(|trial| trial.number == *number);
            (cap - row.map_or(0.0, |row| row.cost_usd)).max(0.0)
        });
        reserved.sum()
    }

    fn readable(&self, row: &EvalRow, is_active: bool) -> Option<Suite> {
        if !is_active {
            return None;
        }
        let read = Suite::read(&row.suite);
        read.inspect_err(
            |error| tracing::error!(eval.id = %row.id, %error, "a stored suite is unreadable"),
        )
        .ok()
    }

    /// Lets the trials that an earlier server left begin anew. Returns true if there are any.
    async fn begin_anew(&self, row: &EvalRow, trials: &[TrialRow]) -> Result<bool, StoreError> {
        let is_left = |trial: &&TrialRow| {
            let runs = self.0.open.runs();
            let open = runs.get(&row.id);
            let is_here = open.is_some_and(|open| open.trials.contains_key(&trial.number));
            trial.state == TrialState::Running && !is_here
        };
        let mut is_any = false;
        for trial in trials.iter().filter(is_left) {
            if let Some(session) = trial.session {
                let viewer = Viewer::User(row.owner);
                match self.0.sessions.terminate(viewer, session).await {
                    Ok(()) | Err(FindError::NoSession(_)) => {}
                    Err(error) => {
                        tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not end the session of a trial");
                    }
                }
            }
            self.0
                .store
                .repeat_trial(row.id, trial.number, true)
                .await?;
            is_any = true;
        }
        Ok(is_any)
    }

    async fn begin_waiting(
        &self,
        row: &EvalRow,
        suite: &Suite,
        trials: Vec<TrialRow>,
        mut left_usd: Option<f64>,
    ) -> Result<Option<Duration>, StoreError> {
        let is_waiting = |trial: &TrialRow| trial.state == TrialState::Waiting;
        for trial in trials.into_iter().filter(is_waiting) {
            let Some(task) = suite.task(&trial.task) else {
                continue;
            };
            if left_usd.is_some_and(|left| left < SMALLEST_USD) {
                // The running trials may need all of it.
                return Ok(None);
            }
            let most_usd = left_usd.map_or(task.limits.usd, |left| left.min(task.limits.usd));
            let stop = match self.reserve(row, trial.number, most_usd) {
                Ok(stop) => stop,
                Err(wait) => return Ok(wait),
            };
            let now = self.0.clock.now();
            let begun = self.0.store.begin_trial(row.id, trial.number, now).await;
            if !matches!(begun, Ok(true)) {
                self.release(row.id, trial.number, None);
                begun?;
                continue;
            }
            left_usd = left_usd.map(|left| left - most_usd);
            let trial = Trial {
                run: row.id,
                owner: row.owner,
                suite: suite.name.clone(),
                number: trial.number,
                model: trial.model,
                most_usd,
                task: task.clone(),
            };
            let tasks = self.0.tasks.clone();
            tasks.spawn("eval trial", self.clone().carry_out(trial, stop));
        }
        Ok(None)
    }

    /// Takes a place for a trial. Returns the time until there may be one, if it is known, or else waits for the end of
    /// another trial.
    fn reserve(
        &self,
        row: &EvalRow,
        number: u64,
        most_usd: f64,
    ) -> Result<CancellationToken, Option<Duration>> {
        let mut runs = self.0.open.runs();
        let open = runs.entry(row.id).or_default();
        open.hold.take_if(|hold| hold.until <= Instant::now());
        if let Some(hold) = open
            .hold
            .as_ref()
            .filter(|hold| open.trials.len() >= hold.n_trials)
        {
            return Err(Some(hold.until - Instant::now()));
        }
        let n_running = u64::try_from(open.trials.len()).unwrap_or(u64::MAX);
        if n_running >= row.n_parallel {
            return Err(None);
        }
        // In memory first: a trial that runs and is not there counts as left.
        open.trials.insert(number, most_usd);
        Ok(open.stop.clone())
    }

    /// Gives the place of a trial back. With a refusal, the run has no more trials at the same time than are left, for a
    /// while.
    pub(super) fn release(&self, run: EvalId, number: u64, refusal: Option<Later>) {
        if let Some(open) = self.0.open.runs().get_mut(&run) {
            open.trials.remove(&number);
            if let Some(Later { wait, reason }) = refusal {
                open.hold = Some(Hold {
                    until: Instant::now() + wait,
                    n_trials: open.trials.len(),
                    reason,
                });
            }
        }
        self.0.open.wake.notify_one();
    }
}
