//! The quality of a video, by what its viewers can take.
//!
//! Layers serve each viewer separately, but every frame keeps its full detail. Over a slow connection, a viewer would
//! get few pictures, each sharper than needed. So if no viewer keeps up with nearly all frames, all frames get fewer
//! bits.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use deskhand_core::video::VIDEO_QUALITIES;
use tokio::time::Instant;

/// The time over which viewers are judged.
const WINDOW: Duration = Duration::from_secs(2);
/// The minimum number of frames to judge a window by. With fewer, hardly anything moves, and few bits are sent anyway.
const LEAST_FRAMES: u32 = 20;
/// The number of consecutive windows in which no viewer takes nearly all frames before the quality is lowered. A viewer
/// who has just joined misses the frames before the key frame.
const BAD_WINDOWS: u32 = 2;
/// The number of consecutive windows in which a viewer takes nearly all frames before a better quality is tried.
const GOOD_WINDOWS: u32 = 5;
/// The upper bound of that number. It doubles whenever a better quality turned out to be too much.
const MOST_GOOD_WINDOWS: u32 = 80;

/// Counts what the viewers of one video are sent.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// The number of the window that is being counted.
    window: AtomicU32,
    /// The most frames that any viewer was sent in it.
    most: AtomicU32,
}

/// Counts the frames that one viewer is sent.
#[derive(Debug, Default)]
pub(super) struct ViewerDelivery {
    window: u32,
    n_frames: u32,
}

/// Decides about the quality of one video.
#[derive(Debug)]
pub(super) struct QualityPace {
    quality: u8,
    window_began: Instant,
    /// The frames in this window.
    n_frames: u32,
    n_bad: u32,
    n_good: u32,
    /// The good windows before a better quality is tried.
    patience: u32,
    /// True if the last change was for the better.
    was_raised: bool,
}

impl Delivery {
    /// Counts a frame that a viewer is sent.
    pub(super) fn count(&self, viewer: &mut ViewerDelivery) {
        let window = self.window.load(Ordering::Relaxed);
        if viewer.window != window {
            *viewer = ViewerDelivery {
                window,
                n_frames: 0,
            };
        }
        viewer.n_frames += 1;
        self.most.fetch_max(viewer.n_frames, Ordering::Relaxed);
    }

    /// Begins the next window. Returns the most frames that any viewer was sent in this one.
    fn next_window(&self) -> u32 {
        self.window.fetch_add(1, Ordering::Relaxed);
        self.most.swap(0, Ordering::Relaxed)
    }
}

impl QualityPace {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            quality: 0,
            window_began: now,
            n_frames: 0,
            n_bad: 0,
            n_good: 0,
            patience: GOOD_WINDOWS,
            was_raised: false,
        }
    }

    /// Counts a frame of the video. Returns the quality if it changes.
    pub(super) fn count(&mut self, now: Instant, delivery: &Delivery) -> Option<u8> {
        self.n_frames += 1;
        if now < self.window_began + WINDOW {
            return None;
        }
        let most = delivery.next_window();
        let n_frames = std::mem::take(&mut self.n_frames);
        // After a pause, the frames of this window came in a longer time.
        let is_one_window = now < self.window_began + 2 * WINDOW;
        self.window_began = now;
        // A viewer who takes nothing at all is away, not slow, and comes back to a good picture.
        if n_frames < LEAST_FRAMES || most == 0 || !is_one_window {
            return None;
        }
        self.judge(10 * most >= 9 * n_frames)
    }

    /// Judges a window, in which somebody took nearly all frames or nobody did.
    fn judge(&mut self, is_good: bool) -> Option<u8> {
        (self.n_good, self.n_bad) = match is_good {
            true => (self.n_good + 1, 0),
            false => (0, self.n_bad + 1),
        };
        if self.n_bad >= BAD_WINDOWS && self.quality + 1 < VIDEO_QUALITIES {
            if self.was_raised {
                self.patience = (self.patience * 2).min(MOST_GOOD_WINDOWS);
            }
            return Some(self.change(self.quality + 1, false));
        }
        if self.n_good >= self.patience && self.quality > 0 {
            return Some(self.change(self.quality - 1, true));
        }
        None
    }

    fn change(&mut self, quality: u8, is_raised: bool) -> u8 {
        self.quality = quality;
        self.was_raised = is_raised;
        (self.n_good, self.n_bad) = (0, 0);
        quality
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A video of 30 frames a second, whose only viewer can take frames up to a quality.
    struct Stage {
        now: Instant,
        pace: QualityPace,
        delivery: Delivery,
        viewer: ViewerDelivery,
    }

    impl Stage {
        fn new() -> Self {
            let now = Instant::now();
            Self {
                now,
                pace: QualityPace::new(now),
                delivery: Delivery::default(),
                viewer: ViewerDelivery::default(),
            }
        }

        /// Plays for some seconds. Returns the second of each change, with the quality.
        fn play(&mut self, n_seconds: u64, per_second: u32, bearable: u8) -> Vec<(u64, u8)> {
            let began = self.now;
            let mut changes = Vec::new();
            while self.now < began + Duration::from_secs(n_seconds) {
                self.now += Duration::from_secs(1) / per_second;
                // A viewer for whom it is too much gets the lower layers.
                if self.pace.quality >= bearable || self.pace.n_frames.is_multiple_of(2) {
                    self.delivery.count(&mut self.viewer);
                }
                let changed = self.pace.count(self.now, &self.delivery);
                changes.extend(changed.map(|quality| ((self.now - began).as_secs(), quality)));
            }
            changes
        }
    }

    #[test]
    fn the_quality_falls_until_somebody_can_take_it_and_rises_again() {
        let mut stage = Stage::new();
        assert_eq!(stage.play(20, 30, 0), []);
        let fallen = stage.play(20, 30, 2);
        let qualities: Vec<_> = fallen.iter().map(|(_, quality)| *quality).collect();
        assert_eq!(qualities[..2], [1, 2], "{fallen:?}");
        assert!(fallen[1].0 <= 10, "{fallen:?}");
        let risen = stage.play(60, 30, 0);
        assert_eq!(
            risen.last().map(|(_, quality)| *quality),
            Some(0),
            "{risen:?}"
        );
    }

    #[test]
    fn a_quality_that_was_too_much_is_tried_less_and_less_often() {
        let mut stage = Stage::new();
        let changes = stage.play(600, 30, 1);
        let tries: Vec<_> = changes
            .iter()
            .filter(|(_, quality)| *quality == 0)
            .collect();
        assert!((3..=6).contains(&tries.len()), "{changes:?}");
        let first = tries[1].0 - tries[0].0;
        let last = tries[tries.len() - 1].0 - tries[tries.len() - 2].0;
        assert!(last > 2 * first, "{changes:?}");
    }

    #[test]
    fn a_screen_that_hardly_moves_says_nothing() {
        let mut stage = Stage::new();
        assert_eq!(stage.play(60, 5, 3), []);
    }

    #[test]
    fn one_who_takes_nothing_is_away() {
        let mut stage = Stage::new();
        for _ in 0..300 {
            stage.now += Duration::from_millis(33);
            assert_eq!(stage.pace.count(stage.now, &stage.delivery), None);
        }
    }

    #[test]
    fn the_worst_quality_stays() {
        let mut stage = Stage::new();
        let changes = stage.play(60, 30, VIDEO_QUALITIES);
        let qualities: Vec<_> = changes.iter().map(|(_, quality)| *quality).collect();
        assert_eq!(qualities, [1, 2, 3]);
    }
}
