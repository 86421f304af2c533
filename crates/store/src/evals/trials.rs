//! The trials of a run, and their moves between states.

use deskhand_core::{
    eval::TrialState,
    id::{EvalId, SessionId, UserId},
};
use jiff::Timestamp;

use super::time;
use crate::{
    budgets::{nano, usd},
    database::{Row, Store, StoreError, count, millis, stored_count},
};

/// The columns of a trial. A session that was deleted is left out.
const TRIAL: &str = "number, task, model, round, state, reason, n_steps, cost_nanousd, lost_nanousd, n_restarts, \
                     duration_ms, started_at_ms, ended_at_ms, \
                     (SELECT s.id FROM sessions AS s WHERE s.id = t.session_id) AS session_id";
/// Holds for a trial whose run has not ended.
const RUN_IS_OPEN: &str =
    "EXISTS (SELECT 1 FROM eval_runs WHERE id = run_id AND ended_at_ms IS NULL)";

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
    /// Returns the trials of a run in their order.
    pub async fn trials(&self, id: EvalId) -> Result<Vec<TrialRow>, StoreError> {
        let sql = format!("SELECT {TRIAL} FROM eval_trials AS t WHERE run_id = $1 ORDER BY number");
        let rows = self.all(&sql, [id.0.into()]).await?;
        rows.iter().map(trial).collect()
    }

    /// Begins a trial that waits. Returns false if it no longer does, or if its run has ended.
    pub async fn begin_trial(
        &self,
        id: EvalId,
        number: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE eval_trials SET state = $1, started_at_ms = $2 \
             WHERE run_id = $3 AND number = $4 AND state = $5 AND {RUN_IS_OPEN}"
        );
        let values = [
            TrialState::Running.name().into(),
            millis(at),
            id.0.into(),
            stored_count(number),
            TrialState::Waiting.name().into(),
        ];
        Ok(self.write(&sql, values).await? > 0)
    }

    /// Lets a trial that has begun wait again. `is_cut_short` is true if its model may have worked already.
    pub async fn repeat_trial(
        &self,
        id: EvalId,
        number: u64,
        is_cut_short: bool,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE eval_trials SET state = $1, session_id = NULL, n_steps = 0, \
             lost_nanousd = lost_nanousd + cost_nanousd, cost_nanousd = 0, n_restarts = n_restarts + $2, \
             started_at_ms = NULL WHERE run_id = $3 AND number = $4 AND state = $5 AND {RUN_IS_OPEN}"
        );
        let values = [
            TrialState::Waiting.name().into(),
            i64::from(is_cut_short).into(),
            id.0.into(),
            stored_count(number),
            TrialState::Running.name().into(),
        ];
        self.write(&sql, values).await?;
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

    /// Sets the cost of a trial to all that its session has cost. Without a session it stays as it is.
    pub async fn settle_trial_cost(&self, id: EvalId, number: u64) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET cost_nanousd = COALESCE((SELECT s.cost_nanousd FROM sessions AS s \
                   WHERE s.id = eval_trials.session_id), cost_nanousd) WHERE run_id = $1 AND number = $2";
        self.write(sql, [id.0.into(), stored_count(number)]).await?;
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

    /// Skips a trial that waits.
    pub async fn skip_trial(
        &self,
        id: EvalId,
        number: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE eval_trials SET state = $1, reason = $2, ended_at_ms = $3 \
                   WHERE run_id = $4 AND number = $5 AND state = $6";
        let values = [
            TrialState::Skipped.name().into(),
            reason.into(),
            millis(at),
            id.0.into(),
            stored_count(number),
            TrialState::Waiting.name().into(),
        ];
        self.write(sql, values).await?;
        Ok(())
    }

    /// Returns the open sessions of trials that have a result, or whose run has ended, each with the owner of the run.
    pub async fn leftover_trial_sessions(&self) -> Result<Vec<(UserId, SessionId)>, StoreError> {
        let sql = "SELECT r.owner_id, s.id FROM sessions AS s \
                   JOIN eval_trials AS t ON t.session_id = s.id JOIN eval_runs AS r ON r.id = t.run_id \
                   WHERE s.phase <> 'terminated' AND (t.ended_at_ms IS NOT NULL OR r.ended_at_ms IS NOT NULL)";
        let ids = |row: &Row| Ok((UserId(row.get("owner_id")?), SessionId(row.get("id")?)));
        self.all(sql, []).await?.iter().map(ids).collect()
    }
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
