//! A turn from the outside: its inputs and its end.

use std::{collections::HashMap, sync::Arc, time::Duration};

use deskhand_core::{
    action::ScreenSize,
    blob::Blobs,
    budget::Bound,
    clock::Clock,
    event::{Event, Failure},
    id::TurnId,
    model::{Model, Original, RequestOptions},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    briefing::Briefing,
    cut::Cut,
    ports::{Budgets, Decisions, Desk, RemoteTools, TurnLog, TurnLogError},
    system_prompt::SystemPrompt,
    tools::ToolSet,
    work::Work,
};

/// The limits of a turn, and of the pictures that the model is shown in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLimits {
    /// The number of steps before a person is asked.
    pub max_steps: u32,
    /// The duration of the agent's work before a person is asked.
    pub max_duration: Duration,
    /// The timeout of one answer of the model, even if it is still streaming.
    pub longest_answer: Duration,
    /// The minimum number of pictures that the model is shown. A note replaces older ones.
    pub kept_images: usize,
    /// The number of pictures that are replaced at once.
    pub pruned_images: usize,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            max_steps: 50,
            max_duration: Duration::from_mins(30),
            longest_answer: Duration::from_mins(10),
            kept_images: 3,
            pruned_images: 10,
        }
    }
}

impl TurnLimits {
    /// Returns how many of `n_pictures` are too old to be shown.
    pub(crate) fn n_old_pictures(&self, n_pictures: usize) -> usize {
        let at_once = self.pruned_images.max(1);
        n_pictures.saturating_sub(self.kept_images) / at_once * at_once
    }
}

/// A model and its name.
#[derive(Debug, Clone)]
pub struct ChosenModel {
    pub name: String,
    pub model: Arc<dyn Model>,
}

/// Answers as their vendors sent them, by turn and step.
pub type Originals = HashMap<(TurnId, u32), Original>;

/// The work on one prompt.
#[derive(Debug)]
pub struct Turn {
    pub id: TurnId,
    pub model: ChosenModel,
    /// The model to use if the first one is unavailable.
    pub fallback: Option<ChosenModel>,
    /// The tools as they are now. Calls are carried out with them.
    pub tools: ToolSet,
    pub desk: Arc<dyn Desk>,
    pub log: Arc<dyn TurnLog>,
    pub decisions: Arc<dyn Decisions>,
    pub budgets: Arc<dyn Budgets>,
    pub remote: Arc<dyn RemoteTools>,
    pub blobs: Arc<dyn Blobs>,
    /// All events of the session up to now, with every prompt at the beginning of its turn. The newest message is the
    /// prompt to work on; prompts that are still waiting are not included.
    pub history: Vec<Event>,
    /// The answers in the history as their vendors sent them.
    pub originals: Originals,
    /// The system text and the tools of the session's first turn.
    pub briefing: Briefing,
    /// The system prompt as it is now. The model is told the differences.
    pub prompt: SystemPrompt,
    pub screen: ScreenSize,
    /// Choices for all calls of the model.
    pub options: RequestOptions,
    pub limits: TurnLimits,
    pub clock: Arc<dyn Clock>,
    /// Ends the turn early, within a second.
    pub stop: CancellationToken,
    /// Fires before `stop` when the server shuts down: a turn that waits for a person is left as it is.
    pub parking: CancellationToken,
}

/// The end of a turn, with its metrics.
#[derive(Debug)]
pub struct TurnReport {
    pub end: TurnEnd,
    /// The number of steps. A step asks the model for one answer, retries included.
    pub n_steps: u32,
    pub duration: Duration,
}

/// The end of a turn. The app writes it to the log together with the session's new state.
#[derive(Debug)]
pub enum TurnEnd {
    /// The model ended its turn with these words.
    Done { answer: String },
    /// The turn was stopped.
    Stopped,
    /// The turn reached a bound, and a person chose to stop.
    Enough { bound: Option<Bound> },
    /// The turn could not continue.
    Failed(Failure),
    /// The log could not be read or written, so nothing more was done.
    LogLost(TurnLogError),
}

impl From<Failure> for TurnEnd {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Turn {
    /// Runs the turn to its end, whatever the end is.
    ///
    /// Afterwards every tool use that was started has its result in the log, unless the log itself is lost or the
    /// turn waits for a person while the server shuts down.
    pub async fn run(self) -> TurnReport {
        let started = Instant::now();
        let id = self.id;
        let mut work = Work::new(self, started);
        let done = work.until_done().await;
        if done.is_err() && !work.machine.release().await {
            tracing::warn!(turn.id = %id, "could not release the mouse in time");
        }
        let end = match done {
            Ok(answer) => TurnEnd::Done { answer },
            Err(Cut::Stopped | Cut::Parked) => TurnEnd::Stopped,
            Err(Cut::Enough(bound)) => TurnEnd::Enough { bound },
            Err(Cut::Failed { code, message }) => TurnEnd::Failed(Failure {
                turn: Some(id),
                code: code.to_owned(),
                message,
            }),
            Err(Cut::LogLost(error)) => TurnEnd::LogLost(error),
        };
        TurnReport {
            end,
            n_steps: work.n_steps,
            duration: started.elapsed(),
        }
    }
}
