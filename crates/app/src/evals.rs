//! Evals: suites of tasks, carried out on models to measure them.
//!
//! An eval is a list of trials: one task, given to one model once. Each trial is a session of its own. Evals and trials
//! are stored, and a job starts waiting trials, so an eval continues after a restart. Interrupted trials start over,
//! since half a trial measures nothing.

mod attempt;
mod begin;
mod computer;
mod delete;
mod keep;
mod results;
mod start;
mod turn;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use deskhand_core::{
    budget::Over,
    clock::Clock,
    id::{EvalId, SessionId, UserId},
    tasks::Tasks,
    viewer::Viewer,
};
use deskhand_evals::{BUILT_IN, BuiltIn, Suite};
use deskhand_store::{EvalRow, Store, StoreError};
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub(crate) use self::keep::ContinueEvals;
pub use self::{
    delete::DeleteEvalError,
    results::{EvalResults, ModelFigures, TaskResults},
    start::{StartEval, StartEvalError},
};
use crate::{
    Computers, Decisions, Files, FindError, InternalError, Queue, Sessions, Spending,
    catalog::Catalog, live::LiveSessions, refusal::refusals,
};

/// The reason that a trial shows if somebody stopped its run.
const STOPPED: &str = "the eval was stopped";
/// The most files that trials write at the same time. People's own transfers need room, too.
const MOST_TRANSFERS: usize = 4;

/// The runs of all users. Clones share them.
#[derive(Debug, Clone)]
pub struct Evals(Arc<EvalParts>);

/// The parts that a trial goes through.
#[derive(Debug)]
pub(crate) struct EvalParts {
    pub(crate) store: Store,
    pub(crate) sessions: Sessions,
    pub(crate) queue: Queue,
    pub(crate) computers: Computers,
    pub(crate) files: Files,
    pub(crate) decisions: Decisions,
    pub(crate) spending: Spending,
    pub(crate) live: LiveSessions,
    pub(crate) catalog: Catalog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
    pub(crate) open: OpenRuns,
}

/// The parts of runs that are in memory only.
#[derive(Debug)]
pub(crate) struct OpenRuns {
    runs: Mutex<HashMap<EvalId, OpenRun>>,
    /// Tells the job that there may be something to begin.
    wake: Notify,
    /// True once the sessions of an earlier server are resumed or closed, so that trials may end theirs.
    is_ready: AtomicBool,
    /// True once the sessions are ended that an earlier server left to trials with a result.
    is_swept: AtomicBool,
    transfers: Semaphore,
}

/// A run while its trials are carried out.
#[derive(Debug, Default)]
struct OpenRun {
    /// Fires when somebody stops the run.
    stop: CancellationToken,
    /// The trials that are carried out, each with the US dollars that it may cost.
    trials: BTreeMap<u64, f64>,
    /// The suite, once it was read.
    suite: Option<Arc<Suite>>,
    /// Set while one of the owner's limits allows no further session.
    hold: Option<Hold>,
    /// The owner's daily budget when it ended a trial. No trial begins before there is more room.
    day: Option<Over>,
}

/// A period in which no more trials run than were left when one of the owner's limits refused a session.
#[derive(Debug, Clone)]
struct Hold {
    until: Instant,
    n_trials: usize,
    /// The limit, in a sentence.
    reason: String,
}

/// The reason why a run was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindEvalError {
    #[error("there is no eval {0}")]
    NoEval(EvalId),
    #[error("could not read the eval")]
    Internal(#[source] InternalError),
}

refusals! {
    FindEvalError passes on Internal;
    Self::NoEval(_) => NotFound("no_eval"),
}

/// A run, as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRun {
    pub row: EvalRow,
    /// The limit for which it waits, in a sentence.
    pub waits_for: Option<String>,
}

/// A page of runs, newest first.
#[derive(Debug, Clone)]
pub struct EvalRuns {
    pub runs: Vec<EvalRun>,
    /// The last of them, if there are older ones.
    pub next: Option<EvalId>,
}

impl Default for OpenRuns {
    fn default() -> Self {
        Self {
            runs: Mutex::default(),
            wake: Notify::new(),
            is_ready: AtomicBool::new(false),
            is_swept: AtomicBool::new(false),
            transfers: Semaphore::new(MOST_TRANSFERS),
        }
    }
}

impl OpenRuns {
    fn runs(&self) -> MutexGuard<'_, HashMap<EvalId, OpenRun>> {
        // Every change is complete, so a panic elsewhere leaves nothing half done.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Evals {
    pub(crate) fn new(parts: EvalParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Lets runs begin and go on.
    pub(crate) fn begin(&self) {
        self.0.open.is_ready.store(true, Ordering::Release);
        self.0.open.wake.notify_one();
    }

    /// Lists the runs of a user, newest first.
    pub async fn list(
        &self,
        owner: UserId,
        before: Option<EvalId>,
        limit: u32,
    ) -> Result<EvalRuns, InternalError> {
        let page = self.0.store.evals(owner, before, limit).await?;
        let runs = page.rows.into_iter().map(|row| self.run(row)).collect();
        let next = page.next;
        Ok(EvalRuns { runs, next })
    }

    /// Finds a run of a user, with its results so far.
    pub async fn find(&self, owner: UserId, id: EvalId) -> Result<EvalResults, FindEvalError> {
        let row = self.0.store.eval(owner, id).await?;
        let row = row.ok_or(FindEvalError::NoEval(id))?;
        let trials = self.0.store.trials(id).await?;
        let suite = self.suite(id).await?;
        Ok(EvalResults::of(self.run(row), suite.as_deref(), &trials))
    }

    /// Stops a run: its trials end, and none begins any more. Nothing happens if it has ended.
    pub async fn stop(&self, owner: UserId, id: EvalId) -> Result<EvalResults, FindEvalError> {
        let row = self.0.store.eval(owner, id).await?;
        if row.is_none() {
            return Err(FindEvalError::NoEval(id));
        }
        self.end_early(id, STOPPED).await?;
        self.find(owner, id).await
    }

    /// Stops a run if it has not ended. The sessions of its trials end soon after.
    async fn end_early(&self, id: EvalId, reason: &str) -> Result<(), StoreError> {
        let now = self.0.clock.now();
        if self.0.store.stop_eval(id, reason, now).await? {
            // It stays in memory until its trials have ended their sessions.
            if let Some(open) = self.0.open.runs().get(&id) {
                open.stop.cancel();
            }
        }
        Ok(())
    }

    /// Ends the session of a trial with its computer. Its log stays.
    async fn end_session(&self, owner: UserId, session: SessionId) {
        let ended = self.0.sessions.terminate(Viewer::User(owner), session);
        match ended.await {
            Ok(()) | Err(FindError::NoSession(_)) => {}
            Err(error) => {
                tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not end the session of a trial");
            }
        }
    }

    /// Returns the suite of a run, or `None` if it is no longer readable. It is kept while the run is open.
    async fn suite(&self, id: EvalId) -> Result<Option<Arc<Suite>>, StoreError> {
        let kept = self
            .0
            .open
            .runs()
            .get(&id)
            .and_then(|open| open.suite.clone());
        if kept.is_some() {
            return Ok(kept);
        }
        let Some(yaml) = self.0.store.eval_suite(id).await? else {
            return Ok(None);
        };
        let read = Suite::read(&yaml);
        let suite = read.inspect_err(
            |error| tracing::error!(eval.id = %id, %error, "a stored suite is unreadable"),
        );
        let Ok(suite) = suite.map(Arc::new) else {
            return Ok(None);
        };
        if let Some(open) = self.0.open.runs().get_mut(&id) {
            open.suite = Some(Arc::clone(&suite));
        }
        Ok(Some(suite))
    }

    /// Returns the suites that come with the program.
    pub fn built_in(&self) -> Vec<Suite> {
        let suites = BUILT_IN.iter().map(BuiltIn::suite);
        // Tests read each of them.
        suites.filter_map(Result::ok).collect()
    }

    fn run(&self, row: EvalRow) -> EvalRun {
        let runs = self.0.open.runs();
        let hold = runs.get(&row.id).and_then(|open| open.hold.clone());
        let hold = hold.filter(|hold| hold.until > Instant::now());
        EvalRun {
            row,
            waits_for: hold.map(|hold| hold.reason),
        }
    }
}
