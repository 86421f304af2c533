//! Looks at a stream every two seconds until it ends.

use std::time::Duration;

use deskhand_app::PlayerError;
use deskhand_core::{browser::PlayerWish, id::SessionId};
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
        while !self.is_time_over() {
            looks.tick().await;
            let age = began_at.elapsed();
            if age > WELL_AFTER {
                tries.forget();
            }
            let found = self.look(session, &mut pulse, age).await;
            if self.is_held() {
                // A person who uses the computer sees to the page.
                pulse = Pulse::beginning(age);
            } else if found? == Finding::Ended {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Looks once, and does what is due.
    async fn look(
        &self,
        session: SessionId,
        pulse: &mut Pulse,
        age: Duration,
    ) -> Result<Finding, Fault> {
        // Another computer of the same session shows something else.
        if !self.has_computer() {
            return Err(PlayerError::Lost.into());
        }
        let computers = self.streams.0.app.computers();
        let looked = timeout(LOOK_TIMEOUT, computers.watch_player(self.owner(), session));
        let sight = looked.await;
        let sight = sight.map_err(|_late| Fault::from(ErrorCode::SandboxTimeout))??;
        tracing::debug!(
            event = "agent.screenshot",
            session_id = %self.request.session_id,
            size_bytes = sight.n_picture_bytes,
            "a stream was looked at"
        );
        let found = pulse.judge(&sight, age);
        match found {
            Finding::Alive => self.check_reach(session).await?,
            Finding::Paused => {
                self.player(session, PlayerWish::Play).await?;
            }
            Finding::Ended => {}
            Finding::Dropped(why) => return Err(Fault::new(ErrorCode::StreamDropped, why)),
        }
        Ok(found)
    }
}
