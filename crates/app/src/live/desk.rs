//! A session's desk: its computer, started when it is needed. Its end is logged.

mod privacy;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_agent::{Desk, DeskError, PlaceError};
use deskhand_core::{
    action::ScreenSize,
    attachment::Attachment,
    blob::Blobs,
    computer::ComputerKind,
    event::{EventBody, Failure},
    file::FileProblemKind,
    id::{SessionId, UserId},
    sandbox::{Computer, LeaseOutcome, SandboxEnd, SandboxSpec},
    session::{SandboxState, Signal},
    tasks::Tasks,
};
use deskhand_store::{PhaseMove, StoreError, Transition};
use futures::FutureExt;
use tokio::{sync::Mutex, time::Instant};

use self::privacy::warning_of;
use super::attendance::Attendance;
use crate::{
    FileError,
    database_retry::until_answered,
    feed::log::Log,
    files,
    session_computer::{ComputerStarter, SessionComputer},
};

#[derive(Debug)]
pub(crate) struct SessionDesk {
    session: SessionId,
    kind: ComputerKind,
    /// The size of the screen, or of a page where there is none.
    size: ScreenSize,
    computers: ComputerStarter,
    log: Log,
    tasks: Tasks,
    /// The maximum lifetime of a sandbox.
    life: Duration,
    room: Arc<Attendance>,
    current: RwLock<Option<Arc<SessionComputer>>>,
    /// Held while the sandbox is started, buried or closed, so that one of these happens at a time.
    change: Mutex<Openness>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Openness {
    Open,
    /// The session or the server is ending, and no further sandbox is started.
    Closed,
}

impl SessionDesk {
    pub(crate) fn new(
        session: SessionId,
        (kind, size): (ComputerKind, ScreenSize),
        computers: ComputerStarter,
        log: Log,
        tasks: Tasks,
        life: Duration,
        room: Arc<Attendance>,
    ) -> Arc<Self> {
        Arc::new(Self {
            session,
            kind,
            size,
            computers,
            log,
            tasks,
            life,
            room,
            current: RwLock::default(),
            change: Mutex::new(Openness::Open),
        })
    }

    /// Returns the computer if it runs right now.
    pub(crate) fn running(&self) -> Option<Arc<SessionComputer>> {
        self.current()
            .filter(|computer| computer.ended().now_or_never().is_none())
    }

    /// Returns the computer, and starts it if it is not running.
    pub(crate) async fn computer(self: &Arc<Self>) -> Result<Arc<SessionComputer>, DeskError> {
        if let Some(computer) = self.running() {
            return Ok(computer);
        }
        // This runs as its own task, since a stopped turn drops the future it waits for, and a start must be logged
        // to its end.
        let desk = Arc::clone(self);
        let started = self
            .tasks
            .spawn("start sandbox", async move { desk.ensure().await });
        started.await.unwrap_or_else(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the start of a sandbox did not finish"
            );
            Err(DeskError {
                message: "The desktop did not finish starting.".to_owned(),
            })
        })
    }

    async fn ensure(self: Arc<Self>) -> Result<Arc<SessionComputer>, DeskError> {
        let change = self.change.lock().await;
        if *change == Openness::Closed {
            return Err(DeskError {
                message: "The session or the server is ending.".to_owned(),
            });
        }
        // Another caller may have started it in the meantime, or it died and its watcher has not noticed yet.
        if let Some(computer) = self.current() {
            match computer.ended().now_or_never() {
                None => return Ok(computer),
                Some(end) => self
                    .bury(&computer, end)
                    .await
                    .map_err(|error| store_failed(&error))?,
            }
        }
        let computer = self.start().await?;
        drop(change);
        let (desk, watched) = (Arc::clone(&self), Arc::clone(&computer));
        self.tasks
            .spawn("watch sandbox", async move { desk.watch(watched).await });
        Ok(computer)
    }

    /// Returns true if a person holds the lease.
    pub(crate) fn is_held(&self) -> bool {
        self.room.held().is_some()
    }

    /// Returns true if this person has control, and no program of the agent runs.
    pub(crate) fn is_driven_by(&self, user: UserId) -> bool {
        self.room.is_open_for(user)
    }

    /// Returns the time at which the running sandbox reaches its maximum lifetime.
    pub(crate) fn ends_at(&self) -> Option<Instant> {
        self.running().map(|computer| computer.due_at())
    }

    /// Ends a sandbox that has reached its maximum lifetime. The next one is started when it is needed.
    pub(crate) async fn retire(&self) {
        let _change = self.change.lock().await;
        if self.ends_at().is_none_or(|end| end > Instant::now()) {
            return;
        }
        let Some(computer) = self.set(None) else {
            return;
        };
        let life = crate::jobs::keeper::span(self.life);
        computer
            .retire(format!(
                "The computer was stopped because it had run for {life}, which is its limit."
            ))
            .await;
        let reason =
            format!("The desktop had run for {life}, which is its limit. Its files are kept.");
        self.tell_stopped(Some(reason)).await;
    }

    /// Ends the sandbox for good.
    pub(crate) async fn close(&self, state: SandboxState) -> Result<(), StoreError> {
        let mut change = self.change.lock().await;
        *change = Openness::Closed;
        let Some(computer) = self.set(None) else {
            return Ok(());
        };
        computer.stop().await;
        self.tell(PhaseMove::Keep, state, None, Vec::new()).await?;
        Ok(())
    }

    /// Ends the sandbox for good, with the reason in the log.
    pub(crate) async fn park(&self, reason: &str) {
        let mut change = self.change.lock().await;
        *change = Openness::Closed;
        if let Some(computer) = self.set(None) {
            computer.stop().await;
            self.tell_stopped(Some(reason.to_owned())).await;
        }
    }

    async fn tell_stopped(&self, reason: Option<String>) {
        let logged = self.tell(PhaseMove::Keep, SandboxState::Stopped, reason, Vec::new());
        if let Err(error) = logged.await {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "could not log the end of a sandbox");
        }
    }

    async fn start(&self) -> Result<Arc<SessionComputer>, DeskError> {
        let logged = self.tell(PhaseMove::Keep, SandboxState::Starting, None, Vec::new());
        if !logged.await.map_err(|error| store_failed(&error))? {
            return Err(DeskError {
                message: "The session has ended.".to_owned(),
            });
        }
        let spec = SandboxSpec {
            computer: self.kind,
            ..SandboxSpec::new(self.size)
        };
        match self.computers.start(self.session, spec, self.life).await {
            Ok(computer) => {
                let computer = Arc::new(computer);
                let outcome = {
                    // It has to know the lease holder before anyone can use it.
                    let _change = self.room.change.lock().await;
                    let outcome = computer.set_lease_holder(self.room.lease_holder()).await;
                    if let LeaseOutcome::Watched(_) = outcome {
                        self.end_lease(&computer).await;
                    }
                    self.set(Some(Arc::clone(&computer)));
                    outcome
                };
                self.tell(
                    PhaseMove::May(Signal::SandboxReady),
                    SandboxState::Ready,
                    None,
                    warning_of(outcome),
                )
                .await
                .map_err(|error| store_failed(&error))?;
                Ok(computer)
            }
            Err(error) => {
                let message = format!("The computer could not be started: {error}.");
                tracing::warn!(session.id = %self.session, error = &error as &dyn std::error::Error, "could not start a sandbox");
                let failure = Failure {
                    turn: None,
                    code: "sandbox_failed".to_owned(),
                    message: message.clone(),
                };
                let logged = self
                    .tell(
                        PhaseMove::May(Signal::SandboxFailed),
                        SandboxState::None,
                        None,
                        vec![EventBody::Error(failure)],
                    )
                    .await;
                logged.map_err(|error| store_failed(&error))?;
                Err(DeskError { message })
            }
        }
    }

    /// Waits for the sandbox's end and logs it, unless the desk ended it itself.
    async fn watch(&self, computer: Arc<SessionComputer>) {
        let end = computer.ended().await;
        let _change = self.change.lock().await;
        if let Err(error) = self.bury(&computer, end).await {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "could not log the end of a sandbox");
        }
    }

    /// Forgets a dead sandbox and logs its end, once. The caller holds `change`.
    async fn bury(
        &self,
        computer: &Arc<SessionComputer>,
        end: SandboxEnd,
    ) -> Result<(), StoreError> {
        if !self
            .current()
            .is_some_and(|current| Arc::ptr_eq(&current, computer))
        {
            return Ok(());
        }
        self.set(None);
        let (state, reason) = match end {
            SandboxEnd::Stopped => (SandboxState::Stopped, None),
            SandboxEnd::Died(reason) => (SandboxState::Lost, Some(reason)),
        };
        self.tell(PhaseMove::Keep, state, reason, Vec::new())
            .await?;
        Ok(())
    }

    /// Stores and logs the sandbox's state. Returns false if the session has ended.
    async fn tell(
        &self,
        phase: PhaseMove,
        sandbox: SandboxState,
        reason: Option<String>,
        events: Vec<EventBody>,
    ) -> Result<bool, StoreError> {
        // If the database became unreachable before it responded, this is written twice, which does no harm.
        let logged = until_answered(self.tasks.shutdown(), || {
            let transition = Transition {
                phase,
                sandbox: Some(sandbox),
                reason: reason.clone(),
                events: events.clone(),
                ..Transition::default()
            };
            self.log.commit(self.session, transition)
        });
        Ok(logged.await?.is_ok())
    }

    fn current(&self) -> Option<Arc<SessionComputer>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, computer: Option<Arc<SessionComputer>>) -> Option<Arc<SessionComputer>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, computer)
    }
}

/// The desk as a turn sees it.
#[derive(Debug)]
pub(crate) struct TurnDesk {
    pub(crate) desk: Arc<SessionDesk>,
    pub(crate) blobs: Arc<dyn Blobs>,
}

#[async_trait]
impl Desk for TurnDesk {
    async fn computer(&self) -> Result<Arc<dyn Computer>, DeskError> {
        Ok(self.desk.computer().await?)
    }

    async fn free(&self) {
        self.desk.room.free().await;
    }

    async fn place(&self, file: &Attachment) -> Result<String, PlaceError> {
        let bytes = self.blobs.get(&file.blob).await;
        let bytes = bytes.map_err(|error| PlaceError::Problem(error.to_string()))?;
        let computer = self.desk.computer().await;
        let computer = computer.map_err(PlaceError::NoComputer)?;
        files::place(&computer, &file.name, &bytes)
            .await
            .map_err(|error| not_placed(&error))
    }
}

fn not_placed(error: &FileError) -> PlaceError {
    let leased = FileProblemKind::Leased;
    if matches!(error, FileError::Lost) {
        PlaceError::Lost
    } else if matches!(error, FileError::Problem(problem) if problem.kind == leased) {
        PlaceError::Leased
    } else {
        PlaceError::Problem(error.to_string())
    }
}

fn store_failed(error: &StoreError) -> DeskError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "could not store the state of a sandbox"
    );
    DeskError {
        message: "The state of the computer could not be stored.".to_owned(),
    }
}
