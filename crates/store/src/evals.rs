//! Evals: runs of suites of tasks.

mod trials;

use deskhand_core::{
    eval::{EvalState, TrialState},
    id::{EvalId, UserId},
};
use jiff::Timestamp;

pub use self::trials::{TrialEnd, TrialRow};
use crate::{
    budgets::{nano, usd},
    database::{Row, Store, StoreError, count, from_json, json, millis, stored_count, timestamp},
};

/// The columns of a run but its suite, which may be long.
const RUN: &str = "id, owner_id, name, models, n_rounds, n_parallel, budget_nanousd, state, created_at_ms, ended_at_ms";

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
    pub n_failed: u64,
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

    /// Returns the suite of a run as YAML.
    pub async fn eval_suite(&self, id: EvalId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT suite FROM eval_runs WHERE id = $1";
        let row = self.one(sql, [id.0.into()]).await?;
        row.map(|row| row.get("suite")).transpose()
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

    /// Stops a run: it ends, and its trials without a result are skipped. Returns false if it had ended before.
    pub async fn stop_eval(
        &self,
        id: EvalId,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "UPDATE eval_runs SET state = $1, ended_at_ms = $2 WHERE id = $3 AND ended_at_ms IS NULL";
        let values = [EvalState::Stopped.name().into(), millis(at), id.0.into()];
        if tx.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        let sql = "UPDATE eval_trials SET state = $1, reason = $2, ended_at_ms = $3 \
                   WHERE run_id = $4 AND ended_at_ms IS NULL";
        let values = [
            TrialState::Skipped.name().into(),
            reason.into(),
            millis(at),
            id.0.into(),
        ];
        tx.execute(sql, values).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes a run of this user with its trials. Their sessions stay. Returns false if it has not ended, or if there is
    /// no such run.
    pub async fn delete_eval(&self, owner: UserId, id: EvalId) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM eval_trials WHERE run_id IN \
                   (SELECT id FROM eval_runs WHERE id = $1 AND owner_id = $2 AND ended_at_ms IS NOT NULL)";
        tx.execute(sql, [id.0.into(), owner.0.into()]).await?;
        let sql =
            "DELETE FROM eval_runs WHERE id = $1 AND owner_id = $2 AND ended_at_ms IS NOT NULL";
        let n_deleted = tx.execute(sql, [id.0.into(), owner.0.into()]).await?;
        tx.commit().await?;
        Ok(n_deleted > 0)
    }

    /// Returns some of the runs that ended before `before`, each with its owner.
    pub async fn evals_ended_before(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<(UserId, EvalId)>, StoreError> {
        let sql = "SELECT id, owner_id FROM eval_runs WHERE ended_at_ms < $1 ORDER BY id LIMIT $2";
        let rows = self
            .all(sql, [millis(before), i64::from(limit).into()])
            .await?;
        let ids = |row: &Row| Ok((UserId(row.get("owner_id")?), EvalId(row.get("id")?)));
        rows.iter().map(ids).collect()
    }

    async fn with_progress(&self, mut run: EvalRow) -> Result<EvalRow, StoreError> {
        let sql = "SELECT COUNT(*) AS trials, COUNT(ended_at_ms) AS ended, \
                   COUNT(CASE WHEN state = 'passed' THEN 1 END) AS passed, \
                   COUNT(CASE WHEN state = 'failed' THEN 1 END) AS failed, \
                   CAST(COALESCE(SUM(cost_nanousd + lost_nanousd), 0) AS BIGINT) AS nanousd \
                   FROM eval_trials WHERE run_id = $1";
        if let Some(row) = self.one(sql, [run.id.0.into()]).await? {
            run.progress = EvalProgress {
                n_trials: count(row.get("trials")?)?,
                n_ended: count(row.get("ended")?)?,
                n_passed: count(row.get("passed")?)?,
                n_failed: count(row.get("failed")?)?,
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

fn time(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let at: Option<i64> = row.get(column)?;
    at.map(timestamp).transpose()
}
