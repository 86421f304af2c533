//! The settings that bound users and sessions: limits, budgets, and how long ended sessions are kept.

use std::time::Duration;

use deskhand_core::{
    budget::{Budget, ChangeBudget, LARGEST_TOKENS, LARGEST_USD},
    limits::Limits,
};

use super::reader::Reader;

/// Reads the limits of a user for whom no others are set.
pub(super) fn limits(reader: &mut Reader<'_>) -> Limits {
    Limits {
        awake_sessions: reader.integer("limits.awake_sessions", 0..=10_000),
        sessions_per_day: reader.integer("limits.sessions_per_day", 0..=1_000_000),
        idle: Duration::from_secs(reader.integer("limits.idle_seconds", 1..=2_592_000)),
        life: Duration::from_secs(reader.integer("limits.life_seconds", 1..=2_592_000)),
        day: budget(reader, "day"),
    }
}

/// Reads a budget: of a session or of a day.
pub(super) fn budget(reader: &mut Reader<'_>, whose: &str) -> Budget {
    Budget::default().with(ChangeBudget {
        usd: Some(reader.number(&format!("budget.{whose}_usd"), 0.0..=LARGEST_USD)),
        tokens: Some(reader.integer(&format!("budget.{whose}_tokens"), 0..=LARGEST_TOKENS)),
    })
}

/// Reads the time for which ended sessions are kept. 0 days mean for ever.
pub(super) fn keep_ended(reader: &mut Reader<'_>) -> Option<Duration> {
    let days: u64 = reader.integer("retention.ended_days", 0..=3_650);
    (days > 0).then(|| Duration::from_hours(24 * days))
}
