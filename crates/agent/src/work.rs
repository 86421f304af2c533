//! A turn from the inside: its state and its loop.

use std::sync::Arc;

use deskhand_core::{
    clock::Clock,
    event::{EventBody, ModelTold},
    id::TurnId,
    model::{End, Model, ModelRequest, Pictures, RequestOptions},
    session::SandboxState,
};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    album::Album,
    bounds::Bounds,
    briefing::Briefing,
    context::{self, Sight},
    cut::{Cut, Signals},
    journal::Journal,
    machine::Machine,
    people::{People, Raised},
    pick_up::Progress,
    ports::RemoteTools,
    stopwatch::Stopwatch,
    summarize::TokenScale,
    system_prompt::SystemPrompt,
    tools::ToolSet,
    turn::{ChosenModel, Turn, TurnLimits},
};

/// The number of times a silent model is asked again before the turn fails.
const MOST_NUDGES: u32 = 3;

/// The note for a model whose computer was replaced since it last used it.
const STARTED_ANEW: &str = "[The computer was started anew since you last used it. Files are kept. Open programs, browser \
                            tabs, background jobs and the state of the shell are gone.]";

/// The most bytes of people's words that a conversation keeps beside a summary, if the window is not known to be small.
const MOST_WORDS_BYTES: usize = 64_000;

/// The state of a running turn.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) turn: TurnId,
    pub(crate) tools: ToolSet,
    pub(crate) model: ChosenModel,
    pub(crate) fallback: Option<ChosenModel>,
    pub(crate) machine: Machine,
    pub(crate) people: People,
    pub(crate) remote: Arc<dyn RemoteTools>,
    pub(crate) bounds: Bounds,
    pub(crate) journal: Journal,
    pub(crate) album: Album,
    pub(crate) signals: Signals,
    pub(crate) stopwatch: Stopwatch,
    pub(crate) limits: TurnLimits,
    pub(crate) clock: Arc<dyn Clock>,
    options: RequestOptions,
    briefing: Briefing,
    prompt: SystemPrompt,
    began_at: Timestamp,
    /// The number of steps. A step asks the model for one answer, retries included.
    pub(crate) n_steps: u32,
    /// The number of blocks of thinking and text so far.
    pub(crate) n_blocks: u32,
    /// True if the model is offered the screen, so that it is shown it.
    pub(crate) has_screen: bool,
    /// The number of events of the log for which a look has failed.
    pub(crate) n_looked_at: usize,
    /// True if the computer ended after the agent last used it, before this turn.
    is_started_anew: bool,
    /// The relation of the vendor's tokens to our estimates.
    pub(crate) scale: TokenScale,
    /// The progress in the log when the turn started or was resumed.
    progress: Option<Progress>,
}

impl Work {
    pub(crate) fn new(turn: Turn, started: Instant) -> Self {
        let stopwatch = Stopwatch::new(&turn.history, turn.id, started);
        let bodies: Vec<_> = turn.history.into_iter().map(|event| event.body).collect();
        let progress = Progress::read(&bodies, turn.id);
        let is_started_anew = is_started_anew(&bodies);
        let raised = Raised::read(&bodies, turn.id);
        Self {
            turn: turn.id,
            tools: turn.tools,
            model: turn.model,
            fallback: turn.fallback,
            machine: Machine::new(turn.desk, turn.screen),
            bounds: Bounds::new(turn.budgets, &raised),
            remote: turn.remote,
            people: People {
                decisions: turn.decisions,
                raised,
            },
            album: Album::new(turn.blobs, &bodies),
            journal: Journal::new(turn.log, bodies, turn.originals),
            signals: Signals {
                stop: turn.stop,
                parking: turn.parking,
            },
            stopwatch,
            limits: turn.limits,
            options: turn.options,
            has_screen: turn.briefing.has_screen(),
            briefing: turn.briefing,
            prompt: turn.prompt,
            began_at: turn.clock.now(),
            clock: turn.clock,
            n_steps: progress.n_steps,
            n_blocks: progress.n_blocks,
            n_looked_at: 0,
            is_started_anew,
            scale: TokenScale::default(),
            progress: Some(progress),
        }
    }

    /// Calls the model and carries out its calls until it only speaks, and returns its last words.
    pub(crate) async fn until_done(&mut self) -> Result<String, Cut> {
        // The beginning of an answer that became too long.
        let mut begun = String::new();
        // A resumed turn first closes its open calls. It may already have said its last words.
        if let Some(mut progress) = self.progress.take() {
            begun = std::mem::take(&mut progress.begun);
            if let Some(last_words) = self.pick_up(progress).await? {
                return Ok(begun + &last_words);
            }
        }
        self.tell_news().await?;
        let mut n_silent = 0;
        loop {
            if self.signals.is_stopped() {
                return Err(Cut::Stopped);
            }
            // Before each step, take in what people did and stay within bounds.
            self.wait_for_hands().await?;
            self.journal.take_steering().await?;
            if !self.place_files().await? || !self.open_pages().await? || self.is_to_look() {
                continue;
            }
            if self.stay_within_bounds(self.n_steps).await? {
                continue;
            }
            if self.fit_window().await? {
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
                // The model is told about the cut and continues.
                n_silent = 0;
                begun.push_str(&spoken.text);
            } else {
                return Ok(begun + &spoken.text);
            }
        }
    }

    /// Tells the model what has changed since the session's first turn, unless it knows.
    async fn tell_news(&mut self) -> Result<(), Cut> {
        let known = self.briefing.known(&self.journal.bodies);
        let news = self
            .briefing
            .news(known, &self.prompt, &self.tools, self.began_at);
        // A turn that is resumed has told it already.
        let is_anew = self.n_steps == 0 && self.is_started_anew;
        let anew = is_anew.then(|| STARTED_ANEW.to_owned());
        let (notes, facts) = match news {
            Some((text, facts)) => (Some(text), facts),
            None => (None, known.clone()),
        };
        let notes: Vec<String> = notes.into_iter().chain(anew).collect();
        if !notes.is_empty() {
            let text = notes.join("\n\n");
            let turn = self.turn;
            let told = EventBody::Told(ModelTold { turn, text, facts });
            self.journal.append(vec![told]).await?;
        }
        Ok(())
    }

    /// Builds the next request to the model.
    pub(crate) async fn request(&mut self) -> Result<ModelRequest, Cut> {
        let log = &self.journal.bodies;
        let (model, screen) = (&self.model.model, self.machine.screen);
        let rest = context::uncovered(log);
        let n_pictures = context::n_pictures(rest);
        let n_old = match model.pictures() {
            Pictures::All => 0,
            Pictures::Newest => self.limits.n_old_pictures(n_pictures),
        };
        let newest = context::newest_pictures(rest, n_pictures - n_old);
        self.album
            .hold(model.picture_form(), newest.collect())
            .await?;
        let files = context::shown_attachments(rest);
        self.album.hold_files(&self.model, &files).await?;
        let shown = model.shown(screen);
        let sight = Sight {
            n_old,
            images: self.album.images(),
            shown,
            fitted: &|size| model.shown(size),
            place: &|at| model.place(at, screen),
            files: self.album.files(),
            most_words_bytes: most_words_bytes(&**model),
        };
        let items = context::build(log, sight, &self.journal.originals);
        Ok(ModelRequest {
            system: self.briefing.system(shown),
            screen,
            shown,
            page: context::shown_page(log),
            tools: self.briefing.tools(shown),
            items,
            options: self.options.clone(),
        })
    }
}

/// Returns true if the computer ended after the agent last used it, and the model was not told so.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most kinds of event say nothing about the computer"
)]
fn is_started_anew(log: &[EventBody]) -> bool {
    let mut has_ended = false;
    for body in log.iter().rev() {
        match body {
            EventBody::Status(status) => {
                has_ended |= matches!(
                    status.sandbox,
                    SandboxState::None | SandboxState::Stopped | SandboxState::Lost
                );
            }
            EventBody::Told(told) if told.text.ends_with(STARTED_ANEW) => return false,
            EventBody::ToolResult(result) if result.turn.is_some() && result.not_done.is_none() => {
                return has_ended;
            }
            EventBody::Screenshot(screenshot) if screenshot.turn.is_some() => return has_ended,
            _ => {}
        }
    }
    false
}

/// Returns the room for people's words beside a summary: a quarter of the window at most.
fn most_words_bytes(model: &dyn Model) -> usize {
    let of_window = model.window().tokens.map(usize::try_from);
    of_window.map_or(MOST_WORDS_BYTES, |tokens| {
        tokens.unwrap_or(MOST_WORDS_BYTES).min(MOST_WORDS_BYTES)
    })
}

fn silent() -> Cut {
    Cut::Failed {
        code: "model_silent",
        message: "The model neither acted nor answered, even when it was asked again. Send the message again, \
                  or choose another model."
            .to_owned(),
    }
}
