//! A session that is awake: its desk and, while there is work, one task that takes prompts from the
//! queue, one after the other, and runs a turn for each.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_agent::{SystemPrompt, Turn, TurnEnd, TurnReport};
use deskhand_core::{
    event::{Complete, EventBody, Failure, Outcome},
    id::{MessageId, SessionId, TurnId, UserId},
    limits::Limits,
    message::Delivery,
    session::{Session, Signal},
    viewer::Viewer,
};
use deskhand_store::{Answer, PhaseMove, StoreError, Transition};
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    budgets::TurnBudgets,
    decisions::TurnDecisions,
    desk::{SessionDesk, TurnDesk},
    figures::{count_turn, turn_outcome},
    gateway::MOST_CALLS,
    history,
    in_use::InUse,
    patience::until_answered,
    sessions::Shared,
    turn_log::SessionLog,
};

/// How long to wait before trying again when the database did not answer.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) session: SessionId,
    pub(crate) desk: Arc<SessionDesk>,
    pub(crate) in_use: Arc<InUse>,
    /// What holds for its owner since it was woken.
    pub(crate) limits: Limits,
    /// Fires when it sleeps.
    pub(crate) gone: CancellationToken,
    owner: Mutex<UserId>,
    turn: Mutex<Option<RunningTurn>>,
    /// Asks the worker to end.
    ending: CancellationToken,
    /// What its programs may ask models at the same time.
    pub(crate) gateway_calls: Arc<Semaphore>,
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
    id: TurnId,
    stop: CancellationToken,
    /// What it works on, once that is known.
    prompt: Option<MessageId>,
    /// Whether it was stopped for a message that could not wait.
    is_interrupted: bool,
}

impl Live {
    /// A session that wakes. Nothing is started for it yet.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        session: &Session,
        limits: Limits,
        rest: &Arc<Notify>,
    ) -> Arc<Self> {
        let desk = SessionDesk::new(
            session.id,
            shared.settings.screen,
            shared.computers(),
            shared.log.clone(),
            shared.tasks.clone(),
            limits.life,
            shared.rooms.room(session.id),
        );
        Arc::new(Self {
            session: session.id,
            desk,
            in_use: InUse::new(Arc::clone(rest)),
            limits,
            gone: CancellationToken::new(),
            owner: Mutex::new(session.owner),
            turn: Mutex::default(),
            ending: shared.tasks.shutdown().child_token(),
            gateway_calls: Arc::new(Semaphore::new(MOST_CALLS)),
        })
    }

    /// There is a prompt to take. The caller keeps the session awake.
    pub(crate) fn nudge(self: &Arc<Self>, shared: &Arc<Shared>) {
        self.begin_work(shared, None);
    }

    /// Goes on with what an earlier server left. The caller keeps the session awake.
    pub(crate) fn take_up(self: &Arc<Self>, shared: &Arc<Shared>, unfinished: Unfinished) {
        self.begin_work(shared, Some(unfinished));
    }

    fn begin_work(self: &Arc<Self>, shared: &Arc<Shared>, unfinished: Option<Unfinished>) {
        if !self.in_use.begin_work() {
            return;
        }
        let (worker, shared_by_worker) = (Arc::clone(self), Arc::clone(shared));
        let work = async move { worker.work(&shared_by_worker, unfinished).await };
        // Whoever asked for the work is answered long before it ends.
        let span = tracing::info_span!(parent: None, "session", session.id = %self.session);
        shared.tasks.spawn("session", work.instrument(span));
    }

    /// Since when nobody needs it. `None` while somebody does, or when it is going to sleep.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        if self.desk.is_held() {
            self.in_use.touch();
            return None;
        }
        self.in_use.idle_since()
    }

    pub(crate) fn owner(&self) -> UserId {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_owner(&self, owner: UserId) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }

    /// Stops the turn that runs; tells whether there was one.
    pub(crate) fn stop_turn(&self) -> bool {
        self.turn().as_ref().is_some_and(|turn| {
            turn.stop.cancel();
            true
        })
    }

    /// The turn that the agent is at work on, and what fires when somebody stops it.
    pub(crate) fn at_work(&self) -> Option<(TurnId, CancellationToken)> {
        let turn = self.turn();
        let turn = turn.as_ref().filter(|turn| turn.prompt.is_some())?;
        (!turn.stop.is_cancelled()).then(|| (turn.id, turn.stop.clone()))
    }

    /// Fires when the session or the server ends.
    pub(crate) fn ending(&self) -> CancellationToken {
        self.ending.clone()
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
        self.in_use.worked().await;
    }

    async fn work(&self, shared: &Arc<Shared>, unfinished: Option<Unfinished>) {
        if let Some(Unfinished { turn, prompt }) = unfinished {
            let stop = self.begin_turn(turn);
            self.note_prompt(shared, prompt).await;
            self.run(shared, turn, prompt, stop).await;
            *self.turn() = None;
        }
        while !self.ending.is_cancelled() {
            let turn = TurnId::new();
            let stop = self.begin_turn(turn);
            let taken = self.take_prompt(shared, turn).await;
            if let Ok(Some(prompt)) = taken {
                self.note_prompt(shared, prompt).await;
                self.run(shared, turn, prompt, stop).await;
            }
            *self.turn() = None;
            match taken {
                Ok(Some(_)) => {}
                Ok(None) if self.in_use.end_work() => return,
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "the queue could not be read");
                    self.pause().await;
                }
            }
        }
        self.in_use.give_up_work();
    }

    /// Takes the oldest waiting prompt for `turn`.
    async fn take_prompt(
        &self,
        shared: &Arc<Shared>,
        turn: TurnId,
    ) -> Result<Option<MessageId>, StoreError> {
        let taken = until_answered(&self.ending, || shared.log.take_prompt(self.session, turn));
        if let Some(prompt) = taken.await? {
            return Ok(Some(prompt));
        }
        // A try whose answer got lost may have taken it.
        let open = until_answered(&self.ending, || shared.store.open_turn(self.session));
        if open.await? != Some(turn) {
            return Ok(None);
        }
        let log = until_answered(&self.ending, || history::read(&shared.store, self.session));
        Ok(history::prompt_of(&log.await?, turn))
    }

    async fn pause(&self) {
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = self.ending.cancelled() => {}
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
        let report = match self.prepare(shared, turn, prompt, stop).await {
            Ok(turn) => Box::pin(turn.run()).await,
            Err(failure) => TurnReport {
                end: TurnEnd::Failed(failure),
                n_steps: 0,
                duration: Duration::ZERO,
            },
        };
        let ending = self.ending.is_cancelled();
        let server_ends = shared.parking.is_cancelled();
        tracing::info!(session.id = %self.session, turn.id = %turn, outcome = turn_outcome(&report), n_steps = report.n_steps, duration_ms = millis(report.duration), "a turn ended");
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
                    self.pause().await;
                }
            }
        }
    }

    /// Everything a turn needs, or why it cannot begin.
    async fn prepare(
        &self,
        shared: &Arc<Shared>,
        id: TurnId,
        prompt: MessageId,
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
        let session = until_answered(&self.ending, || {
            shared.store.session(Viewer::System, self.session)
        });
        let session = session
            .await
            .map_err(store_failed)?
            .ok_or_else(|| fail("no_session", "The session is gone.".to_owned()))?;
        let wanted = until_answered(&self.ending, || shared.store.model_for(prompt));
        let wanted = wanted.await.map_err(store_failed)?;
        let model = shared
            .chosen(wanted.as_ref().unwrap_or(&session.model))
            .map_err(|error| fail("model_failed", format!("The model cannot be used: {error}")))?;
        let history = until_answered(&self.ending, || history::read(&shared.store, self.session));
        let history = history.await.map_err(store_failed)?;
        let answers = until_answered(&self.ending, || shared.store.answers(self.session));
        let answers = answers.await.map_err(store_failed)?;
        let originals = answers
            .into_iter()
            .map(|(turn, step, original)| ((turn, step), original));
        let last_seq = history.iter().map(|event| event.seq).max().unwrap_or(0);
        Ok(Turn {
            id,
            fallback: shared.fallback(&model.name),
            model,
            desk: Arc::new(TurnDesk(Arc::clone(&self.desk))),
            log: Arc::new(SessionLog::new(shared, self.session, id, last_seq)),
            decisions: Arc::new(TurnDecisions {
                shared: Arc::clone(shared),
                session: self.session,
                turn: id,
            }),
            budgets: Arc::new(TurnBudgets::new(shared, self.session)),
            blobs: Arc::clone(&shared.blobs),
            history,
            originals: originals.collect(),
            prompt: SystemPrompt {
                template: shared.settings.prompt.clone(),
                instructions: session.instructions,
            },
            screen: shared.settings.screen,
            limits: shared.settings.turn.clone(),
            clock: Arc::clone(&shared.clock),
            stop,
            parking: shared.parking.clone(),
        })
    }

    fn begin_turn(&self, id: TurnId) -> CancellationToken {
        let stop = self.ending.child_token();
        *self.turn() = Some(RunningTurn {
            id,
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
            bound: match &report.end {
                TurnEnd::Enough { bound } => *bound,
                TurnEnd::Done { .. }
                | TurnEnd::Stopped
                | TurnEnd::Failed(_)
                | TurnEnd::LogLost(_) => None,
            },
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
    if matches!(report.end, TurnEnd::Stopped | TurnEnd::LogLost(_)) && server_ends {
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
        TurnEnd::Enough { .. } => complete(Outcome::Enough),
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
