//! How much of the server one person may use.

use std::time::Duration;

use crate::budget::{Budget, ChangeBudget};

/// What holds for one person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How many of their sessions may be awake at a time.
    pub awake_sessions: u32,
    /// How many sessions they may make in 24 hours.
    pub sessions_per_day: u32,
    /// How long a session that nobody needs stays awake.
    pub idle: Duration,
    /// How long one sandbox may live.
    pub life: Duration,
    /// What all their sessions together may use in a day.
    pub day: Budget,
}

/// What an administrator has decided for one person. Where nothing is said, the settings hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UserLimits {
    pub awake_sessions: Option<u32>,
    pub sessions_per_day: Option<u32>,
    pub idle_seconds: Option<u32>,
    pub life_seconds: Option<u32>,
    pub day: ChangeBudget,
}

impl Limits {
    /// These, with what was decided for somebody over them.
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
