//! Measures how long a turn has worked. Waiting for people, a vendor or the server does not count.

use std::time::Duration;

use deskhand_core::{
    event::{Event, EventBody, Status},
    id::{DecisionId, TurnId},
    lease::LeaseChange,
};
use jiff::Timestamp;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Stopwatch {
    /// The work before the interruption.
    before: Duration,
    started: Instant,
    waited: Duration,
}

impl Stopwatch {
    pub(crate) fn new(history: &[Event], turn: TurnId, started: Instant) -> Self {
        Self {
            before: worked(history, turn),
            started,
            waited: Duration::ZERO,
        }
    }

    /// Counts the time since `began` as waiting.
    pub(crate) fn waited_since(&mut self, began: Instant) {
        self.waited += began.elapsed();
    }

    pub(crate) fn worked(&self) -> Duration {
        self.before + self.started.elapsed().saturating_sub(self.waited)
    }
}

/// Computes from the log how long a turn has worked: the time between its events, without waiting. If a server was
/// killed, the time after its last event is unknown.
fn worked(history: &[Event], turn: TurnId) -> Duration {
    let mut reading = WorkReader::default();
    for event in history {
        reading.add(event, turn);
    }
    reading.worked
}

#[derive(Debug, Default)]
struct WorkReader {
    worked: Duration,
    /// The time of the previous event, once the turn has begun.
    last: Option<Timestamp>,
    /// The decisions that are not settled yet.
    open: Vec<DecisionId>,
    is_driven: bool,
    /// The time until which the turn pauses before a retry.
    resting_until: Option<Timestamp>,
}

impl WorkReader {
    fn add(&mut self, event: &Event, turn: TurnId) {
        // A prompt is placed where the agent took it, but has the time at which it was sent.
        if matches!(event.body, EventBody::Message(_)) {
            return;
        }
        // The turn begins, or resumes after an interruption that does not count as work.
        if let EventBody::Status(Status {
            turn: Some(of),
            prompt,
            ..
        }) = &event.body
            && *of == turn
            && (self.last.is_none() || prompt.is_none())
        {
            self.last = Some(event.at);
            return;
        }
        let Some(last) = self.last else { return };
        if self.open.is_empty() && !self.is_driven {
            let since = self.resting_until.map_or(last, |until| until.max(last));
            // If the clock was set back, the interval counts as zero.
            self.worked += Duration::try_from(event.at.duration_since(since)).unwrap_or_default();
        }
        self.last = Some(event.at);
        self.note(&event.body);
    }

    fn note(&mut self, body: &EventBody) {
        self.resting_until = None;
        if let EventBody::Decision(raised) = body {
            self.open.push(raised.decision);
        }
        if let EventBody::Answer(settled) = body {
            self.open.retain(|open| *open != settled.decision);
        }
        if let EventBody::Lease(changed) = body {
            self.is_driven = !matches!(changed.change, LeaseChange::Ended { .. });
        }
        if let EventBody::Retry(retry) = body {
            self.resting_until = Some(retry.next_at);
        }
    }
}

#[cfg(test)]
#[path = "stopwatch_tests.rs"]
mod tests;
