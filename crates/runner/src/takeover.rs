//! Changes in the sandbox when a person takes control, and when they give it back.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{sandbox::LeaseHolder, tasks::Tasks};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    code_server::CodeServer,
    desktop::{ActError, ClientProcesses},
    freeze::{FreezeOutcome, Freezer, SparedPrograms},
    shell::Shells,
    sound::{Recorders, SoundCard},
    surface::Surface,
    terminals::Terminals,
};

/// The interval at which frozen programs are checked.
const CHECK_EVERY: Duration = Duration::from_millis(100);
/// The timeout for the X server to answer once programs are frozen.
const X_TIMEOUT: Duration = Duration::from_secs(1);
/// The most attempts to freeze programs while none has the X server for itself.
const MOST_ATTEMPTS: usize = 3;
/// The time that programs get to release the X server.
const RELEASE_TIME: Duration = Duration::from_millis(20);

/// The reason why programs of the agent could still watch a person who takes control.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TakeOverError {
    #[error("some of them could not be stopped")]
    Awake,
    #[error("the screen does not respond")]
    Screen,
    #[error("their windows could not be hidden")]
    Curtain(#[source] ActError),
}

/// Freezes the agent's programs while a person has control. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct TakeOver(Arc<TakeOverParts>);

#[derive(Debug)]
struct TakeOverParts {
    surface: Surface,
    shells: Shells,
    terminals: Terminals,
    code: CodeServer,
    sound: Option<SoundCard>,
    freezer: Freezer,
    tasks: Tasks,
    /// Ends the task that checks the frozen programs.
    checks: Mutex<Option<DropGuard>>,
}

impl TakeOver {
    /// Creates it for a computer. `is_alone` says that this process sees the sandbox's processes and no others.
    pub(crate) fn new(
        surface: Surface,
        shells: Shells,
        terminals: Terminals,
        code: CodeServer,
        sound: Option<SoundCard>,
        is_alone: bool,
        tasks: Tasks,
    ) -> Self {
        Self(Arc::new(TakeOverParts {
            surface,
            shells,
            terminals,
            code,
            sound,
            freezer: Freezer::new(is_alone),
            tasks,
            checks: Mutex::default(),
        }))
    }

    /// Prepares the computer for this lease holder. Called whenever the holder changes.
    pub(crate) async fn set_holder(&self, holder: LeaseHolder) -> Result<(), TakeOverError> {
        match holder {
            LeaseHolder::Person(_) => self.begin().await,
            LeaseHolder::Nobody => {
                self.end().await;
                Ok(())
            }
        }
    }

    async fn begin(&self) -> Result<(), TakeOverError> {
        // Nothing of the person's time is remembered for the agent.
        self.0.surface.leave_browser().await;
        // It may run programs of the agent. A VS Code that the person starts later is spared.
        self.0.code.end();
        self.0.shells.begin_lease().await;
        let Some(frozen) = self.freeze().await? else {
            return Ok(());
        };
        if let Some(sound) = &self.0.sound {
            // What they have is of the time before. One that begins later is found at the end.
            let _ = sound.cut_off_recorders().await;
        }
        self.keep_checking();
        self.draw_curtain(&frozen.spared).await?;
        if frozen.is_complete {
            Ok(())
        } else {
            Err(TakeOverError::Awake)
        }
    }

    /// Hides the windows of frozen programs. If that fails, kills those that have one and tries again.
    async fn draw_curtain(&self, spared: &HashSet<u32>) -> Result<(), TakeOverError> {
        let drawn = match self.0.surface.draw_curtain(spared.clone()).await {
            Ok(culprits) => Ok(culprits),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not hide the windows of frozen programs"
                );
                self.kill_connected().await?;
                self.0.surface.draw_curtain(spared.clone()).await
            }
        };
        self.kill(drawn.map_err(TakeOverError::Curtain)?).await
    }

    /// Starts the task that checks the frozen programs.
    fn keep_checking(&self) {
        let stop = CancellationToken::new();
        let (takeover, stopped) = (self.clone(), stop.clone());
        let shutdown = self.0.tasks.shutdown().clone();
        self.0.tasks.spawn("frozen programs", async move {
            let checks = stopped.run_until_cancelled(takeover.check_again_and_again());
            shutdown.run_until_cancelled(checks).await;
        });
        *self.checks() = Some(stop.drop_guard());
    }

    async fn end(&self) {
        self.0.surface.leave_browser().await;
        self.0.code.end();
        let was_frozen = self.checks().take().is_some();
        let killed = match self.0.surface.look_behind_curtain().await {
            Ok(listeners) => self.kill(listeners).await,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not find the programs that listened"
                );
                // Any of them may have listened.
                self.kill_connected().await
            }
        };
        if let Err(error) = self.0.surface.lift_curtain().await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not show the windows of frozen programs again");
        }
        // The request of a frozen program may have been on its way when the others were cut off. What PulseAudio has
        // written for it since is in its socket.
        let has_recorded = match &self.0.sound {
            Some(sound) if was_frozen => sound.cut_off_recorders().await == Recorders::Found,
            _ => false,
        };
        if killed.is_err() || has_recorded {
            // A failure is logged. Programs that could not be killed must go on some time.
            let _ = self.kill_connected().await;
        }
        // As above.
        let _ = self.blocking(|parts| parts.freezer.thaw()).await;
        self.0.shells.end_lease();
    }

    /// Freezes every program that the desktop does not need. Returns `None` outside of a sandbox, where nothing is
    /// frozen.
    async fn freeze(&self) -> Result<Option<FreezeOutcome>, TakeOverError> {
        for n_attempts in 1.. {
            let Some(frozen) = self.freeze_once().await? else {
                return Ok(None);
            };
            if self.x_server_answers().await {
                return Ok(Some(frozen));
            }
            if n_attempts == MOST_ATTEMPTS {
                break;
            }
            // A program was frozen while it had grabbed the X server.
            self.blocking(|parts| parts.freezer.thaw()).await?;
            tokio::time::sleep(RELEASE_TIME).await;
        }
        // A program grabs the X server on purpose.
        self.kill_connected().await?;
        if !self.x_server_answers().await {
            return Err(TakeOverError::Screen);
        }
        self.freeze_once().await
    }

    async fn freeze_once(&self) -> Result<Option<FreezeOutcome>, TakeOverError> {
        let frozen = self.blocking(|parts| parts.freezer.freeze(&parts.spare()));
        match frozen.await? {
            None if self.0.freezer.must_freeze() => Err(TakeOverError::Awake),
            frozen => Ok(frozen),
        }
    }

    async fn x_server_answers(&self) -> bool {
        let answers = tokio::time::timeout(X_TIMEOUT, self.0.surface.sync()).await;
        answers.is_ok()
    }

    async fn kill(&self, processes: ClientProcesses) -> Result<(), TakeOverError> {
        self.blocking(move |parts| parts.freezer.kill(&processes.ids, processes.has_unknown))
            .await
    }

    async fn kill_connected(&self) -> Result<(), TakeOverError> {
        self.blocking(|parts| parts.freezer.kill_connected()).await
    }

    async fn check_again_and_again(&self) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            // A failure is logged, and the next check may succeed.
            let _ = self
                .blocking(|parts| parts.freezer.check(&parts.spare()))
                .await;
        }
    }

    /// Runs something that reads files and waits for processes. It fails by a panic, and while the runtime shuts down.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TakeOverParts) -> T + Send + 'static,
    ) -> Result<T, TakeOverError> {
        let parts = Arc::clone(&self.0);
        let worked = tokio::task::spawn_blocking(move || work(&parts)).await;
        worked.map_err(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "the freezer failed");
            TakeOverError::Awake
        })
    }

    fn checks(&self) -> MutexGuard<'_, Option<DropGuard>> {
        // No code under this lock panics halfway.
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakeOverParts {
    fn spare(&self) -> SparedPrograms {
        let programs = self.surface.programs();
        SparedPrograms {
            x_server: programs.x_server(),
            window_manager: programs.window_manager(),
            browser: programs.browser(),
            shells: self
                .shells
                .guest_process()
                .into_iter()
                .chain(self.terminals.leased_shells())
                .collect(),
            code: self.code.process(),
            sound: self.sound.as_ref().and_then(SoundCard::process),
        }
    }
}
