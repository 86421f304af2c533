//! A session's desk: its sandbox, started when it is needed and reported when it dies.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_agent::{Desk, DeskError};
use deskhand_core::{
    action::ScreenSize,
    event::{EventBody, Failure},
    id::SessionId,
    sandbox::{Sandbox, SandboxEnd, SandboxSpec, Sandboxes},
    session::{SandboxState, Signal},
    tasks::Tasks,
};
use deskhand_store::{PhaseMove, StoreError, Transition};
use futures::FutureExt;
use tokio::{sync::Mutex, time::Instant};

use super::attendance::Attendance;
use crate::{
    feed::log::Log,
    figures::Counted,
    patience::until_answered,
    retired::{Retirement, Retiring},
};

#[derive(Debug)]
pub(crate) struct SessionDesk {
    session: SessionId,
    screen: ScreenSize,
    sandboxes: Arc<dyn Sandboxes>,
    log: Log,
    tasks: Tasks,
    /// How long one sandbox may live.
    life: Duration,
    room: Arc<Attendance>,
    current: RwLock<Option<Arc<dyn Sandbox>>>,
    /// Of the sandbox that was started last.
    retirement: RwLock<Option<Retirement>>,
    /// Held while the sandbox is started, buried or closed, so that one of these happens at a time.
    change: Mutex<Openness>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Openness {
    Open,
    /// The session or the server is ending; no sandbox is started any more.
    Closed,
}

impl SessionDesk {
    pub(crate) fn new(
        session: SessionId,
        screen: ScreenSize,
        sandboxes: Arc<dyn Sandboxes>,
        log: Log,
        tasks: Tasks,
        life: Duration,
        room: Arc<Attendance>,
    ) -> Arc<Self> {
        Arc::new(Self {
            session,
            screen,
            sandboxes,
            log,
            tasks,
            life,
            room,
            current: RwLock::default(),
            retirement: RwLock::default(),
            change: Mutex::new(Openness::Open),
        })
    }

    /// The sandbox, if it runs right now.
    pub(crate) fn running(&self) -> Option<Arc<dyn Sandbox>> {
        let current = self
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        current.filter(|sandbox| sandbox.ended().now_or_never().is_none())
    }

    /// The sandbox, started if it does not run.
    pub(crate) async fn sandbox(self: &Arc<Self>) -> Result<Arc<dyn Sandbox>, DeskError> {
        if let Some(sandbox) = self.running() {
            return Ok(sandbox);
        }
        // A task of its own, since a turn that is stopped drops what it waits for, and a start
        // that was begun must be told to its end.
        let desk = Arc::clone(self);
        let started = self
            .tasks
            .spawn("start sandbox", async move { desk.ensure().await });
        started.await.unwrap_or_else(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a sandbox's start broke off"
            );
            Err(DeskError {
                message: "The start of the desktop broke off.".to_owned(),
            })
        })
    }

    async fn ensure(self: Arc<Self>) -> Result<Arc<dyn Sandbox>, DeskError> {
        let change = self.change.lock().await;
        if *change == Openness::Closed {
            return Err(DeskError {
                message: "The session or the server is ending.".to_owned(),
            });
        }
        // Somebody else may have started it meanwhile, or it died and nobody has noticed yet.
        if let Some(sandbox) = self.current() {
            match sandbox.ended().now_or_never() {
                None => return Ok(sandbox),
                Some(end) => self
                    .bury(&sandbox, end)
                    .await
                    .map_err(|error| store_failed(&error))?,
            }
        }
        let sandbox = self.start().await?;
        drop(change);
        let (desk, watched) = (Arc::clone(&self), Arc::clone(&sandbox));
        self.tasks
            .spawn("watch sandbox", async move { desk.watch(watched).await });
        Ok(sandbox)
    }

    /// Whether a person has control.
    pub(crate) fn is_held(&self) -> bool {
        self.room.held().is_some()
    }

    /// When the sandbox has lived for as long as it may.
    pub(crate) fn ends_at(&self) -> Option<Instant> {
        self.running()?;
        let retirement = self.retirement.read();
        let retirement = retirement.unwrap_or_else(PoisonError::into_inner);
        retirement.as_ref().map(|retirement| retirement.due_at)
    }

    /// Ends a sandbox that has lived for as long as it may. The next one is started when it is needed.
    pub(crate) async fn retire(&self) {
        let _change = self.change.lock().await;
        if self.ends_at().is_none_or(|end| end > Instant::now()) {
            return;
        }
        let Some(sandbox) = self.set(None) else {
            return;
        };
        let life = crate::jobs::keeper::span(self.life);
        {
            let retirement = self.retirement.read();
            let retirement = retirement.unwrap_or_else(PoisonError::into_inner);
            if let Some(retirement) = &*retirement {
                retirement.tell(&format!(
                    "The computer was ended because it had run for {life}, the longest it may."
                ));
            }
        }
        sandbox.stop().await;
        let reason = format!("It had run for {life}, the longest it may. Its files are kept.");
        self.tell_stopped(Some(reason)).await;
    }

    /// Ends the sandbox for good.
    pub(crate) async fn close(&self, state: SandboxState) -> Result<(), StoreError> {
        let mut change = self.change.lock().await;
        *change = Openness::Closed;
        let Some(sandbox) = self.set(None) else {
            return Ok(());
        };
        sandbox.stop().await;
        self.tell(PhaseMove::Keep, state, None, Vec::new()).await?;
        Ok(())
    }

    /// The same, with a word in the log about why.
    pub(crate) async fn park(&self, reason: &str) {
        let mut change = self.change.lock().await;
        *change = Openness::Closed;
        if let Some(sandbox) = self.set(None) {
            sandbox.stop().await;
            self.tell_stopped(Some(reason.to_owned())).await;
        }
    }

    async fn tell_stopped(&self, reason: Option<String>) {
        let told = self.tell(PhaseMove::Keep, SandboxState::Stopped, reason, Vec::new());
        if let Err(error) = told.await {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "a sandbox's end was not logged");
        }
    }

    async fn start(&self) -> Result<Arc<dyn Sandbox>, DeskError> {
        let told = self.tell(PhaseMove::Keep, SandboxState::Starting, None, Vec::new());
        if !told.await.map_err(|error| store_failed(&error))? {
            return Err(DeskError {
                message: "The session has ended.".to_owned(),
            });
        }
        let spec = SandboxSpec {
            session: self.session,
            screen: self.screen,
        };
        match self.sandboxes.start(spec).await {
            Ok(sandbox) => {
                let (sandbox, retirement) = Retiring::new(sandbox, Instant::now() + self.life);
                self.retirement
                    .write()
                    .unwrap_or_else(PoisonError::into_inner)
                    .replace(retirement);
                let sandbox: Arc<dyn Sandbox> = Arc::new(Counted(Arc::new(sandbox)));
                {
                    // It has to know who drives before anybody can use it.
                    let _change = self.room.change.lock().await;
                    sandbox.set_driver(self.room.driver()).await;
                    self.set(Some(Arc::clone(&sandbox)));
                }
                self.tell(
                    PhaseMove::May(Signal::SandboxReady),
                    SandboxState::Ready,
                    None,
                    Vec::new(),
                )
                .await
                .map_err(|error| store_failed(&error))?;
                Ok(sandbox)
            }
            Err(error) => {
                let message = format!("The desktop could not be started: {error}.");
                tracing::warn!(session.id = %self.session, error = &error as &dyn std::error::Error, "a sandbox was not started");
                let failure = Failure {
                    turn: None,
                    code: "sandbox_failed".to_owned(),
                    message: message.clone(),
                };
                let told = self
                    .tell(
                        PhaseMove::May(Signal::SandboxFailed),
                        SandboxState::None,
                        None,
                        vec![EventBody::Error(failure)],
                    )
                    .await;
                told.map_err(|error| store_failed(&error))?;
                Err(DeskError { message })
            }
        }
    }

    /// Waits for the sandbox's end and reports it, unless it was asked for.
    async fn watch(&self, sandbox: Arc<dyn Sandbox>) {
        let end = sandbox.ended().await;
        let _change = self.change.lock().await;
        if let Err(error) = self.bury(&sandbox, end).await {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "a sandbox's end was not logged");
        }
    }

    /// Forgets a dead sandbox and says so in the log, once. The caller holds `change`.
    async fn bury(&self, sandbox: &Arc<dyn Sandbox>, end: SandboxEnd) -> Result<(), StoreError> {
        if !self
            .current()
            .is_some_and(|current| Arc::ptr_eq(&current, sandbox))
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

    /// Says what becomes of the sandbox; tells whether the session could still hear it.
    async fn tell(
        &self,
        phase: PhaseMove,
        sandbox: SandboxState,
        reason: Option<String>,
        events: Vec<EventBody>,
    ) -> Result<bool, StoreError> {
        // Said twice when the database went away before it answered. That does no harm.
        let told = until_answered(self.tasks.shutdown(), || {
            let transition = Transition {
                phase,
                sandbox: Some(sandbox),
                reason: reason.clone(),
                events: events.clone(),
                ..Transition::default()
            };
            self.log.commit(self.session, transition)
        });
        Ok(told.await?.is_ok())
    }

    fn current(&self) -> Option<Arc<dyn Sandbox>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, sandbox: Option<Arc<dyn Sandbox>>) -> Option<Arc<dyn Sandbox>> {
        std::mem::replace(
            &mut *self.current.write().unwrap_or_else(PoisonError::into_inner),
            sandbox,
        )
    }
}

/// The desk as a turn sees it.
#[derive(Debug)]
pub(crate) struct TurnDesk(pub(crate) Arc<SessionDesk>);

#[async_trait]
impl Desk for TurnDesk {
    async fn computer(&self) -> Result<Arc<dyn Sandbox>, DeskError> {
        self.0.sandbox().await
    }

    async fn free(&self) {
        self.0.room.free().await;
    }
}

fn store_failed(error: &StoreError) -> DeskError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "a sandbox's state was not stored"
    );
    DeskError {
        message: "The state of the desktop could not be stored.".to_owned(),
    }
}
