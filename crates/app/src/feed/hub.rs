//! Live fan-out: every client gets a session's events from the number it last saw.
//!
//! The log is the truth and the hub only makes it quick. New events are kept in a short ring, as bytes that all
//! clients share. A client that is further behind reads from the store, so a slow client delays no one and misses
//! nothing.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use deskhand_core::{event::LoggedEvent, id::SessionId, tasks::Tasks};
use deskhand_store::{Store, StoreError};
use tokio::{sync::watch, time::Instant};

use crate::InternalError;

/// The most events in a ring, and the most bytes. The newest event is always in it.
const RING: usize = 256;
const RING_BYTES: usize = 1024 * 1024;
/// The number of events that are read from the store at once.
const PAGE: u32 = 256;
/// The shortest interval between two wakes of a session's followers, per follower.
const PER_FOLLOWER: Duration = Duration::from_micros(75);
/// The longest such interval, for any number of followers.
const LONGEST_HOLD: Duration = Duration::from_millis(75);
/// A shorter hold is not worth a timer.
const SHORTEST_HOLD: Duration = Duration::from_millis(4);

/// The sessions that have followers.
#[derive(Debug)]
pub(crate) struct Hub {
    channels: Mutex<HashMap<SessionId, Arc<Channel>>>,
    tasks: Tasks,
}

#[derive(Debug)]
struct Channel {
    /// Consecutive events, newest last.
    ring: Mutex<VecDeque<(u64, Bytes)>>,
    pace: Mutex<Pace>,
    /// The newest number that followers know of.
    newest: watch::Sender<u64>,
}

/// The rate at which the followers of a session are woken.
///
/// Waking a follower and writing to it costs about as much for one event as for two. When there are very many
/// followers, events are held back for a moment, to go out together.
#[derive(Debug, Default)]
struct Pace {
    /// The newest number that followers are to know of.
    newest: u64,
    sent_at: Option<Instant>,
    /// True if a task is waiting to wake them.
    is_held: bool,
}

/// One client's view of a session's log.
#[derive(Debug)]
pub struct Feed {
    hub: Arc<Hub>,
    store: Store,
    session: SessionId,
    channel: Arc<Channel>,
    newest: watch::Receiver<u64>,
    /// The last event handed out.
    cursor: u64,
}

impl Hub {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self {
            channels: Mutex::default(),
            tasks,
        }
    }

    /// Wakes the followers of a session after events were stored.
    pub(crate) fn publish(&self, session: SessionId, events: &[LoggedEvent]) {
        let channel = self.channels().get(&session).cloned();
        let (Some(channel), Some(last)) = (channel, events.last()) else {
            return;
        };
        {
            let mut ring = channel.ring.lock().unwrap_or_else(PoisonError::into_inner);
            for event in events {
                // Two writers may publish in a different order than they committed. Events that do not continue the
                // ring are left out; a follower that misses them reads them from the store.
                if ring
                    .back()
                    .is_none_or(|(newest, _)| newest + 1 == event.seq)
                {
                    ring.push_back((event.seq, Bytes::from(event.wire())));
                } else if ring
                    .back()
                    .is_some_and(|(newest, _)| newest + 1 < event.seq)
                {
                    ring.clear();
                    ring.push_back((event.seq, Bytes::from(event.wire())));
                }
            }
            shorten(&mut ring);
        }
        channel.saw(last.seq, &self.tasks);
    }

    /// Wakes the followers of a session because there are events up to `newest` in the store.
    pub(crate) fn saw(&self, session: SessionId, newest: u64) {
        let channel = self.channels().get(&session).cloned();
        if let Some(channel) = channel {
            channel.saw(newest, &self.tasks);
        }
    }

    /// Follows a session's events after number `after`.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        store: &Store,
        session: SessionId,
        after: u64,
    ) -> Result<Feed, StoreError> {
        let channel = Arc::clone(self.channels().entry(session).or_insert_with(|| {
            Arc::new(Channel {
                ring: Mutex::default(),
                pace: Mutex::default(),
                newest: watch::Sender::new(0),
            })
        }));
        let feed = Feed {
            hub: Arc::clone(self),
            store: store.clone(),
            session,
            newest: channel.newest.subscribe(),
            channel,
            cursor: after,
        };
        // The number is read only now: it includes an event that was committed before, and a later event is published
        // to the channel above.
        let system = deskhand_core::viewer::Viewer::System;
        if let Some(session) = store.session(system, session).await? {
            feed.channel.saw(session.last_seq, &self.tasks);
        }
        Ok(feed)
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Channel>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the oldest events of a ring that is too long.
fn shorten(ring: &mut VecDeque<(u64, Bytes)>) {
    let n_over = ring.len().saturating_sub(RING);
    ring.drain(..n_over);
    let mut n_bytes: usize = ring.iter().map(|(_, event)| event.len()).sum();
    while n_bytes > RING_BYTES
        && ring.len() > 1
        && let Some((_, oldest)) = ring.pop_front()
    {
        n_bytes -= oldest.len();
    }
}

impl Channel {
    /// Wakes the followers because of events up to `seq`: now or, if there are many followers, in a moment.
    fn saw(self: &Arc<Self>, seq: u64, tasks: &Tasks) {
        let hold = {
            let mut pace = self.pace();
            pace.newest = pace.newest.max(seq);
            if pace.is_held {
                return;
            }
            let hold = pace.hold(self.newest.receiver_count());
            pace.is_held = hold.is_some();
            hold
        };
        let Some(end) = hold else {
            return self.tell();
        };
        // The task does not keep the channel: the last follower that leaves drops it.
        let channel = Arc::downgrade(self);
        tasks.spawn("held events", async move {
            tokio::time::sleep_until(end).await;
            if let Some(channel) = channel.upgrade() {
                channel.tell();
            }
        });
    }

    fn tell(&self) {
        let seq = {
            let mut pace = self.pace();
            pace.is_held = false;
            pace.sent_at = Some(Instant::now());
            pace.newest
        };
        self.newest.send_if_modified(|newest| {
            let later = seq > *newest;
            *newest = seq.max(*newest);
            later
        });
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the events after `cursor`, if the ring still has all of them.
    fn recent(&self, cursor: u64) -> Vec<(u64, Bytes)> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        match ring.front() {
            Some((oldest, _)) if *oldest <= cursor + 1 => {
                let n_old = usize::try_from(cursor + 1 - oldest).unwrap_or(usize::MAX);
                ring.iter().skip(n_old).cloned().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Pace {
    /// Returns the time until which events are held back for this many followers.
    fn hold(&self, n_followers: usize) -> Option<Instant> {
        let n_followers = u32::try_from(n_followers).unwrap_or(u32::MAX);
        let least = PER_FOLLOWER.saturating_mul(n_followers).min(LONGEST_HOLD);
        let end = self.sent_at? + least;
        (end > Instant::now() + SHORTEST_HOLD).then_some(end)
    }
}

impl Feed {
    /// Waits until there are events, and returns the next ones as JSON.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, InternalError> {
        let cursor = self.cursor;
        // The sender lives as long as this feed, so waiting cannot fail.
        let _ = self.newest.wait_for(|newest| *newest > cursor).await;
        let recent = self.channel.recent(cursor);
        let events = if recent.is_empty() {
            let events = self.store.events(self.session, cursor, PAGE).await?;
            events
                .iter()
                .map(|event| (event.seq, Bytes::from(event.wire())))
                .collect()
        } else {
            recent
        };
        if let Some((last, _)) = events.last() {
            self.cursor = *last;
        }
        Ok(events.into_iter().map(|(_, event)| event).collect())
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let mut channels = self.hub.channels();
        // One is the map's and one ours: this is the last follower.
        if Arc::strong_count(&self.channel) == 2 {
            channels.remove(&self.session);
        }
    }
}
