//! The settings of the wait for the screen to settle.

use std::time::Duration;

use super::reader::Reader;

#[derive(Debug, Clone, Copy)]
pub(crate) struct SettleConfig {
    pub(crate) quiet: Duration,
    pub(crate) max: Duration,
}

pub(super) fn settle(reader: &mut Reader<'_>) -> SettleConfig {
    let settle = SettleConfig {
        quiet: Duration::from_millis(reader.integer("settle.quiet_ms", 0..=10_000)),
        max: Duration::from_millis(reader.integer("settle.max_ms", 0..=60_000)),
    };
    if settle.quiet > settle.max {
        reader.mistake("settle.quiet_ms", "must be at most settle.max_ms");
    }
    settle
}
