//! The job that keeps runs going: it begins their trials, and ends runs that are done.

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use deskhand_core::{
    eval::{EvalState, TrialState},
    id::EvalId,
};
use deskhand_store::{EvalRow, StoreError, TrialRow};
use tokio::sync::Notify;

use super::Evals;
use crate::jobs::{Job, JobError, JobReport};

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
        let in_memory = &self.evals.0.open;
        if !in_memory.is_ready.load(Ordering::Acquire) {
            return Ok(JobReport::default());
        }
        if !in_memory.is_swept.load(Ordering::Acquire) {
            self.evals.end_leftovers().await?;
            in_memory.is_swept.store(true, Ordering::Release);
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
    /// Ends the sessions that an earlier server could not end before it ended itself.
    async fn end_leftovers(&self) -> Result<(), StoreError> {
        for (owner, session) in self.0.store.leftover_trial_sessions().await? {
            self.end_session(owner, session).await;
        }
        Ok(())
    }

    /// Begins the trials of a run for which there is a place. Returns the time until the next one may begin, if it is
    /// known.
    async fn go_on(&self, row: EvalRow) -> Result<Option<Duration>, StoreError> {
        let store = &self.0.store;
        let owner = store.user(row.owner).await?;
        let is_active = owner.is_some_and(|owner| owner.active);
        let suite = if is_active {
            self.suite(row.id).await?
        } else {
            None
        };
        let Some(suite) = suite else {
            let reason = "the owner of the eval was disabled, or its suite is no longer readable";
            self.end_early(row.id, reason).await?;
            return Ok(None);
        };
        // Before the trials are read: one that ends in the meantime still counts as reserved, and the job runs again.
        let reserved = self.reserved(row.id);
        let mut trials = store.trials(row.id).await?;
        if self.begin_anew(&row, &trials, &reserved).await? {
            trials = store.trials(row.id).await?;
        }
        if trials.iter().all(|trial| trial.state.is_final()) {
            let now = self.0.clock.now();
            if store.end_eval(row.id, EvalState::Done, now).await? {
                tracing::info!(eval.id = %row.id, "an eval is done");
            }
            return Ok(None);
        }
        let left_usd = row
            .budget_usd
            .map(|budget| left_usd(budget, &trials, &reserved));
        self.begin_waiting(&row, &suite, trials, reserved.len(), left_usd)
            .await
    }

    /// Forgets runs that have ended, once their trials have ended their sessions.
    fn forget_others(&self, open: &[EvalRow]) {
        let is_open = |id: &EvalId| open.iter().any(|row| row.id == *id);
        let mut runs = self.0.open.runs();
        runs.retain(|id, run| is_open(id) || !run.trials.is_empty());
    }

    /// Returns the trials that are carried out, each with the US dollars that it may cost.
    fn reserved(&self, run: EvalId) -> BTreeMap<u64, f64> {
        let runs = self.0.open.runs();
        let trials = runs.get(&run).map(|open| open.trials.clone());
        trials.unwrap_or_default()
    }

    /// Lets the trials that an earlier server left begin anew. Returns true if there are any.
    async fn begin_anew(
        &self,
        row: &EvalRow,
        trials: &[TrialRow],
        here: &BTreeMap<u64, f64>,
    ) -> Result<bool, StoreError> {
        let is_left = |trial: &&TrialRow| {
            trial.state == TrialState::Running && !here.contains_key(&trial.number)
        };
        let mut is_any = false;
        for trial in trials.iter().filter(is_left) {
            let (store, number) = (&self.0.store, trial.number);
            if let Some(session) = trial.session {
                self.end_session(row.owner, session).await;
                store.settle_trial_cost(row.id, number).await?;
            }
            store.repeat_trial(row.id, number, true).await?;
            is_any = true;
        }
        Ok(is_any)
    }
}

/// Returns the part of a budget that no trial has used or may still need.
fn left_usd(budget: f64, trials: &[TrialRow], reserved: &BTreeMap<u64, f64>) -> f64 {
    let spent = trials.iter().map(|trial| trial.cost_usd + trial.lost_usd);
    let may_cost = reserved.iter().map(|(number, most)| {
        let row = trials.iter().find(|trial| trial.number == *number);
        (most - row.map_or(0.0, |row| row.cost_usd)).max(0.0)
    });
    budget - spent.sum::<f64>() - may_cost.sum::<f64>()
}
