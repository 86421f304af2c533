//! The places for connections: how many there are, overall and for one address, and who makes room.
//!
//! If all places are taken, the connection that has been idle for longest loses its place: one whose client has not
//! sent its request completely, or keeps the connection for a later one. So clients that only hold connections cannot
//! shut out those that use them. Connections without any request so far go first, because a client that is about to
//! use its connection again would see that request fail. They are spared for a moment in which they can send one,
//! unless most idle connections are of this kind.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{ConnectionLimits, address::AddressBlock};

/// The time that a new connection has for its first request before it makes room sooner than others.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);

/// All connections. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    limits: ConnectionLimits,
    /// Counts connections and the times at which they became idle.
    ticks: u64,
    open: HashMap<u64, OpenConnection>,
    /// The connections without a request so far, in the order in which they were opened.
    unused: BTreeSet<u64>,
    /// The other idle connections, by the time since when they are.
    idle: BTreeMap<u64, u64>,
    per_address: HashMap<AddressBlock, usize>,
}

#[derive(Debug)]
struct OpenConnection {
    from: AddressBlock,
    opened_at: Instant,
    /// True if there was a request.
    has_begun: bool,
    /// `None` before the first request and while a request is in progress.
    idle_since: Option<u64>,
    lost: CancellationToken,
}

/// A place of one connection. It is free again on drop.
#[derive(Debug)]
pub(crate) struct Place {
    activity: Activity,
    lost: CancellationToken,
}

/// The requests of one connection. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Activity {
    places: Places,
    connection: u64,
    /// True while the end of a response waits to be written.
    is_ending: Arc<AtomicBool>,
}

/// A request in progress. On drop its response is complete, but may not be written yet.
#[derive(Debug)]
pub(super) struct InProgress(Option<Activity>);

impl Places {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self(Arc::new(Mutex::new(Table {
            limits,
            ticks: 0,
            open: HashMap::new(),
            unused: BTreeSet::new(),
            idle: BTreeMap::new(),
            per_address: HashMap::new(),
        })))
    }

    /// Takes a place, if need be that of an idle connection. Returns `None` if all are in use.
    pub(crate) fn enter(&self, from: AddressBlock) -> Option<Place> {
        let mut table = self.table();
        if !table.make_room(from) {
            return None;
        }
        let connection = table.tick();
        let lost = CancellationToken::new();
        *table.per_address.entry(from).or_default() += 1;
        table.unused.insert(connection);
        table.open.insert(
            connection,
            OpenConnection {
                from,
                opened_at: Instant::now(),
                has_begun: false,
                idle_since: None,
                lost: lost.clone(),
            },
        );
        let places = self.clone();
        Some(Place {
            activity: Activity {
                places,
                connection,
                is_ending: Arc::default(),
            },
            lost,
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// Makes room for one more connection. Returns false if there is none.
    fn make_room(&mut self, from: AddressBlock) -> bool {
        let of_address = self.per_address.get(&from).copied().unwrap_or_default();
        if of_address >= self.limits.share(from) {
            self.evict(|other| other == from)
        } else if self.open.len() >= self.limits.most() {
            self.evict(|_| true)
        } else {
            true
        }
    }

    /// Takes the place of an idle connection. Returns false if none is idle.
    fn evict(&mut self, may_be_from: impl Fn(AddressBlock) -> bool) -> bool {
        let eligible = |connection: &&u64| {
            let open = self.open.get(connection);
            open.is_some_and(|open| may_be_from(open.from))
        };
        let unused = self.unused.iter().find(eligible).copied();
        let idle = self
            .idle
            .iter()
            .find(|(_, connection)| eligible(connection));
        let goes_first = |connection: &u64| {
            let open = self.open.get(connection);
            let had_time = open.is_some_and(|open| open.opened_at.elapsed() >= FIRST_REQUEST_TIME);
            had_time || self.unused.len() > self.idle.len()
        };
        let connection = match (unused, idle) {
            (Some(unused), Some((since, idle))) if !goes_first(&unused) && *since < unused => *idle,
            (Some(unused), _) => unused,
            (None, Some((_, idle))) => *idle,
            (None, None) => return false,
        };
        if let Some(open) = self.close(connection) {
            open.lost.cancel();
        }
        true
    }

    /// Removes a connection, unless it is already gone.
    fn close(&mut self, connection: u64) -> Option<OpenConnection> {
        let open = self.open.remove(&connection)?;
        self.unused.remove(&connection);
        if let Some(since) = open.idle_since {
            self.idle.remove(&since);
        }
        if let Some(count) = self.per_address.get_mut(&open.from) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&open.from);
            }
        }
        Some(open)
    }
}

impl Place {
    /// Returns the token that fires when another connection takes this place.
    pub(super) fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }

    pub(super) fn activity(&self) -> Activity {
        self.activity.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.activity.places.table();
        table.close(self.activity.connection);
    }
}

impl Activity {
    /// Marks the connection as in use.
    pub(super) fn begin(&self) -> InProgress {
        self.is_ending.store(false, Ordering::Relaxed);
        let mut table = self.places.table();
        let table = &mut *table;
        if let Some(open) = table.open.get_mut(&self.connection) {
            if !open.has_begun {
                open.has_begun = true;
                table.unused.remove(&self.connection);
            }
            if let Some(since) = open.idle_since.take() {
                table.idle.remove(&since);
            }
        }
        InProgress(Some(self.clone()))
    }

    /// Marks the connection as idle, if everything of its response has been written. HTTP/1 has one request at a time.
    ///
    /// It is called after every write, so most of the time it must cost nothing.
    pub(super) fn written(&self) {
        if !self.is_ending.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut table = self.places.table();
        let now = table.tick();
        if let Some(open) = table.open.get_mut(&self.connection) {
            open.idle_since = Some(now);
            table.idle.insert(now, self.connection);
        }
    }

    /// Returns true if there was a request.
    pub(super) fn has_begun(&self) -> bool {
        let table = self.places.table();
        let open = table.open.get(&self.connection);
        open.is_some_and(|open| open.has_begun)
    }
}

impl InProgress {
    /// Keeps the connection in use until it is closed.
    pub(super) fn forever(mut self) {
        self.0 = None;
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        if let Some(activity) = self.0.take() {
            activity.is_ending.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
