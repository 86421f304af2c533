//! Evals: runs of suites of tasks, and their trials.

use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, SessionId, UserId},
};
use jiff::Timestamp;

use crate::{
    budgets::{nano, usd},
    database::{Row, Store, StoreError, count, from_json, json, millis, stored_count, timestamp},
};

const RUN: &str = "id, owner_id, name, suite, models, n_rounds, n_parallel, budget_nanousd, state, created_at_ms, \
                   ended_at_ms";
const TRIAL: &str = "number, task, model, round, state, reason, session_id, n_steps, cost_nanousd, lost_nanousd, \
                     n_restarts, duration_ms, started_at_ms, ended_at_ms";

/// A run that begins, with its trials in the order in which they begin.
#[derive(Debug)]
pub struct NewEval<'a> {
    pub id: EvalId,
    pub owner: UserId,
    pub name: &'a str,
    /// The suite as YAML.
    pub suite: &'a str,
    pub models: &'a [String],
    pub n_rounds: u64,
    pub n_parallel: u64,
    pub budget_usd: Option<f64>,
    pub created_at: Timestamp,
    pub trials: Vec<NewTrial>,
}

/// A trial that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTrial {
    pub task: String,
    pub model: String,
    /// Counted from 1.
    pub round: u64,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRow {
    pub id: EvalId,
    pub owner: UserId,
    pub name: String,
    pub suite: String,
    pub models: Vec<String>,
    pub n_rounds: u64,
    pub n_parallel: u64,
    pub budget_usd: Option<f64>,
    pub state: EvalState,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub progress: EvalProgress,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EvalProgress {
    pub n_trials: u64,
    /// The trials that have a result.
    pub n_ended: u64,
    pub n_passed: u64,
    /// The price of all trials, with the attempts that a restart cut short.
    pub usd: f64,
}

/// A page of runs, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvalPage {
    pub rows: Vec<EvalRow>,
    /// The last of them, if there are older ones.
    pub next: Option<EvalId>,
}

/// A stored trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRow {
    /// The number in its run, counted from 0.
    pub number: u64,
    pub task: String,
    pub model: String,
    pub round: u64,
    pub state: TrialState,
    pub reason: Option<String>,
    pub session: Option<SessionId>,
    pub n_steps: u64,
    pub cost_usd: f64,
    pub lost_usd: f64,
    pub n_restarts: u64,
    /// The time that the model worked.
    pub duration_ms: Option<u64>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialEnd {
    pub state: TrialState,
    pub reason: Option<String>,
    pub duration_ms: Option<u64>,
    pub at: Timestamp,
}

impl Store {
    /// Stores a run with its trials, unless `most_open` runs of its owner have not ended. Returns false in that case.
    pub async fn insert_eval(&self, new: NewEval<'_>, most_open: u64) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let open =
            "SELECT COUNT(*) AS runs FROM eval_runs WHERE owner_id = $1 AND ended_at_ms IS NULL";
        let row = tx.one(open, [new.owner.0.into()]).await?;
        let n_open = row.map_or(Ok(0), |row| row.get("runs"))?;
        if count(n_open)? >= most_open {
            return Ok(false);
        }
        let sql = "INSERT INTO eval_runs (id, owner_id, name, suite, models, n_rounds, n_parallel, budget_nanousd, \
                   state, created_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = [
            new.id.0.into(),
            new.owner.0.into(),
            new.name.into(),
            new.suite.into(),
            json(&new.models)?.into(),
            stored_count(new.n_rounds),
            stored_count(new.n_parallel),
            new.budget_usd.map(nano).into(),
            EvalState::Running.name().into(),
            millis(new.created_at),
        ];
        tx.execute(sql, values).await?;
        let sql = "INSERT INTO eval_trials (run_id, number, task, model, round, state, n_steps, cost_nanousd, \
                   lost_nanousd, n_restarts) VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0)";
        for (number, trial) in (0_u64..).zip(new.trials) {
            let values = [
                new.id.0.into(),
                stored_count(number),
                trial.task.into(),
                trial.model.into(),
                stored_count(trial.round),
                TrialState::Waiting.name().into(),
            ];
            tx.execute(sql, values).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Returns a run of this user.
    pub async fn eval(&self, owner: UserId, id: EvalId) -> Result<Option<EvalRow>, StoreError> {
        let sql = format!("SELECT {RUN} FROM eval_runs WHERE id = $1 AND owner_id = $2");
        let row = self.one(&sql, [id.0.into(), owner.0.into()]).await?;
        match row {
            Some(row) => Ok(Some(self.with_progress(run(&row)?).await?)),
            None => Ok(None),
        }
    }

    /// Returns the runs of this user before the one called `before`, newest first.
    pub async fn evals(
        &self,
        owner: UserId,
        before: Option<EvalId>,
        limit: u32,
    ) -> Result<EvalPage, StoreError> {
        let sql = format!(
            "SELECT {RUN} FROM eval_runs WHERE owner_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"
        );
        let before = before.map_or(uuid::Uuid::max(), |id| id.0);
        let one_more = i64::from(limit.saturating_add(1));
        let rows = self.all(&sql, [owner.0.into(), before.into(), one_more.into()]);
        let mut rows = rows.await?.iter().map(run).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > wanted;
        rows.truncate(wanted);
        let next = rows.last().filter(|_| has_more).map(|last| last.id);
        let mut page = Vec::with_capacity(rows.len());
        for row in rows {
            page.push(self.with_progress(row).await?);
        }
        Ok(EvalPage { rows: page, next })
    }

    /// Returns the runs that have not ended, oldest first.
    pub async fn open_evals(&self) -> Result<Vec<EvalRow>, StoreError> {
        let sql = format!("SELECT {RUN} FROM eval_runs WHERE ended_at_ms IS NULL ORDER BY id");
        let mut open = Vec::new();
        for row in self.all(&sql, []).await? {
            open.push(self.with_progress(run(&row)?).await?);
        }
        Ok(open)
    }

    /// Returns the trials of a run in their order.
    pub async fn trials(&self, id: EvalId) -> Result<Vec<TrialRow>, StoreError> {
        let sql = format!("SELECT {TRIAL} FROM eval_trials WHERE run_id = $1 ORDER BY number");
        let rows = self.all(&sql, [id.0.into()]).await?;
        rows.iter().map(trial).collect()
    }

    /// Begins a trial that waits. Returns false if it no longer does.
    pub async fn begin_trial(
        &self,
        id: EvalId,
        number: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE eval_trials SET state = $1, started_at_ms = $2 \
                   WHERE run_id = $3 AND number = $4 AND state = $5";
        let values = [
            TrialState::Running.name().into(),
            millis(at),
            id.0.into(),
            stored_count(number),
            TrialState::Waiting.name().into(),
        ];
        Ok(self.write(sql, values).await? > 0)
    }

    /// Lets a trial that has begun wait again. `is_cut_short` is true if its model may have worked already.
    pub async fn repeat_trial(
        &self,
        id: EvalId,
        number: u64,
        is_cut_short: bool,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET state = $1, session_id = NULL, n_steps = 0, \
                   lost_nanousd = lost_nanousd + cost_nanousd, cost_nanousd = 0, n_restarts = n_restarts + $2, \
                   started_at_ms = NULL WHERE run_id = $3 AND number = $4 AND state = $5";
        let values = [
            TrialState::Waiting.name().into(),
            i64::from(is_cut_short).into(),
            id.0.into(),
            stored_count(number),
            TrialState::Running.name().into(),
        ];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Notes the session of a trial.
    pub async fn set_trial_session(
        &self,
        id: EvalId,
        number: u64,
        session: SessionId,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET session_id = $1 WHERE run_id = $2 AND number = $3";
        let values = [session.0.into(), id.0.into(), stored_count(number)];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Adds an answer of the model to a trial.
    pub async fn add_trial_cost(
        &self,
        id: EvalId,
        number: u64,
        n_steps: u64,
        cost_usd: f64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET n_steps = n_steps + $1, cost_nanousd = cost_nanousd + $2 \
                   WHERE run_id = $3 AND number = $4";
        let values = [
            stored_count(n_steps),
            nano(cost_usd).into(),
            id.0.into(),
            stored_count(number),
        ];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Stores the result of a trial that has none yet.
    pub async fn end_trial(
        &self,
        id: EvalId,
        number: u64,
        end: &TrialEnd,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET state = $1, reason = $2, duration_ms = $3, ended_at_ms = $4 \
                   WHERE run_id = $5 AND number = $6 AND ended_at_ms IS NULL";
        let duration = end
            .duration_ms
            .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        let values = [
            end.state.name().into(),
            end.reason.clone().into(),
            duration.into(),
            millis(end.at),
            id.0.into(),
            stored_count(number),
        ];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Skips all trials of a run that wait. Returns true if there are any.
    pub async fn skip_trials(
        &self,
        id: EvalId,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE eval_trials SET state = $1, reason = $2, ended_at_ms = $3 WHERE run_id = $4 AND state = $5";
        let values = [
            TrialState::Skipped.name().into(),
            reason.into(),
            millis(at),
            id.0.into(),
            TrialState::Waiting.name().into(),
        ];
        Ok(self.write(sql, values).await? > 0)
    }

    /// Ends a run. Returns false if it had ended before.
    pub async fn end_eval(
        &self,
        id: EvalId,
        state: EvalState,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE eval_runs SET state = $1, ended_at_ms = $2 WHERE id = $3 AND ended_at_ms IS NULL";
        let values = [state.name().into(), millis(at), id.0.into()];
        Ok(self.write(sql, values).await? > 0)
    }

    async fn with_progress(&self, mut run: EvalRow) -> Result<EvalRow, StoreError> {
        let sql = "SELECT COUNT(*) AS trials, COUNT(ended_at_ms) AS ended, \
                   COUNT(CASE WHEN state = 'passed' THEN 1 END) AS passed, \
                   CAST(COALESCE(SUM(cost_nanousd + lost_nanousd), 0) AS BIGINT) AS nanousd \
                   FROM eval_trials WHERE run_id = $1";
        if let Some(row) = self.one(sql, [run.id.0.into()]).await? {
            run.progress = EvalProgress {
                n_trials: count(row.get("trials")?)?,
                n_ended: count(row.get("ended")?)?,
                n_passed: count(row.get("passed")?)?,
                usd: usd(row.get("nanousd")?),
            };
        }
        Ok(run)
    }
}

fn run(row: &Row) -> Result<EvalRow, StoreError> {
    let state = EvalState::from_name(row.get("state")?);
    Ok(EvalRow {
        id: EvalId(row.get("id")?),
        owner: UserId(row.get("owner_id")?),
        name: row.get("name")?,
        suite: row.get("suite")?,
        models: from_json(row.get("models")?)?,
        n_rounds: count(row.get("n_rounds")?)?,
        n_parallel: count(row.get("n_parallel")?)?,
        budget_usd: row.get::<Option<i64>>("budget_nanousd")?.map(usd),
        state: state.ok_or_else(|| StoreError::Unreadable("state of an eval".to_owned()))?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        ended_at: time(row, "ended_at_ms")?,
        progress: EvalProgress::default(),
    })
}

fn trial(row: &Row) -> Result<TrialRow, StoreError> {
    let state = TrialState::from_name(row.get("state")?);
    let duration: Option<i64> = row.get("duration_ms")?;
    Ok(TrialRow {
        number: count(row.get("number")?)?,
        task: row.get("task")?,
        model: row.get("model")?,
        round: count(row.get("round")?)?,
        state: state.ok_or_else(|| StoreError::Unreadable("state of a trial".to_owned()))?,
        reason: row.get("reason")?,
        session: row.get::<Option<uuid::Uuid>>("session_id")?.map(SessionId),
        n_steps: count(row.get("n_steps")?)?,
        cost_usd: usd(row.get("cost_nanousd")?),
        lost_usd: usd(row.get("lost_nanousd")?),
        n_restarts: count(row.get("n_restarts")?)?,
        duration_ms: duration.map(count).transpose()?,
        started_at: time(row, "started_at_ms")?,
        ended_at: time(row, "ended_at_ms")?,
    })
}

fn time(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let at: Option<i64> = row.get(column)?;
    at.map(timestamp).transpose()
}
