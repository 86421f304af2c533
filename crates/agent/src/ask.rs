//! Asking the model until it answers: a vendor that is overloaded or cannot be reached is asked again,
//! and whoever watches sees when.

use std::time::Duration;

use deskhand_core::event::{EventBody, Retry};
use tokio::time::Instant;

use crate::{
    listen::{Spoken, Unheard},
    work::{Cut, Work},
};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// However long a vendor wants to be left alone, it is asked again after this.
const MOST_PATIENCE: Duration = Duration::from_mins(10);
/// How long a vendor may be away before the turn is given up.
const LONGEST_OUTAGE: Duration = Duration::from_hours(1);
/// After how many tries another model is asked, if there is one.
const TRIES_BEFORE_FALLBACK: u32 = 3;

impl Work {
    /// Asks the model what to do next, again and again while it is not available. The wait does not count
    /// as the turn's time.
    pub(crate) async fn ask_model(&mut self) -> Result<Spoken, Cut> {
        let began = Instant::now();
        let (mut attempt, mut said) = (0, String::new());
        loop {
            let request = self.request().await?;
            let (message, after, has_cost) = match self.listen(request).await {
                Ok(spoken) => {
                    return Ok(Spoken {
                        text: said + &spoken.text,
                        ..spoken
                    });
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
            tracing::warn!(turn.id = %self.turn, model = self.model_name, attempt, message, "the model did not answer");
            if began.elapsed() > LONGEST_OUTAGE {
                return Err(gone(&message));
            }
            self.wait_for_vendor(attempt, message, after).await?;
            if has_cost {
                self.stay_within_bounds_again().await?;
            }
        }
    }

    /// Asks people when asking the model again would pass a bound. The step is the same one.
    async fn stay_within_bounds_again(&mut self) -> Result<(), Cut> {
        self.n_steps -= 1;
        let stayed = loop {
            match self.stay_within_bounds().await {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(cut) => break Err(cut),
            }
        };
        self.n_steps += 1;
        stayed
    }

    async fn wait_for_vendor(
        &mut self,
        attempt: u32,
        message: String,
        after: Option<Duration>,
    ) -> Result<(), Cut> {
        let other = self.fallback.take_if(|_| attempt >= TRIES_BEFORE_FALLBACK);
        let pause = match (&other, after) {
            (Some(_), _) => Duration::ZERO,
            (None, Some(after)) => after.min(MOST_PATIENCE),
            (None, None) => pause(attempt, rand::random_range(0.5..1.0)),
        };
        let retry = EventBody::Retry(Retry {
            turn: self.turn,
            attempt,
            message,
            next_at: self.clock.now() + pause,
            model: other.as_ref().map(|other| other.name.clone()),
        });
        self.journal.append(vec![retry]).await?;
        if let Some(other) = other {
            self.model = other.model;
            self.model_name = other.name;
        }
        let since = Instant::now();
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(Cut::Stopped),
            () = tokio::time::sleep(pause) => {}
        }
        self.stopwatch.waited_since(since);
        Ok(())
    }
}

/// Longer from try to try, and never the same for two who wait for one vendor.
fn pause(attempt: u32, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(10));
    doubled.min(LONGEST_PAUSE).mul_f64(jitter)
}

fn gone(message: &str) -> Cut {
    Cut::Failed {
        code: "model_failed",
        message: format!(
            "The model is not available: {message}. It was asked again for an hour. Send a new \
             message to go on, or choose another model."
        ),
    }
}
