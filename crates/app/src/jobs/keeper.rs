//! Puts idle sessions to sleep, and ends sandboxes that have reached their maximum lifetime.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::future::join_all;
use tokio::{sync::Notify, time::Instant};

use super::{Job, JobError, JobReport};
use crate::live::{LiveSessions, session::LiveSession};

#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) live: LiveSessions,
}

#[async_trait]
impl Job for Keeper {
    fn name(&self) -> &'static str {
        "sleep"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    fn least_pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(self.live.idle())
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        let lives = self.live.all();
        let nexts = join_all(lives.iter().map(|live| self.look_after(live))).await;
        let next = nexts.into_iter().flatten().min();
        Ok(JobReport {
            next_in: next.map(|next| next.duration_since(Instant::now())),
        })
    }
}

impl Keeper {
    /// Does what is due for one session. Returns the time at which something will be due next.
    async fn look_after(&self, live: &Arc<LiveSession>) -> Option<Instant> {
        let now = Instant::now();
        let idle_since = live.idle_since();
        let sleeps_at = idle_since.map(|since| since + live.limits.idle);
        if let (Some(since), Some(sleeps_at)) = (idle_since, sleeps_at)
            && sleeps_at <= now
        {
            let reason = format!(
                "The desktop was idle for {}. Its files are kept.",
                span(live.limits.idle)
            );
            self.live.put_to_sleep(live, since, &reason).await;
            return None;
        }
        let mut ends_at = live.desk.ends_at();
        if ends_at.is_some_and(|end| end <= now) {
            live.desk.retire().await;
            ends_at = None;
        }
        // A sandbox that is started from now on does not end before this time.
        let ends_at = ends_at.unwrap_or(now + live.limits.life);
        Some(sleeps_at.map_or(ends_at, |sleeps_at| sleeps_at.min(ends_at)))
    }
}

/// Writes a duration in words.
pub(crate) fn span(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds >= 3_600 && seconds.is_multiple_of(3_600) => {
            format!("{} h", seconds / 3_600)
        }
        seconds if seconds >= 60 && seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
