//! Live fan-out: every client gets a session's events from the number it last saw.
//!
//! The log is the truth and the hub only makes it quick. New events stand in a short ring, as
//! bytes that all clients share; a client that is further behind reads from the store. So a slow
//! client holds nobody up and misses nothing.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use deskhand_core::{event::LoggedEvent, id::SessionId};
use deskhand_store::{Store, StoreError};
use tokio::sync::watch;

/// How many events a ring holds.
const RING: usize = 256;
/// How many events are read from the store at once.
const PAGE: u32 = 256;

/// All sessions that somebody follows.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    channels: Mutex<HashMap<SessionId, Arc<Channel>>>,
}

#[derive(Debug)]
struct Channel {
    /// Consecutive events, newest last.
    ring: Mutex<VecDeque<(u64, Bytes)>>,
    newest: watch::Sender<u64>,
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
    /// Tells the followers of a session about events that are in the store.
    pub(crate) fn publish(&self, session: SessionId, events: &[LoggedEvent]) {
        let channel = self.channels().get(&session).cloned();
        let (Some(channel), Some(last)) = (channel, events.last()) else {
            return;
        };
        {
            let mut ring = channel.ring.lock().unwrap_or_else(PoisonError::into_inner);
            for event in events {
                // Two writers may publish in the other order than they committed. What does not
                // continue the ring is left out, and who misses it reads it from the store.
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
            let n_over = ring.len().saturating_sub(RING);
            ring.drain(..n_over);
        }
        channel.saw(last.seq);
    }

    /// Tells the followers of a session that there are events up to `newest` in the store.
    pub(crate) fn saw(&self, session: SessionId, newest: u64) {
        let channel = self.channels().get(&session).cloned();
        if let Some(channel) = channel {
            channel.saw(newest);
        }
    }

    /// Follows a session from after event `after`; `newest` is the log's newest number, read
    /// after [`Hub::publish`] could no longer be missed.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        store: &Store,
        session: SessionId,
        after: u64,
    ) -> Result<Feed, StoreError> {
        let channel = Arc::clone(self.channels().entry(session).or_insert_with(|| {
            Arc::new(Channel {
                ring: Mutex::default(),
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
        // Only now: an event committed before this read is counted here, a later one is published
        // to the channel above.
        let system = deskhand_core::viewer::Viewer::System;
        if let Some(session) = store.session(system, session).await? {
            feed.channel.saw(session.last_seq);
        }
        Ok(feed)
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Channel>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel {
    fn saw(&self, seq: u64) {
        self.newest.send_if_modified(|newest| {
            let later = seq > *newest;
            *newest = seq.max(*newest);
            later
        });
    }

    /// The events after `cursor`, if the ring still has all of them.
    fn recent(&self, cursor: u64) -> Vec<(u64, Bytes)> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        match ring.front() {
            Some((oldest, _)) if *oldest <= cursor + 1 => ring
                .iter()
                .filter(|(seq, _)| *seq > cursor)
                .cloned()
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Feed {
    /// The next events as JSON, at least one; waits until there are some.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, StoreError> {
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
        // The map's and ours: nobody else follows this session.
        if Arc::strong_count(&self.channel) == 2 {
            channels.remove(&self.session);
        }
    }
}
