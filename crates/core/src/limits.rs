//! Limits on one user's share of the server.

use std::time::Duration;

use crate::budget::{Budget, ChangeBudget};

/// The limits that apply to one user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The number of their sessions that may be awake at the same time.
    pub awake_sessions: u32,
    /// The number of sessions they may create in 24 hours.
    pub sessions_per_day: u32,
    /// The time after which an idle session goes to sleep.
    pub idle: Duration,
    /// The maximum lifetime of a sandbox.
    pub life: Duration,
    /// The daily budget of all their sessions together.
    pub day: Budget,
}

/// The limits that an administrator set for one user. The server's settings apply to the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UserLimits {
    pub awake_sessions: Option<u32>,
    pub sessions_per_day: Option<u32>,
    pub idle_seconds: Option<u32>,
    pub life_seconds: Option<u32>,
    pub day: ChangeBudget,
}

impl Limits {
    /// Returns these limits, with a user's own limits in place of the general ones.
    pub fn with(self, own: UserLimits) -> Self {
        let seconds = |seconds: Option<u32>, otherwise| {
            seconds.map_or(otherwise, |seconds| Duration::from_secs(seconds.into()))
        };
        Self {
            awake_sessions: own.awake_sessions.unwrap_or(self.awake_sessions),
            sessions_per_day: own.sessions_per_day.unwrap_or(self.sessions_per_day),
            idle: seconds(own.idle_seconds, self.idle),
            life: seconds(own.life_seconds, self.life),
            day: self.day.with(own.day),
        }
    }
}
