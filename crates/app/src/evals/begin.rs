//! Beginning trials: places, reservations, and the limits that hold them up.

use std::time::Duration;

use deskhand_core::{
    budget::{Account, Bound, Over},
    eval::TrialState,
    id::EvalId,
};
use deskhand_evals::Suite;
use deskhand_store::{EvalRow, StoreError, TrialRow};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Evals, Hold,
    attempt::{Later, Trial},
};

/// The smallest amount that is counted.
const SMALLEST_USD: f64 = 1e-9;
/// The time until the owner's daily budget is looked at again. It may be raised at any moment.
const DAY_PAUSE: Duration = Duration::from_secs(30);
/// The reason that a trial shows if it did not begin because of the budget.
const OVER_BUDGET: &str = "the budget of the eval was used up";

impl Evals {
    /// Begins waiting trials while there are places. `n_reserved` are carried out, and `left_usd` is what is left beside
    /// their reservations.
    pub(super) async fn begin_waiting(
        &self,
        row: &EvalRow,
        suite: &Suite,
        trials: Vec<TrialRow>,
        n_reserved: usize,
        mut left_usd: Option<f64>,
    ) -> Result<Option<Duration>, StoreError> {
        let mut is_alone = n_reserved == 0;
        let mut is_looked_at = false;
        let is_waiting = |trial: &TrialRow| trial.state == TrialState::Waiting;
        for trial in trials.into_iter().filter(is_waiting) {
            let Some(task) = suite.task(&trial.task) else {
                continue;
            };
            let most_usd = task.limits.usd;
            if left_usd.is_some_and(|left| left + SMALLEST_USD < most_usd) {
                if !is_alone {
                    // The trials that run may need less than is reserved for them.
                    return Ok(None);
                }
                self.skip(row.id, trial.number).await?;
                continue;
            }
            if !is_looked_at && let Some(wait) = self.hold_for_day(row).await? {
                return Ok(Some(wait));
            }
            is_looked_at = true;
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
            is_alone = false;
            left_usd = left_usd.map(|left| left - most_usd);
            let trial = Trial {
                run: row.id,
                owner: row.owner,
                suite: suite.name.clone(),
                number: trial.number,
                model: trial.model,
                task: task.clone(),
            };
            let tasks = self.0.tasks.clone();
            tasks.spawn("eval trial", self.clone().carry_out(trial, stop));
        }
        Ok(None)
    }

    /// Skips a trial for which the budget has no room, and never will.
    async fn skip(&self, run: EvalId, number: u64) -> Result<(), StoreError> {
        let now = self.0.clock.now();
        let store = &self.0.store;
        store.skip_trial(run, number, OVER_BUDGET, now).await?;
        // If it was the last, the run is done.
        self.0.open.wake.notify_one();
        Ok(())
    }

    /// Holds a run while the daily budget of its owner has no room. Returns the time until the next look.
    async fn hold_for_day(&self, row: &EvalRow) -> Result<Option<Duration>, StoreError> {
        let day = self.0.spending.day_account(row.owner).await?;
        let mut runs = self.0.open.runs();
        let open = runs.entry(row.id).or_default();
        open.day.take_if(|refused| has_more_room(&day, refused));
        if open.day.is_none() && has_room(&day) {
            return Ok(None);
        }
        open.hold = Some(Hold {
            until: Instant::now() + DAY_PAUSE,
            n_trials: 0,
            reason: "your budget for today is used up; the eval goes on at midnight UTC, or when an administrator \
                     raises the budget"
                .to_owned(),
        });
        Ok(Some(DAY_PAUSE))
    }

    /// Reserves a place for a trial. If there is none, returns the time until there may be one, or `None` if another
    /// trial has to end first.
    fn reserve(
        &self,
        row: &EvalRow,
        number: u64,
        most_usd: f64,
    ) -> Result<CancellationToken, Option<Duration>> {
        let mut runs = self.0.open.runs();
        let open = runs.entry(row.id).or_default();
        if open.stop.is_cancelled() {
            return Err(None);
        }
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

    /// Releases the place of a trial. After a refusal, the eval runs no more trials at once than are left, for a while.
    pub(super) fn release(&self, run: EvalId, number: u64, refusal: Option<Later>) {
        if let Some(open) = self.0.open.runs().get_mut(&run) {
            open.trials.remove(&number);
            if let Some(Later { wait, reason, day }) = refusal {
                open.day = day.or(open.day);
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

/// Returns true if a day's budget is not used up.
fn has_room(day: &Account) -> bool {
    let has_usd = day
        .usd_limit()
        .is_none_or(|limit| day.used.usd + SMALLEST_USD < limit);
    has_usd
        && day
            .tokens_limit()
            .is_none_or(|limit| day.used.tokens < limit)
}

/// Returns true if there is more room than there was when the day's budget ended a trial. What was left then was too
/// little for one answer.
fn has_more_room(day: &Account, refused: &Over) -> bool {
    let before = refused.limit - refused.used;
    if refused.bound == Bound::DayTokens {
        day.tokens_limit()
            .is_none_or(|limit| tokens(limit) - tokens(day.used.tokens) > before)
    } else {
        day.usd_limit()
            .is_none_or(|limit| limit - day.used.usd > before + SMALLEST_USD)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to nine thousand million million tokens"
)]
fn tokens(count: u64) -> f64 {
    count as f64
}
