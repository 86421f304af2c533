//! Waits until the screen has settled.

use std::time::Duration;

use tokio::{sync::watch, time::Instant};

/// The time that the screen must be quiet, and the longest wait for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settle {
    pub(super) quiet: Duration,
    pub(super) max: Duration,
}

impl Settle {
    /// Waits until nothing was drawn for `quiet` since the later of `since` and the last change.
    ///
    /// Never waits past `since + max`, because a page that moves all the time never settles.
    pub(super) async fn wait(self, since: Instant, changed_at: &watch::Sender<Instant>) {
        let mut changed_at = changed_at.subscribe();
        loop {
            let quiet_from = since.max(*changed_at.borrow_and_update());
            let due = (quiet_from + self.quiet).min(since + self.max);
            if Instant::now() >= due {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                // This function borrows the sender, so the channel cannot be closed.
                _ = changed_at.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Settle = Settle {
        quiet: Duration::from_millis(60),
        max: Duration::from_millis(500),
    };

    /// Returns the time to settle if something is drawn at each of these times after the action.
    async fn settled_after(drawn_at_ms: &[u64]) -> u128 {
        let start = Instant::now();
        let (changed_at, _) = watch::channel(start - Duration::from_secs(1));
        let drawing = async {
            for ms in drawn_at_ms {
                tokio::time::sleep_until(start + Duration::from_millis(*ms)).await;
                changed_at.send_replace(Instant::now());
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = SETTLE.wait(start, &changed_at) => {}
            () = drawing => {}
        }
        start.elapsed().as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_screen_settles_after_the_quiet_time() {
        assert_eq!(settled_after(&[]).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn each_change_starts_the_quiet_time_again() {
        assert_eq!(settled_after(&[7, 50, 105]).await, 165);
    }

    #[tokio::test(start_paused = true)]
    async fn an_animation_is_not_waited_for_longer_than_the_longest_time() {
        let frames: Vec<u64> = (0..200).map(|frame| frame * 16).collect();
        assert_eq!(settled_after(&frames).await, 500);
    }

    #[tokio::test(start_paused = true)]
    async fn a_screen_that_has_long_been_quiet_is_settled_at_once() {
        let long_ago = Instant::now();
        tokio::time::advance(Duration::from_secs(5)).await;
        let (changed_at, _) = watch::channel(long_ago);
        let asked = Instant::now();
        SETTLE.wait(long_ago, &changed_at).await;
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }
}
