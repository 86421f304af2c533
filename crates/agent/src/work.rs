//! A turn from the inside: its state and its loop.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use deskhand_core::{
    action::{Button, ScreenSize},
    blob::{BlobError, BlobName, Blobs},
    budget::Bound,
    clock::Clock,
    event::EventBody,
    id::TurnId,
    model::{End, Image, Model, ModelRequest, Original, Pictures},
    sandbox::Computer,
};
use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    bounds::Bounds,
    context::{self, Sight},
    decide::{self, Raised},
    pick_up::Progress,
    ports::{Decisions, Desk, TurnLog, TurnLogError},
    stopwatch::Stopwatch,
    system_prompt::SystemPrompt,
    turn::{ChosenModel, Originals, Turn, TurnLimits},
};

/// How often a model that says nothing is asked again before the turn is given up.
const MOST_NUDGES: u32 = 3;

/// Everything a turn holds while it runs.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) turn: TurnId,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) model_name: String,
    pub(crate) fallback: Option<ChosenModel>,
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) decisions: Arc<dyn Decisions>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) screen: ScreenSize,
    pub(crate) limits: TurnLimits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
    pub(crate) parking: CancellationToken,
    pub(crate) stopwatch: Stopwatch,
    pub(crate) bounds: Bounds,
    pub(crate) journal: Journal,
    prompt: SystemPrompt,
    began_at: Timestamp,
    /// The sandbox, once it was needed and as long as it is not known to be lost.
    pub(crate) computer: Option<Arc<dyn Computer>>,
    /// The mouse buttons that actions left pressed.
    pub(crate) pressed: Vec<Button>,
    /// The pictures that the model is shown, so that each is read at most once.
    pub(crate) images: HashMap<BlobName, Image>,
    pub(crate) n_steps: u32,
    /// How many blocks of thinking and text the turn has so far.
    pub(crate) n_blocks: u32,
    /// What people were asked before the turn was taken up.
    pub(crate) raised: Vec<Raised>,
    /// What there was of the turn when it was taken up.
    progress: Option<Progress>,
}

/// The log, and what is in it.
#[derive(Debug)]
pub(crate) struct Journal {
    log: Arc<dyn TurnLog>,
    pub(crate) bodies: Vec<EventBody>,
    originals: Originals,
}

impl Journal {
    pub(crate) async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        if bodies.is_empty() {
            return Ok(());
        }
        self.log.append(bodies.clone()).await?;
        self.bodies.extend(bodies);
        Ok(())
    }

    /// Appends a whole answer, whose last event is its `cost`.
    pub(crate) async fn append_answer(
        &mut self,
        bodies: Vec<EventBody>,
        original: Option<Original>,
    ) -> Result<(), TurnLogError> {
        self.log
            .append_answer(bodies.clone(), original.clone())
            .await?;
        if let (Some(EventBody::Cost(cost)), Some(original)) = (bodies.last(), original) {
            self.originals.insert((cost.turn, cost.step), original);
        }
        self.bodies.extend(bodies);
        Ok(())
    }

    /// Takes in what people said meanwhile; tells whether there was anything.
    async fn take_steering(&mut self) -> Result<bool, TurnLogError> {
        let said = self.log.take_steering().await?;
        let is_new = !said.is_empty();
        self.bodies.extend(said);
        Ok(is_new)
    }

    /// Takes in what became of people's leases meanwhile.
    pub(crate) async fn take_leases(&mut self) -> Result<(), TurnLogError> {
        self.bodies.extend(self.log.take_leases().await?);
        Ok(())
    }
}

/// Why a turn ends before the model says so.
#[derive(Debug)]
pub(crate) enum Cut {
    Stopped,
    /// The server ends while a person is waited for; the turn goes on with the next start.
    Parked,
    /// It came up against a bound, and a person said that it was enough.
    Enough(Option<Bound>),
    Failed {
        code: &'static str,
        message: String,
    },
    LogLost(TurnLogError),
}

impl From<TurnLogError> for Cut {
    fn from(error: TurnLogError) -> Self {
        Self::LogLost(error)
    }
}

impl From<BlobError> for Cut {
    fn from(error: BlobError) -> Self {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "a turn ends because a picture could not be kept or read"
        );
        let (code, message) = match error {
            BlobError::Full(_) => (
                "storage_full",
                "There is no space left for pictures, so the turn was ended. Free some space on \
                 the disk of the data folder, then send a new message to go on.",
            ),
            BlobError::Missing(_) | BlobError::Io(_) => (
                "storage_failed",
                "A picture could not be written to or read from the data folder, so the turn was \
                 ended. Check the data folder and the server's log, then send a new message to go \
                 on.",
            ),
        };
        Self::Failed {
            code,
            message: message.to_owned(),
        }
    }
}

impl Work {
    pub(crate) fn new(turn: Turn, started: Instant) -> Self {
        let stopwatch = Stopwatch::new(&turn.history, turn.id, started);
        let bodies: Vec<_> = turn.history.into_iter().map(|event| event.body).collect();
        let progress = Progress::read(&bodies, turn.id);
        let raised = decide::raised(&bodies, turn.id);
        Self {
            turn: turn.id,
            model: turn.model.model,
            model_name: turn.model.name,
            fallback: turn.fallback,
            desk: turn.desk,
            decisions: turn.decisions,
            blobs: turn.blobs,
            screen: turn.screen,
            stopwatch,
            bounds: Bounds::new(turn.budgets, &raised),
            limits: turn.limits,
            stop: turn.stop,
            parking: turn.parking,
            journal: Journal {
                log: turn.log,
                bodies,
                originals: turn.originals,
            },
            prompt: turn.prompt,
            began_at: turn.clock.now(),
            clock: turn.clock,
            computer: None,
            pressed: Vec::new(),
            images: HashMap::new(),
            n_steps: progress.n_steps,
            n_blocks: progress.n_blocks,
            raised,
            progress: Some(progress),
        }
    }

    /// Asks and acts until the model only speaks, and gives its last words.
    pub(crate) async fn until_done(&mut self) -> Result<String, Cut> {
        // The beginning of an answer that became too long.
        let mut begun = String::new();
        if let Some(mut progress) = self.progress.take() {
            begun = std::mem::take(&mut progress.begun);
            if let Some(last_words) = self.pick_up(progress).await? {
                return Ok(begun + &last_words);
            }
        }
        let mut n_silent = 0;
        loop {
            if self.stop.is_cancelled() {
                return Err(Cut::Stopped);
            }
            self.wait_for_hands().await?;
            self.journal.take_steering().await?;
            if self.stay_within_bounds().await? {
                continue;
            }
            self.n_steps += 1;
            let spoken = self.ask_model().await?;
            if !spoken.calls.is_empty() {
                n_silent = 0;
                begun.clear();
                self.carry_out(spoken.calls).await?;
            } else if self.journal.take_steering().await? {
                n_silent = 0;
                begun.clear();
            } else if spoken.end == End::Aside || spoken.text.trim().is_empty() {
                if n_silent == MOST_NUDGES {
                    return Err(silent());
                }
                n_silent += 1;
            } else if spoken.end == End::Unfinished {
                // It is told so, and goes on.
                n_silent = 0;
                begun.push_str(&spoken.text);
            } else {
                return Ok(begun + &spoken.text);
            }
        }
    }

    /// Resolves when the turn must not go on.
    pub(crate) fn interruption(&self) -> impl Future<Output = Cut> + use<> {
        let stop = self.stop.clone();
        async move {
            stop.cancelled().await;
            Cut::Stopped
        }
    }

    /// What the model is asked now.
    pub(crate) async fn request(&mut self) -> Result<ModelRequest, Cut> {
        let n_pictures = context::n_pictures(&self.journal.bodies);
        let n_old = match self.model.pictures() {
            Pictures::All => 0,
            Pictures::Newest => self.limits.n_old_pictures(n_pictures),
        };
        let kept = n_pictures - n_old;
        let shown: HashSet<_> = context::newest_pictures(&self.journal.bodies, kept).collect();
        self.images.retain(|name, _| shown.contains(name));
        for name in shown {
            if self.images.contains_key(name) {
                continue;
            }
            match self.blobs.get(name).await {
                Ok(bytes) => {
                    let format = name.format();
                    self.images.insert(name.clone(), Image { bytes, format });
                }
                // The conversation goes on without it, as it does without older ones.
                Err(BlobError::Missing(name)) => {
                    tracing::warn!(blob = name.as_str(), "a picture of the log is not there");
                }
                Err(error @ (BlobError::Full(_) | BlobError::Io(_))) => return Err(error.into()),
            }
        }
        let shown = self.model.shown(self.screen);
        let sight = Sight {
            n_old,
            images: &self.images,
            shown,
            place: &|at| self.model.place(at, self.screen),
        };
        let items = context::build(&self.journal.bodies, sight, &self.journal.originals);
        Ok(ModelRequest {
            system: self.prompt.fill(self.began_at, shown),
            screen: self.screen,
            shown,
            items,
        })
    }
}

fn silent() -> Cut {
    Cut::Failed {
        code: "model_silent",
        message: "The model neither did anything nor came to an answer, also when it was asked \
                  again. Send the message once more, or choose another model."
            .to_owned(),
    }
}
