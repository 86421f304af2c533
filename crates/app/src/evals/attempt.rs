//! One trial: a session, the set-up, the turn, and the checker.

use std::{panic::AssertUnwindSafe, time::Duration};

use deskhand_core::{
    budget::{ChangeBudget, Over},
    eval::TrialState,
    id::{EvalId, SessionId, UserId},
    network::policy::{NetworkMode, NetworkPolicy},
    policy::Policy,
    viewer::Viewer,
};
use deskhand_evals::{Double, EvalTask, SuiteNetwork};
use deskhand_store::{StoreError, TrialEnd};
use futures::FutureExt;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Evals, STOPPED};
use crate::{
    CreateSession, Refusal, RefusalKind, WakeError, live::AwakeGuard, sessions::find::find,
};

/// The longest wait before another session is tried after one of the owner's limits refused one. The limits may change
/// in the meantime.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The longest reason of a result.
const LONGEST_REASON: usize = 500;

/// The reason of a trial that a bug of the server ended.
const PANICKED: &str = "a bug in the server ended the trial; its log has the details";

/// A trial to carry out.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) run: EvalId,
    pub(super) owner: UserId,
    /// The name of the suite.
    pub(super) suite: String,
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) task: EvalTask,
}

/// The result of a trial.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) state: TrialState,
    pub(super) reason: Option<String>,
    /// The time that the model worked.
    pub(super) worked: Option<Duration>,
}

/// The reason why a trial has no verdict of its checker.
#[derive(Debug)]
pub(super) enum Unchecked {
    Later(Later),
    Ended(Verdict),
}

/// One of the owner's limits does not allow a session now.
#[derive(Debug)]
pub(super) struct Later {
    /// The time after which it may.
    pub(super) wait: Duration,
    /// The limit, in a sentence.
    pub(super) reason: String,
    /// The daily budget, if that is the limit.
    pub(super) day: Option<Over>,
}

/// A trial that is being carried out.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    pub(super) evals: &'a Evals,
    pub(super) trial: &'a Trial,
    session: Option<SessionId>,
    /// Keeps the session awake from its start to its end, so that the checker finds what the agent left.
    awake: Option<AwakeGuard>,
}

impl Verdict {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self::new(TrialState::Failed, reason)
    }

    pub(super) fn error(reason: impl Into<String>) -> Self {
        Self::new(TrialState::Error, reason)
    }

    fn skipped(reason: impl Into<String>) -> Self {
        Self::new(TrialState::Skipped, reason)
    }

    fn new(state: TrialState, reason: impl Into<String>) -> Self {
        Self {
            state,
            reason: Some(reason.into()),
            worked: None,
        }
    }

    pub(super) fn after(self, worked: Duration) -> Self {
        let worked = Some(worked);
        Self { worked, ..self }
    }
}

impl From<Verdict> for Unchecked {
    fn from(verdict: Verdict) -> Self {
        Self::Ended(verdict)
    }
}

/// The server is at fault, not the model.
impl From<StoreError> for Unchecked {
    fn from(error: StoreError) -> Self {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "could not read or write a trial"
        );
        Verdict::error("the server could not read or write its database").into()
    }
}

/// Returns the end of a trial whose session refuses something.
pub(super) fn refused(error: &impl Refusal) -> Unchecked {
    Verdict::error(error.facts().message).into()
}

/// Turns a panic into the end of the trial, which would otherwise count as running until the server restarts.
async fn without_panic<T>(
    work: impl Future<Output = Result<T, Unchecked>>,
) -> Result<T, Unchecked> {
    // What it leaves behind is a session, which is ended next.
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    // The panic's message is in the log.
    ended.unwrap_or_else(|_panic| Err(Verdict::error(PANICKED).into()))
}

impl Evals {
    /// Carries a trial out. If the server ends before, the trial stays as it is, and the next server begins it anew.
    pub(super) async fn carry_out(self, trial: Trial, stop: CancellationToken) {
        let shutdown = self.0.tasks.shutdown().clone();
        let mut refusal = None;
        let work = async {
            let mut attempt = Attempt {
                evals: &self,
                trial: &trial,
                session: None,
                awake: None,
            };
            let ended = attempt.until_stopped(&stop).await;
            if shutdown.is_cancelled() {
                // The turn has ended with the server, and says nothing.
                return;
            }
            // This comes before the result, which has all that the session has cost.
            attempt.end_session().await;
            let stored = match ended {
                Ok(verdict) | Err(Unchecked::Ended(verdict)) => {
                    self.store_end(&trial, verdict).await
                }
                Err(Unchecked::Later(later)) => {
                    refusal = Some(later);
                    self.store_repetition(&trial).await
                }
            };
            if let Err(error) = stored {
                tracing::error!(
                    eval.id = %trial.run,
                    error = &error as &dyn std::error::Error,
                    "could not store the result of a trial, which will begin anew"
                );
            }
        };
        shutdown.run_until_cancelled(work).await;
        self.release(trial.run, trial.number, refusal);
    }

    async fn store_repetition(&self, trial: &Trial) -> Result<(), StoreError> {
        let (store, run, number) = (&self.0.store, trial.run, trial.number);
        store.settle_trial_cost(run, number).await?;
        store.repeat_trial(run, number, false).await
    }

    async fn store_end(&self, trial: &Trial, verdict: Verdict) -> Result<(), StoreError> {
        let reason = verdict.reason.map(|reason| short(&reason));
        let worked = verdict.worked.map(|worked| worked.as_millis());
        tracing::info!(
            eval.id = %trial.run,
            trial.task = trial.task.name,
            trial.model = trial.model,
            trial.state = verdict.state.name(),
            "a trial ended"
        );
        let end = TrialEnd {
            state: verdict.state,
            reason: reason.filter(|reason| !reason.is_empty()),
            duration_ms: worked.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX)),
            at: self.0.clock.now(),
        };
        let (store, run, number) = (&self.0.store, trial.run, trial.number);
        store.settle_trial_cost(run, number).await?;
        store.end_trial(run, number, &end).await
    }
}

impl Attempt<'_> {
    /// Performs the trial unless somebody stops its run. A session that is being created is waited for: otherwise nobody
    /// would end it.
    async fn until_stopped(&mut self, stop: &CancellationToken) -> Result<Verdict, Unchecked> {
        if stop.is_cancelled() {
            return Err(Verdict::skipped(STOPPED).into());
        }
        let session = Box::pin(without_panic(self.create_session())).await?;
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(Verdict::skipped(STOPPED).into()),
            ended = Box::pin(without_panic(self.perform(session))) => ended,
        }
    }

    async fn perform(&self, session: SessionId) -> Result<Verdict, Unchecked> {
        self.set_up(session).await?;
        let began = Instant::now();
        let answer = self.have_it_done(session, began).await?;
        let worked = began.elapsed();
        Ok(self.check(session, &answer).await?.after(worked))
    }

    async fn create_session(&mut self) -> Result<SessionId, Unchecked> {
        let (parts, trial) = (&self.evals.0, self.trial);
        let created = parts.sessions.create(trial.owner, wanted(trial)).await;
        let session = created
            .map_err(|error| later(&error).map_or_else(|| refused(&error), Unchecked::Later))?;
        self.session = Some(session.id);
        let (run, number) = (trial.run, trial.number);
        parts
            .store
            .set_trial_session(run, number, session.id)
            .await?;
        self.keep_awake(session.id).await?;
        Ok(session.id)
    }

    /// Keeps the session awake until it is ended.
    async fn keep_awake(&mut self, session: SessionId) -> Result<(), Unchecked> {
        let (parts, viewer) = (&self.evals.0, Viewer::User(self.trial.owner));
        let session = find(&parts.store, viewer, session).await;
        let session = session.map_err(|error| refused(&error))?;
        let woken = parts.live.wake(&session).await;
        let guard = woken.map_err(|error: WakeError| {
            later(&error).map_or_else(|| refused(&error), Unchecked::Later)
        })?;
        self.awake = Some(guard);
        Ok(())
    }

    /// Ends the session with its computer. Its log stays.
    async fn end_session(&mut self) {
        self.awake = None;
        let Some(session) = self.session.take() else {
            return;
        };
        self.evals.end_session(self.trial.owner, session).await;
    }
}

/// Returns the settings of a trial's session.
fn wanted(trial: &Trial) -> CreateSession {
    let task = &trial.task;
    let double = Double::of_model(&trial.model);
    let steps = double.and_then(|double| double.instructions(task));
    let metadata = json!({"eval": {"run": trial.run, "task": task.name, "trial": trial.number}});
    CreateSession {
        title: Some(format!("{}: {}", trial.suite, task.name)),
        model: Some(trial.model.clone()),
        computer: task.computer,
        instructions: Some(steps.unwrap_or_else(|| task.instructions.clone())),
        metadata: metadata.as_object().cloned(),
        // A task must not depend on the owner's secrets either.
        approvals: Some(Policy::unattended()),
        budget: ChangeBudget {
            usd: Some(task.limits.usd),
            tokens: None,
        },
        network: match task.network {
            SuiteNetwork::Closed => Some(NetworkPolicy::from(NetworkMode::Closed)),
            SuiteNetwork::Usual => None,
        },
        ..CreateSession::default()
    }
}

/// Returns the wait after an error that is a limit of the owner.
fn later(error: &impl Refusal) -> Option<Later> {
    let facts = error.facts();
    if facts.kind != RefusalKind::TooMany {
        return None;
    }
    let wait = facts.retry_after.unwrap_or(LONGEST_WAIT);
    Some(Later {
        wait: wait.clamp(Duration::from_secs(1), LONGEST_WAIT),
        reason: facts.message,
        day: None,
    })
}

/// Returns the beginning of a text, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_trial_as_an_error_of_the_server() {
        let ended = without_panic::<()>(async { panic!("a bug") }).await;
        let Err(Unchecked::Ended(verdict)) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(verdict.state, TrialState::Error);
        assert_eq!(verdict.reason.as_deref(), Some(PANICKED));
    }
}
