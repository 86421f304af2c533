//! A session at work: one task that takes prompts from the queue, one after the other, and
//! runs a turn for each.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_agent::{Turn, TurnEnd, TurnLog, TurnLogError, TurnReport};
use deskhand_core::{
    event::{Complete, EventBody, Failure, Outcome},
    id::{MessageId, SessionId, TurnId},
    session::Signal,
    viewer::Viewer,
};
use deskhand_store::{Answer, PhaseMove, StoreError, Transition};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    desk::{SessionDesk, TurnDesk},
    figures::count_turn,
    history,
    sessions::Shared,
};

/// How long to wait before trying again when the database did not answer.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) desk: Arc<SessionDesk>,
    session: SessionId,
    nudge: Notify,
    /// Stops the turn that runs.
    turn: Mutex<Option<CancellationToken>>,
    /// Asks the worker to end.
    ending: CancellationToken,
    /// Fires when the worker has ended.
    ended: CancellationToken,
}

impl Live {
    /// Starts the worker of a session.
    pub(crate) fn start(shared: &Arc<Shared>, session: SessionId) -> Arc<Self> {
        let desk = SessionDesk::new(
            session,
            shared.settings.screen,
            Arc::clone(&shared.sandboxes),
            shared.log.clone(),
            shared.tasks.clone(),
        );
        let live = Arc::new(Self {
            desk,
            session,
            nudge: Notify::new(),
            turn: Mutex::default(),
            ending: shared.tasks.shutdown().child_token(),
            ended: CancellationToken::new(),
        });
        let (worker, shared_by_worker) = (Arc::clone(&live), Arc::clone(shared));
        let work = async move {
            worker.work(&shared_by_worker).await;
            worker.ended.cancel();
        };
        let span = tracing::info_span!("session", session.id = %session);
        shared.tasks.spawn("session", work.instrument(span));
        live
    }

    /// There is a prompt to take.
    pub(crate) fn nudge(&self) {
        self.nudge.notify_one();
    }

    /// Stops the turn that runs; tells whether there was one.
    pub(crate) fn stop_turn(&self) -> bool {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.as_ref().inspect(|stop| stop.cancel()).is_some()
    }

    /// Ends the worker, with the turn it is at, and waits for it.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        self.ended.cancelled().await;
    }

    async fn work(&self, shared: &Arc<Shared>) {
        while !self.ending.is_cancelled() {
            let turn = TurnId::new();
            let stop = self.ending.child_token();
            self.set_turn(Some(stop.clone()));
            let taken = shared.log.take_prompt(self.session, turn).await;
            let wait = match taken {
                Ok(Some(prompt)) => {
                    self.run(shared, turn, prompt, stop).await;
                    None
                }
                Ok(None) => Some(None),
                Err(error) => {
                    tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "the queue could not be read");
                    Some(Some(RETRY))
                }
            };
            self.set_turn(None);
            match wait {
                None => {}
                Some(None) => {
                    tokio::select! {
                        () = self.nudge.notified() => {}
                        () = self.ending.cancelled() => {}
                    }
                }
                Some(Some(retry)) => tokio::time::sleep(retry).await,
            }
        }
    }

    async fn run(
        &self,
        shared: &Arc<Shared>,
        turn: TurnId,
        prompt: MessageId,
        stop: CancellationToken,
    ) {
        tracing::info!(session.id = %self.session, turn.id = %turn, message.id = %prompt, "a turn begins");
        let report = match self.prepare(shared, turn, stop).await {
            Ok(turn) => Box::pin(turn.run()).await,
            Err(failure) => TurnReport {
                end: TurnEnd::Failed(failure),
                n_steps: 0,
                duration: Duration::ZERO,
            },
        };
        let ending = self.ending.is_cancelled();
        let server_ends = shared.tasks.shutdown().is_cancelled();
        tracing::info!(session.id = %self.session, turn.id = %turn, n_steps = report.n_steps, duration_ms = millis(report.duration), "a turn ended");
        count_turn(&report);
        loop {
            let transition = close(turn, &report, server_ends);
            match shared.log.transition(self.session, transition).await {
                Ok(_) => break,
                // The end of a turn must not get lost while the database is away; only a server
                // that ends leaves it to the next start.
                Err(error) => {
                    tracing::error!(session.id = %self.session, turn.id = %turn, error = &error as &dyn std::error::Error, "a turn's end was not stored");
                    if ending {
                        break;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Everything a turn needs, or why it cannot begin.
    async fn prepare(
        &self,
        shared: &Arc<Shared>,
        id: TurnId,
        stop: CancellationToken,
    ) -> Result<Turn, Failure> {
        let fail = |code: &str, message: String| Failure {
            turn: Some(id),
            code: code.to_owned(),
            message,
        };
        let store_failed = |error: StoreError| {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "the session could not be read");
            fail(
                "storage_failed",
                "The session could not be read from the database.".to_owned(),
            )
        };
        let session = shared
            .store
            .session(Viewer::System, self.session)
            .await
            .map_err(store_failed)?
            .ok_or_else(|| fail("no_session", "The session is gone.".to_owned()))?;
        let model = shared
            .models
            .model(&session.model)
            .map_err(|error| fail("model_failed", format!("The model cannot be used: {error}")))?;
        Ok(Turn {
            id,
            model,
            desk: Arc::new(TurnDesk(Arc::clone(&self.desk))),
            log: Arc::new(SessionLog {
                shared: Arc::clone(shared),
                session: self.session,
            }),
            blobs: Arc::clone(&shared.blobs),
            history: history::read(&shared.store, self.session)
                .await
                .map_err(store_failed)?,
            screen: shared.settings.screen,
            limits: shared.settings.limits.clone(),
            clock: Arc::clone(&shared.clock),
            stop,
        })
    }

    fn set_turn(&self, stop: Option<CancellationToken>) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = stop;
    }
}

/// What the log says at the end of a turn.
fn close(turn: TurnId, report: &TurnReport, server_ends: bool) -> Transition {
    let complete = |outcome| {
        EventBody::Complete(Complete {
            turn,
            outcome,
            n_steps: report.n_steps,
            duration_ms: millis(report.duration),
        })
    };
    let error = |code: &str, message: &str| {
        EventBody::Error(Failure {
            turn: Some(turn),
            code: code.to_owned(),
            message: message.to_owned(),
        })
    };
    let mut answer = None;
    let event = match &report.end {
        TurnEnd::Done { answer: content } => {
            if !content.is_empty() {
                answer = Some(Answer {
                    id: MessageId::new(),
                    turn,
                    content: content.clone(),
                });
            }
            complete(Outcome::Done)
        }
        TurnEnd::Stopped if server_ends => error(
            "server_stopped",
            "The server was stopped while the agent was working. What it had done is above; send a new message to go on.",
        ),
        TurnEnd::Stopped => complete(Outcome::Stopped),
        TurnEnd::Failed(failure) => EventBody::Error(Failure {
            turn: Some(turn),
            ..failure.clone()
        }),
        TurnEnd::LogLost(cause) => {
            tracing::error!(turn.id = %turn, error = cause as &dyn std::error::Error, "a turn ended because its log could not be written");
            error(
                "storage_failed",
                "What the agent did could not be written to the log, so it was stopped.",
            )
        }
    };
    Transition {
        phase: PhaseMove::Must(Signal::TurnFinished),
        sandbox: None,
        reason: None,
        events: vec![event],
        answer,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The log as a turn sees it.
#[derive(Debug)]
struct SessionLog {
    shared: Arc<Shared>,
    session: SessionId,
}

#[async_trait]
impl TurnLog for SessionLog {
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        let appended = self.shared.log.append(self.session, &bodies).await;
        appended.map_err(|error| TurnLogError(Box::new(error)))
    }
}
