//! Calls the model until it answers. If a vendor is overloaded or cannot be reached, the turn retries, and people see
//! when.

use std::time::Duration;

use deskhand_core::{
    event::{EventBody, Retry},
    model::{Item, ModelRequest},
};
use tokio::time::Instant;

use crate::{
    cut::Cut,
    listen::{REJECTED, Spoken, Unheard, refused},
    work::Work,
};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that a vendor can ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(10);
/// The longest outage of a vendor before the turn fails.
pub(crate) const LONGEST_OUTAGE: Duration = Duration::from_hours(1);
/// The number of attempts before the fallback model is used, if there is one.
const TRIES_BEFORE_FALLBACK: u32 = 3;
/// The number of times that a conversation is shortened for one answer: its results, and then all of it.
const MOST_SHORTENED: u32 = 2;

impl Work {
    /// Asks the model for its next step, and retries while it is unavailable. The pauses do not count as work.
    pub(crate) async fn ask_model(&mut self) -> Result<Spoken, Cut> {
        let began = Instant::now();
        let (mut attempt, mut said) = (0, String::new());
        let mut n_shortened = 0;
        loop {
            let request = self.request().await?;
            let has_files = has_files(&request);
            let (message, after, has_cost) = match self.listen(request).await {
                Ok(spoken) => {
                    return Ok(Spoken {
                        text: said + &spoken.text,
                        ..spoken
                    });
                }
                // A vendor may reject a file, for example a PDF with too many pages. The turn goes on without the files,
                // which are on the computer too.
                Err(Unheard::Cut(Cut::Failed {
                    code: REJECTED,
                    message,
                })) if has_files => {
                    attempt += 1;
                    self.leave_out_files(attempt, message).await?;
                    continue;
                }
                Err(Unheard::TooLong { message }) => {
                    if n_shortened == MOST_SHORTENED {
                        return Err(too_long(&message));
                    }
                    n_shortened += 1;
                    self.make_room(&message).await?;
                    continue;
                }
                Err(Unheard::Refused { message }) => {
                    attempt += 1;
                    said.clear();
                    self.replace_refusing(attempt, message).await?;
                    continue;
                }
                Err(Unheard::Cut(cut)) => return Err(cut),
                Err(Unheard::Later {
                    message,
                    after,
                    text,
                    has_cost,
                }) => {
                    said.push_str(&text);
                    (message, after, has_cost)
                }
            };
            attempt += 1;
            tracing::warn!(turn.id = %self.turn, model = self.model.name, attempt, message, "the model did not answer");
            if began.elapsed() > LONGEST_OUTAGE {
                return Err(gone(&message));
            }
            let is_other = self.wait_for_vendor(attempt, message, after).await?;
            // The broken answer may have used up a budget, and nobody may know the price of the other model.
            if has_cost || is_other {
                self.stay_within_bounds_of_step().await?;
            }
        }
    }

    /// Asks people until another call of the step in progress passes no bound.
    pub(crate) async fn stay_within_bounds_of_step(&mut self) -> Result<(), Cut> {
        // A step in progress is not a new one.
        let n_done = self.n_steps.saturating_sub(1);
        while self.stay_within_bounds(n_done).await? {}
        Ok(())
    }

    /// Shortens the conversation because the vendor found it too long.
    async fn make_room(&mut self, message: &str) -> Result<(), Cut> {
        tracing::warn!(turn.id = %self.turn, model = self.model.name, message, "the conversation is too long for the model; shortening it");
        match self.shorten_now().await? {
            Some(true) => {
                self.stay_within_bounds_of_step().await?;
                self.wait_for_hands().await
            }
            Some(false) => Ok(()),
            None => Err(too_long(message)),
        }
    }

    /// Lets the fallback model take over from one that refuses to answer. Without one, the turn ends.
    async fn replace_refusing(&mut self, attempt: u32, message: String) -> Result<(), Cut> {
        let Some(other) = self.fallback.take() else {
            return Err(refused(&message));
        };
        tracing::warn!(turn.id = %self.turn, model = self.model.name, message, "the model refused to answer; asking another one");
        let retry = EventBody::Retry(Retry {
            turn: self.turn,
            attempt,
            message,
            next_at: self.clock.now(),
            model: Some(other.name.clone()),
            without_files: false,
            refused: true,
        });
        self.journal.append(vec![retry]).await?;
        self.model = other;
        self.stay_within_bounds_of_step().await
    }

    /// Records that the next request is made without attached files.
    async fn leave_out_files(&mut self, attempt: u32, message: String) -> Result<(), Cut> {
        tracing::warn!(turn.id = %self.turn, model = self.model.name, message, "the model rejected a request with attached files; asking again without them");
        let retry = EventBody::Retry(Retry {
            turn: self.turn,
            attempt,
            message,
            next_at: self.clock.now(),
            model: None,
            without_files: true,
            refused: false,
        });
        self.journal.append(vec![retry]).await?;
        Ok(())
    }

    /// Waits before the next attempt. Returns true if another model takes over.
    pub(crate) async fn wait_for_vendor(
        &mut self,
        attempt: u32,
        message: String,
        after: Option<Duration>,
    ) -> Result<bool, Cut> {
        let other = self.fallback.take_if(|_| attempt >= TRIES_BEFORE_FALLBACK);
        let pause = match (&other, after) {
            (Some(_), _) => Duration::ZERO,
            (None, Some(after)) => after.min(LONGEST_RETRY_AFTER),
            (None, None) => pause(attempt, rand::random_range(0.5..1.0)),
        };
        let retry = EventBody::Retry(Retry {
            turn: self.turn,
            attempt,
            message,
            next_at: self.clock.now() + pause,
            model: other.as_ref().map(|other| other.name.clone()),
            without_files: false,
            refused: false,
        });
        self.journal.append(vec![retry]).await?;
        let is_other = other.is_some();
        if let Some(other) = other {
            self.model = other;
        }
        let since = Instant::now();
        tokio::select! {
            biased;
            cut = self.signals.stopped() => return Err(cut),
            () = tokio::time::sleep(pause) => {}
        }
        self.stopwatch.waited_since(since);
        Ok(is_other)
    }
}

/// Returns true if a request shows attached files.
fn has_files(request: &ModelRequest) -> bool {
    let mut items = request.items.iter();
    items.any(|item| matches!(item, Item::Files(_)))
}

/// Returns a pause that grows with each attempt, with jitter so that two turns do not retry at the same moment.
fn pause(attempt: u32, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(10));
    doubled.min(LONGEST_PAUSE).mul_f64(jitter)
}

fn too_long(message: &str) -> Cut {
    Cut::Failed {
        code: "model_failed",
        message: format!(
            "The conversation is too long for this model, also after it was summarized: {message}. Send a shorter \
             message, or choose another model."
        ),
    }
}

pub(crate) fn gone(message: &str) -> Cut {
    Cut::Failed {
        code: "model_failed",
        message: format!(
            "The model is not available: {message}. It was asked again for an hour. Send a new \
             message to go on, or choose another model."
        ),
    }
}
