//! The clock by which sound and pictures are stamped, so that they can be put in step.

use std::sync::LazyLock;

use deskhand_core::clock::{Clock, SystemClock};
use tokio::time::Instant;

/// The only one of this process.
static CLOCK: LazyLock<CaptureClock> = LazyLock::new(CaptureClock::begin);

/// A clock with the precision of sound, which never goes back.
#[derive(Debug)]
struct CaptureClock {
    began_at_us: u64,
    began: Instant,
}

/// Returns the time in microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    let elapsed_us = u64::try_from(CLOCK.began.elapsed().as_micros()).unwrap_or(u64::MAX);
    CLOCK.began_at_us.saturating_add(elapsed_us)
}

impl CaptureClock {
    fn begin() -> Self {
        let began_at_us = SystemClock.now().as_microsecond();
        Self {
            began_at_us: u64::try_from(began_at_us).unwrap_or_default(),
            began: Instant::now(),
        }
    }
}
