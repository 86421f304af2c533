//! Puts sessions to sleep that nobody needs, and ends sandboxes that have lived too long.
//!
//! It takes no input: each pass looks at what is awake now and acts on that.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use tokio::time::Instant;

use crate::{Sessions, live::Live};

/// How long passes are apart at least, and at most.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);

/// Looks after everything that is awake, until the server ends.
pub(crate) async fn keep(sessions: Sessions) {
    let end = sessions.shared.tasks.shutdown().clone();
    let passes = async {
        loop {
            let next = pass(&sessions).await;
            tokio::time::sleep(SHORTEST).await;
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                () = sessions.awake.rest.notified() => {}
            }
        }
    };
    tokio::select! {
        () = passes => {}
        () = end.cancelled() => {}
    }
}

/// Does what is due; tells when something will be.
async fn pass(sessions: &Sessions) -> Instant {
    let lives = sessions.awake.all();
    let nexts = join_all(lives.iter().map(|live| look_after(sessions, live))).await;
    let latest = Instant::now() + LONGEST;
    nexts.into_iter().flatten().fold(latest, Instant::min)
}

/// Does what is due for one session; tells when something will be.
async fn look_after(sessions: &Sessions, live: &Arc<Live>) -> Option<Instant> {
    let now = Instant::now();
    let idle_since = live.idle_since();
    let sleeps_at = idle_since.map(|since| since + live.limits.idle);
    if let (Some(since), Some(sleeps_at)) = (idle_since, sleeps_at)
        && sleeps_at <= now
    {
        let reason = format!(
            "Nobody needed it for {}. Its files are kept.",
            span(live.limits.idle)
        );
        sessions.put_to_sleep(live, since, &reason).await;
        return None;
    }
    let mut ends_at = live.desk.ends_at();
    if ends_at.is_some_and(|end| end <= now) {
        live.desk.retire().await;
        ends_at = None;
    }
    // One that is started from now on ends no sooner.
    let ends_at = ends_at.unwrap_or(now + live.limits.life);
    Some(sleeps_at.map_or(ends_at, |sleeps_at| sleeps_at.min(ends_at)))
}

/// A duration in words.
pub(crate) fn span(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds >= 3_600 && seconds.is_multiple_of(3_600) => {
            format!("{} h", seconds / 3_600)
        }
        seconds if seconds >= 60 && seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
