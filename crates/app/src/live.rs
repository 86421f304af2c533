//! A session at work: one task that takes prompts from the queue, one after the other, and
//! runs a turn for each.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use deskhand_agent::{Turn, TurnEnd, TurnLog, TurnLogError, TurnReport};
use deskhand_core::{
    event::{Complete, EventBody, Failure, MessageSaid, Outcome},
    id::{MessageId, SessionId, TurnId},
    message::Delivery,
    session::Signal,
    viewer::Viewer,
};
use deskhand_store::{Answer, PhaseMove, StoreError, Transition};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    decisions::TurnDecisions,
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
    turn: Mutex<Option<RunningTurn>>,
    /// Asks the worker to end.
    ending: CancellationToken,
    /// Fires when the worker has ended.
    ended: CancellationToken,
}

/// A turn that an earlier server did not finish.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unfinished {
    pub(crate) turn: TurnId,
    pub(crate) prompt: MessageId,
}

/// The turn that runs, or is about to.
#[derive(Debug)]
struct RunningTurn {
    stop: CancellationToken,
    /// What it works on, once that is known.
    prompt: Option<MessageId>,
    /// Whether it was stopped for a message that could not wait.
    is_interrupted: bool,
}

impl Live {
    /// Starts the worker of a session, which first finishes what an earlier server left.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        session: SessionId,
        unfinished: Option<Unfinished>,
    ) -> Arc<Self> {
        let desk = SessionDesk::new(
            session,
            shared.settings.screen,
            Arc::clone(&shared.sandboxes),
            shared.log.clone(),
            shared.tasks.clone(),
            shared.rooms.room(session),
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
            worker.work(&shared_by_worker, unfinished).await;
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
        self.turn().as_ref().is_some_and(|turn| {
            turn.stop.cancel();
            true
        })
    }

    /// Ends the turn that runs, unless it works on this very message.
    pub(crate) fn interrupt(&self, message: MessageId) {
        if let Some(turn) = &mut *self.turn()
            && turn.prompt.is_some_and(|prompt| prompt != message)
        {
            turn.is_interrupted = true;
            turn.stop.cancel();
        }
    }

    /// Ends the worker, with the turn it is at, and waits for it.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        self.ended.cancelled().await;
    }

    async fn work(&self, shared: &Arc<Shared>, unfinished: Option<Unfinished>) {
        if let Some(Unfinished { turn, prompt }) = unfinished {
            let stop = self.begin_turn();
            self.note_prompt(shared, prompt).await;
            self.run(shared, turn, prompt, stop).await;
            *self.turn() = None;
        }
        while !self.ending.is_cancelled() {
            let turn = TurnId::new();
            let stop = self.begin_turn();
            let taken = shared.log.take_prompt(self.session, turn).await;
            let wait = match taken {
                Ok(Some(prompt)) => {
                    self.note_prompt(shared, prompt).await;
                    self.run(shared, turn, prompt, stop).await;
                    None
                }
                Ok(None) => Some(None),
                Err(error) => {
                    tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "the queue could not be read");
                    Some(Some(RETRY))
                }
            };
            *self.turn() = None;
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
        let server_ends = shared.parking.is_cancelled();
        tracing::info!(session.id = %self.session, turn.id = %turn, n_steps = report.n_steps, duration_ms = millis(report.duration), "a turn ended");
        count_turn(&report);
        loop {
            let is_interrupted = self.turn().as_ref().is_some_and(|turn| turn.is_interrupted);
            let transition = close(turn, &report, server_ends, is_interrupted);
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
        let history = history::read(&shared.store, self.session)
            .await
            .map_err(store_failed)?;
        let newest = history.iter().map(|event| event.seq).max();
        Ok(Turn {
            id,
            model,
            desk: Arc::new(TurnDesk(Arc::clone(&self.desk))),
            log: Arc::new(SessionLog {
                shared: Arc::clone(shared),
                session: self.session,
                turn: id,
                leases_told: AtomicU64::new(newest.unwrap_or_default()),
            }),
            decisions: Arc::new(TurnDecisions {
                shared: Arc::clone(shared),
                session: self.session,
                turn: id,
            }),
            blobs: Arc::clone(&shared.blobs),
            history,
            screen: shared.settings.screen,
            limits: shared.settings.limits.clone(),
            clock: Arc::clone(&shared.clock),
            stop,
            parking: shared.parking.clone(),
        })
    }

    fn begin_turn(&self) -> CancellationToken {
        let stop = self.ending.child_token();
        *self.turn() = Some(RunningTurn {
            stop: stop.clone(),
            prompt: None,
            is_interrupted: false,
        });
        stop
    }

    /// Notes what the turn works on. A message that was to interrupt it and came before that was
    /// known interrupts it now.
    async fn note_prompt(&self, shared: &Arc<Shared>, prompt: MessageId) {
        if let Some(turn) = &mut *self.turn() {
            turn.prompt = Some(prompt);
        }
        let waiting = shared.store.waiting(self.session).await.unwrap_or_default();
        let urgent = waiting
            .iter()
            .find(|message| message.delivery == Delivery::Interrupt);
        if let Some(message) = urgent {
            self.interrupt(message.id);
        }
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, Option<RunningTurn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the log says at the end of a turn. One that the server's end cut short is not at its end.
fn close(turn: TurnId, report: &TurnReport, server_ends: bool, is_interrupted: bool) -> Transition {
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
    if matches!(report.end, TurnEnd::Stopped) && server_ends {
        return Transition {
            reason: Some(
                "The server is being stopped. The agent goes on when it is started again."
                    .to_owned(),
            ),
            turn: Some(turn),
            ..Transition::default()
        };
    }
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
        TurnEnd::Stopped if is_interrupted => complete(Outcome::Interrupted),
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
        events: vec![event],
        answer,
        ..Transition::default()
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
    turn: TurnId,
    /// The number of the newest event up to which the turn knows of leases.
    leases_told: AtomicU64,
}

#[async_trait]
impl TurnLog for SessionLog {
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        let appended = self.shared.log.append(self.session, &bodies).await;
        appended.map_err(|error| TurnLogError(Box::new(error)))
    }

    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError> {
        let taken = self.shared.log.take_steering(self.session, self.turn).await;
        let messages = taken.map_err(|error| TurnLogError(Box::new(error)))?;
        let said = messages.into_iter().map(|message| {
            EventBody::Message(MessageSaid {
                id: message.id,
                role: message.role,
                content: message.content,
                author: message.author,
                author_name: message.author_name,
                delivery: message.delivery,
                turn: None,
            })
        });
        Ok(said.collect())
    }

    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError> {
        let lost = |error: Box<dyn std::error::Error + Send + Sync>| TurnLogError(error);
        let told = self.leases_told.load(Ordering::Relaxed);
        let events = self.shared.log.lease_events(self.session, told).await;
        let events = events.map_err(|error| lost(Box::new(error)))?;
        if let Some(newest) = events.last() {
            self.leases_told.store(newest.seq, Ordering::Relaxed);
        }
        let bodies = events.iter().map(|event| Ok(event.read()?.body));
        let bodies: Result<_, serde_json::Error> = bodies.collect();
        bodies.map_err(|error| lost(Box::new(error)))
    }
}
