//! A clock that tests move.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_core::clock::{Clock, SystemClock};
use jiff::Timestamp;

/// The machine's clock, moved forward. Clones share the offset.
#[derive(Debug, Clone, Default)]
pub(crate) struct MovedClock {
    offset_ms: Arc<AtomicU64>,
}

impl MovedClock {
    /// Moves the clock forward.
    pub(crate) fn advance(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).expect("a time that a test can mean");
        self.offset_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + Duration::from_millis(self.offset_ms.load(Ordering::Relaxed))
    }
}
