//! Changes in the sandbox when a person takes control, and when they give it back.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{sandbox::LeaseHolder, tasks::Tasks};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    desktop::{ClientProcesses, Desktop},
    freeze::{Freezer, SparedPrograms},
    shell::Shells,
};

/// The interval at which frozen programs are checked.
const CHECK_EVERY: Duration = Duration::from_millis(100);
/// The timeout for the X server to answer once programs are frozen.
const X_TIMEOUT: Duration = Duration::from_secs(1);
/// The most attempts to freeze programs while none has the X server for itself.
const MOST_ATTEMPTS: usize = 3;
/// The time that programs get to release the X server.
const RELEASE_TIME: Duration = Duration::from_millis(20);

/// Freezes the agent's programs while a person has control. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct TakeOver(Arc<TakeOverParts>);

#[derive(Debug)]
struct TakeOverParts {
    desktop: Desktop,
    shells: Shells,
    freezer: Freezer,
    tasks: Tasks,
    /// Ends the task that checks the frozen programs.
    checks: Mutex<Option<DropGuard>>,
}

impl TakeOver {
    /// Creates it for a computer. `is_alone` says that this process sees the sandbox's processes and no others.
    pub(crate) fn new(desktop: Desktop, shells: Shells, is_alone: bool, tasks: Tasks) -> Self {
        Self(Arc::new(TakeOverParts {
            desktop,
            shells,
            freezer: Freezer::new(is_alone),
            tasks,
            checks: Mutex::default(),
        }))
    }

    /// Prepares the computer for this lease holder. Called whenever the holder changes.
    pub(crate) async fn set_holder(&self, holder: LeaseHolder) {
        match holder {
            LeaseHolder::Person(_) => self.begin().await,
            LeaseHolder::Nobody => self.end().await,
        }
    }

    async fn begin(&self) {
        self.0.shells.begin_lease().await;
        let Some(spared) = self.freeze().await else {
            return;
        };
        match self.0.desktop.draw_curtain(spared).await {
            Ok(culprits) => self.kill(culprits).await,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not hide the windows of frozen programs");
            }
        }
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
        *self.checks() = None;
        match self.0.desktop.look_behind_curtain().await {
            Ok(listeners) => self.kill(listeners).await,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not find the programs that listened");
            }
        }
        if let Err(error) = self.0.desktop.lift_curtain().await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not show the windows of frozen programs again");
        }
        self.blocking(|parts| parts.freezer.thaw()).await;
        self.0.shells.end_lease();
    }

    /// Freezes everything that the desktop does not need, and returns the processes that go on.
    async fn freeze(&self) -> Option<HashSet<u32>> {
        let mut n_attempts = 1;
        loop {
            let spared = self.blocking(|parts| parts.freezer.freeze(&parts.spare()));
            let spared = spared.await.flatten()?;
            let answers = tokio::time::timeout(X_TIMEOUT, self.0.desktop.sync()).await;
            if answers.is_ok() || n_attempts == MOST_ATTEMPTS {
                return Some(spared);
            }
            // A program was frozen while it had the X server for itself.
            self.blocking(|parts| parts.freezer.thaw()).await;
            tokio::time::sleep(RELEASE_TIME).await;
            n_attempts += 1;
        }
    }

    async fn kill(&self, processes: ClientProcesses) {
        self.blocking(move |parts| parts.freezer.kill(&processes.ids, processes.has_unknown))
            .await;
    }

    async fn check_again_and_again(&self) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            self.blocking(|parts| parts.freezer.check(&parts.spare()))
                .await;
        }
    }

    /// Runs something that reads files and waits for processes. Returns `None` only while the runtime shuts down.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TakeOverParts) -> T + Send + 'static,
    ) -> Option<T> {
        let parts = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&parts)).await.ok()
    }

    fn checks(&self) -> MutexGuard<'_, Option<DropGuard>> {
        // No code under this lock panics halfway.
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakeOverParts {
    fn spare(&self) -> SparedPrograms {
        let programs = self.desktop.programs();
        SparedPrograms {
            x_server: programs.x_server(),
            window_manager: programs.window_manager(),
            browser: programs.browser(),
            shell: self.shells.guest_pid(),
        }
    }
}
