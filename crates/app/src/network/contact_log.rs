//! The events about the hosts that programs of one session contacted, or tried to.

use std::{collections::HashSet, time::Duration};

use deskhand_core::{
    event::{EventBody, HostContacted},
    network::{policy::BlockReason, question::NetworkQuestion, record::NetworkDestination},
};
use tokio::time::Instant;

/// The maximum number of facts about destinations that one session logs.
const MOST_LOGGED: usize = 4 * 1000;
/// The maximum number of events within [`EVENT_WINDOW`].
const MOST_EVENTS: u32 = 60;
const EVENT_WINDOW: Duration = Duration::from_secs(60);

/// Logs each fact about a destination once, with a limit per minute.
#[derive(Debug, Default)]
pub(super) struct ContactLog {
    /// Events that are not stored yet.
    pub(super) events: Vec<EventBody>,
    /// The facts that are in the log already.
    logged: HashSet<(String, u16, Option<BlockReason>)>,
    /// The start of the current window, and its number of events.
    window: Option<(Instant, u32)>,
}

impl ContactLog {
    /// Creates the log of a session with these destinations so far.
    pub(super) fn new(recorded: &[NetworkDestination]) -> Self {
        let mut logged = HashSet::new();
        for destination in recorded {
            let (host, port) = (&destination.host, destination.port);
            if destination.n_connections > 0 {
                logged.insert((host.clone(), port, None));
            }
            if destination.blocked.is_some() {
                logged.insert((host.clone(), port, destination.blocked));
            }
        }
        Self {
            logged,
            ..Self::default()
        }
    }

    /// Adds an event about a destination, unless the log has it already.
    pub(super) fn add(&mut self, question: &NetworkQuestion, blocked: Option<BlockReason>) {
        let fact = (question.host.to_string(), question.port, blocked);
        if self.logged.contains(&fact) || self.logged.len() >= MOST_LOGGED {
            return;
        }
        let now = Instant::now();
        let (since, n_events) = self
            .window
            .filter(|(since, _)| now.duration_since(*since) < EVENT_WINDOW)
            .unwrap_or((now, 0));
        if n_events >= MOST_EVENTS {
            // The destination is recorded in any case, and a later connection may be logged.
            return;
        }
        self.window = Some((since, n_events + 1));
        self.events.push(EventBody::Network(HostContacted {
            host: fact.0.clone(),
            port: question.port,
            blocked,
        }));
        self.logged.insert(fact);
    }
}
