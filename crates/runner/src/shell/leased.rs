//! The agent's shell, and the shells of people who have control.
//!
//! While a person has control, the agent's shell is left alone, because it is frozen with everything else that the
//! agent started. The person's commands go to a shell of their own.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    shell::{ShellOutput, ShellRequest},
    tasks::Tasks,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{OnOutput, Shell, ShellConfig, ShellError};
use crate::{processes::ProcessName, terminals::Transcript};

/// The longest wait for the agent's last command to end. A command that ignores all signals takes two seconds.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The most shells of people that are kept. The programs started from an older one end with it.
const MOST_GUESTS: usize = 4;

/// All shells of a computer. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Shells(Arc<ShellsParts>);

#[derive(Debug)]
struct ShellsParts {
    agent: Shell,
    config: ShellConfig,
    tasks: Tasks,
    leased: Mutex<Leased>,
}

#[derive(Debug, Default)]
struct Leased {
    /// True while a person has control.
    is_leased: bool,
    /// Keeps the agent's shell alone.
    pause: Option<DropGuard>,
    /// The shell of the person who has control, once they have used it.
    guest: Option<Shell>,
    /// Shells of people who had control. Programs that they left behind still write to them.
    former: VecDeque<Shell>,
}

impl Shells {
    /// Starts the agent's shell, which people watch through the transcript.
    pub(crate) fn start(
        config: ShellConfig,
        transcript: Transcript,
        tasks: &Tasks,
    ) -> Result<Self, ShellError> {
        Ok(Self(Arc::new(ShellsParts {
            agent: Shell::start_watched(config.clone(), transcript, tasks)?,
            config,
            tasks: tasks.clone(),
            leased: Mutex::default(),
        })))
    }

    /// Carries out a request in the shell of whoever has control.
    pub(crate) async fn perform(
        &self,
        request: ShellRequest,
        on_output: OnOutput,
        cancel: CancellationToken,
    ) -> Result<ShellOutput, ShellError> {
        let shell = self.current()?;
        shell.perform(request, on_output, cancel).await
    }

    /// Leaves the agent's shell alone, and uses a new one for the person who has control now.
    pub(crate) async fn begin_lease(&self) {
        let has_begun = self.leased().is_leased;
        let pause = if has_begun {
            None
        } else {
            let pausing = tokio::time::timeout(PAUSE_TIMEOUT, self.0.agent.pause());
            pausing.await.ok()
        };
        let mut leased = self.leased();
        leased.dismiss_guest();
        leased.is_leased = true;
        leased.pause = pause.or(leased.pause.take());
        if leased.pause.is_none() {
            tracing::warn!("the agent's last command has not ended");
        }
    }

    /// Uses the agent's shell again.
    pub(crate) fn end_lease(&self) {
        let mut leased = self.leased();
        leased.dismiss_guest();
        leased.is_leased = false;
        leased.pause = None;
    }

    /// Returns the process of the shell of the person who has control, if they have used one.
    pub(crate) fn guest_process(&self) -> Option<ProcessName> {
        self.leased().guest.as_ref().and_then(Shell::process)
    }

    fn current(&self) -> Result<Shell, ShellError> {
        let mut leased = self.leased();
        if !leased.is_leased {
            return Ok(self.0.agent.clone());
        }
        if let Some(guest) = &leased.guest {
            return Ok(guest.clone());
        }
        let guest = Shell::start(self.0.config.clone(), &self.0.tasks)?;
        leased.guest = Some(guest.clone());
        Ok(guest)
    }

    fn leased(&self) -> MutexGuard<'_, Leased> {
        // No code under this lock panics halfway.
        self.0.leased.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leased {
    fn dismiss_guest(&mut self) {
        self.former.extend(self.guest.take());
        if self.former.len() > MOST_GUESTS {
            self.former.pop_front();
        }
    }
}
