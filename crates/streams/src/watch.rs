//! Looks at a stream every two seconds until it ends.

use std::time::Duration;

use deskhand_app::PlayerError;
use deskhand_core::browser::PlayerWish;
use deskhand_jamie::ErrorCode;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::{
    fault::{Fault, Tries},
    flow::Flow,
    pulse::{Finding, Pulse},
};

/// The time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The longest time that one look may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(20);
/// The time after which earlier trouble no longer counts.
const WELL_AFTER: Duration = Duration::from_mins(2);

impl Flow<'_> {
    /// Watches until the media ends, or the longest time of a stream is over.
    pub(crate) async fn watch(&mut self, tries: &mut Tries) -> Result<(), Fault> {
        let Some(session) = self.session else {
            return Err(ErrorCode::StreamDropped.into());
        };
        let (began_at, mut pulse) = (Instant::now(), Pulse::default());
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let age = began_at.elapsed();
            if age > WELL_AFTER {
                tries.forget();
            }
            if self.began_at.elapsed() >= self.streams.0.settings.longest {
                return Ok(());
            }
            let computers = self.streams.0.app.computers();
            let looked = timeout(LOOK_TIMEOUT, computers.watch_player(self.owner(), session));
            let sight = match looked.await {
                Err(_late) => return Err(ErrorCode::SandboxTimeout.into()),
                // A person who uses the computer sees to the page.
                Ok(Err(PlayerError::Held)) => {
                    pulse = Pulse::default();
                    continue;
                }
                Ok(sight) => sight?,
            };
            tracing::debug!(
                event = "agent.screenshot",
                session_id = %self.request.session_id,
                size_bytes = sight.n_picture_bytes,
                "a stream was looked at"
            );
            match pulse.judge(&sight, age) {
                Finding::Alive => self.check_reach(session).await?,
                Finding::Paused => {
                    self.player(session, PlayerWish::Play).await?;
                }
                Finding::Ended => return Ok(()),
                Finding::Dropped(why) => return Err(Fault::new(ErrorCode::StreamDropped, why)),
            }
        }
    }
}
