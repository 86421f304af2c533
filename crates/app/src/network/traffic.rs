//! The traffic of one session in memory: its open connections, and the counts that are not recorded yet.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_core::{
    event::EventBody,
    id::{DecisionId, SessionId, TurnId, UserId},
    network::{
        policy::{BlockReason, NetworkRules, NetworkVerdict},
        question::NetworkQuestion,
        record::{NetworkDestination, OTHER_HOSTS},
    },
};
use deskhand_store::{AttemptOutcome, DestinationCount};
use jiff::Timestamp;
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    NetworkSettings,
    blocked::BlockedHosts,
    contact_log::ContactLog,
    questions::{Asking, Questions},
};

/// The maximum number of destinations that are counted separately between two recordings.
const MOST_UNRECORDED: usize = 2000;

#[derive(Debug)]
pub(super) struct SessionTraffic {
    pub(super) session: SessionId,
    blocked: BlockedHosts,
    /// Limits its connections, including those that wait for a person.
    pub(super) places: Arc<Semaphore>,
    /// The bytes that it has transferred so far.
    n_bytes: AtomicU64,
    most_bytes: Option<u64>,
    state: Mutex<TrafficState>,
}

#[derive(Debug, Default)]
struct TrafficState {
    open: HashMap<u64, OpenConnection>,
    next_id: u64,
    unrecorded: HashMap<(String, u16), DestinationCount>,
    contacts: ContactLog,
    questions: Questions<NetworkQuestion, BlockReason>,
    idle_since: Option<Instant>,
    owner: Option<UserId>,
    /// Counts the changes of the rules.
    rules_version: u64,
    /// True until all connections were checked against the newest rules.
    needs_recheck: bool,
}

#[derive(Debug)]
struct OpenConnection {
    question: NetworkQuestion,
    /// True if a person allowed this connection and no rule does.
    is_once: bool,
    ended: CancellationToken,
    /// The reason why it is closed, unless the session is idle.
    end_reason: Option<BlockReason>,
    bytes: Arc<ConnectionBytes>,
}

/// The bytes of one connection that are not recorded yet. Counting takes no lock, since it happens for every piece.
#[derive(Debug, Default)]
pub(super) struct ConnectionBytes {
    sent: AtomicU64,
    received: AtomicU64,
}

/// A connection that was added.
#[derive(Debug)]
pub(super) struct AddedConnection {
    pub(super) id: u64,
    /// Cancelled when the connection has to close.
    pub(super) ended: CancellationToken,
    pub(super) bytes: Arc<ConnectionBytes>,
}

impl SessionTraffic {
    pub(super) fn new(
        session: SessionId,
        settings: &NetworkSettings,
        recorded: &[NetworkDestination],
        n_bytes: u64,
        blocked: BlockedHosts,
    ) -> Self {
        Self {
            session,
            blocked,
            places: Arc::new(Semaphore::new(settings.connections)),
            n_bytes: AtomicU64::new(n_bytes),
            most_bytes: settings.session_bytes,
            state: Mutex::new(TrafficState {
                contacts: ContactLog::new(recorded),
                ..TrafficState::default()
            }),
        }
    }

    /// Adds a connection that was decided by the rules of this version. Returns `None` if they have changed since.
    pub(super) fn open(
        &self,
        question: &NetworkQuestion,
        is_once: bool,
        rules_version: u64,
    ) -> Option<AddedConnection> {
        let mut state = self.state();
        if state.rules_version != rules_version {
            return None;
        }
        let id = state.next_id;
        state.next_id += 1;
        let connection = OpenConnection {
            question: question.clone(),
            is_once,
            end_reason: None,
            ended: CancellationToken::new(),
            bytes: Arc::default(),
        };
        let added = AddedConnection {
            id,
            ended: connection.ended.clone(),
            bytes: Arc::clone(&connection.bytes),
        };
        state.open.insert(id, connection);
        Some(added)
    }

    /// Removes a connection, and counts its last bytes.
    pub(super) fn close(&self, id: u64, at: Timestamp) {
        let mut state = self.state();
        if let Some(connection) = state.open.remove(&id) {
            state.collect_from(&connection.question, &connection.bytes, at);
        }
    }

    /// Counts a connection that was made.
    pub(super) fn connected(&self, question: &NetworkQuestion, at: Timestamp) {
        let mut state = self.state();
        let counted = state.count_of(question, at);
        counted.n_connections += 1;
        counted.latest = Some(AttemptOutcome::Allowed);
        state.contacts.add(question, None);
    }

    /// Records a host that was allowed but could not be reached.
    pub(super) fn contacted(&self, question: &NetworkQuestion, at: Timestamp) {
        let mut state = self.state();
        state.count_of(question, at).latest = Some(AttemptOutcome::Allowed);
        state.contacts.add(question, None);
    }

    /// Counts a connection that was blocked.
    pub(super) fn blocked(&self, question: &NetworkQuestion, reason: BlockReason, at: Timestamp) {
        self.blocked.note(self.session, question, reason);
        let mut state = self.state();
        let counted = state.count_of(question, at);
        counted.n_blocked += 1;
        counted.latest = Some(AttemptOutcome::Blocked(reason));
        state.contacts.add(question, Some(reason));
    }

    /// Counts bytes. Returns `false` if the session has exceeded its limit.
    pub(super) fn count(&self, bytes: &ConnectionBytes, n_sent: u64, n_received: u64) -> bool {
        bytes.sent.fetch_add(n_sent, Ordering::Relaxed);
        bytes.received.fetch_add(n_received, Ordering::Relaxed);
        let more = n_sent + n_received;
        let all = self.n_bytes.fetch_add(more, Ordering::Relaxed) + more;
        self.most_bytes.is_none_or(|most| all <= most)
    }

    /// Returns true if the session may transfer another byte.
    pub(super) fn has_bytes_left(&self) -> bool {
        let all = self.n_bytes.load(Ordering::Relaxed);
        self.most_bytes.is_none_or(|most| all < most)
    }

    pub(super) fn n_open(&self) -> usize {
        self.state().open.len()
    }

    /// Returns true if nothing is open and everything is recorded.
    pub(super) fn is_quiet(&self) -> bool {
        let state = self.state();
        state.open.is_empty() && state.unrecorded.is_empty() && state.contacts.events.is_empty()
    }

    /// Takes everything that is not recorded yet.
    pub(super) fn take(&self, at: Timestamp) -> (Vec<DestinationCount>, Vec<EventBody>) {
        let mut state = self.state();
        state.collect(at);
        let counts = std::mem::take(&mut state.unrecorded);
        (
            counts.into_values().collect(),
            std::mem::take(&mut state.contacts.events),
        )
    }

    /// Puts back counts and events that could not be recorded.
    pub(super) fn put_back(&self, counts: Vec<DestinationCount>, events: Vec<EventBody>) {
        let mut state = self.state();
        for counted in counts {
            let key = (counted.host.clone(), counted.port);
            let Some(newer) = state.unrecorded.get_mut(&key) else {
                state.unrecorded.insert(key, counted);
                continue;
            };
            newer.n_connections += counted.n_connections;
            newer.n_blocked += counted.n_blocked;
            newer.sent_bytes += counted.sent_bytes;
            newer.received_bytes += counted.received_bytes;
            newer.latest = newer.latest.or(counted.latest);
        }
        state.contacts.events.splice(0..0, events);
    }

    /// Returns the version of the rules, to be read before the rules themselves.
    pub(super) fn rules_version(&self) -> u64 {
        self.state().rules_version
    }

    /// Notes that the rules have changed. Returns their version.
    pub(super) fn begin_recheck(&self) -> u64 {
        let mut state = self.state();
        state.rules_version += 1;
        state.needs_recheck = true;
        state.rules_version
    }

    /// Returns true if a recheck did not finish.
    pub(super) fn needs_recheck(&self) -> bool {
        self.state().needs_recheck
    }

    /// Closes connections that the rules of this version no longer allow.
    pub(super) fn close_disallowed(&self, rules: &NetworkRules, version: u64) {
        let mut state = self.state();
        if state.rules_version == version {
            state.needs_recheck = false;
        }
        for connection in state.open.values_mut() {
            let NetworkQuestion { host, port } = &connection.question;
            let reason = match rules.judge(host, *port) {
                NetworkVerdict::Allowed => continue,
                NetworkVerdict::Asks if connection.is_once => continue,
                NetworkVerdict::Asks => BlockReason::NotListed,
                NetworkVerdict::Blocked(reason) => reason,
            };
            connection.end_reason = Some(reason);
            connection.ended.cancel();
        }
    }

    /// Returns the reason why a connection is closed, unless the session is idle.
    pub(super) fn end_reason(&self, id: u64) -> Option<BlockReason> {
        self.state().open.get(&id)?.end_reason
    }

    /// Returns true if the session had another owner at the last check.
    pub(super) fn has_new_owner(&self, owner: UserId) -> bool {
        *self.state().owner.get_or_insert(owner) != owner
    }

    pub(super) fn set_owner(&self, owner: UserId) {
        self.state().owner = Some(owner);
    }

    /// Closes all connections once the session has been idle for `grace`.
    pub(super) fn close_after_idle(&self, is_idle: bool, now: Instant, grace: Duration) {
        let mut state = self.state();
        if !is_idle {
            state.idle_since = None;
            return;
        }
        let since = *state.idle_since.get_or_insert(now);
        if now.duration_since(since) >= grace {
            for connection in state.open.values() {
                connection.ended.cancel();
            }
        }
    }

    /// Returns the state of a question in this turn, and reserves an id if it is new.
    pub(super) fn asking(&self, question: &NetworkQuestion, turn: TurnId) -> Asking<BlockReason> {
        self.state().questions.asking(question, turn)
    }

    /// Returns true if this question is still open.
    pub(super) fn is_asked(&self, question: &NetworkQuestion, id: DecisionId) -> bool {
        self.state().questions.is_asked(question, id)
    }

    /// Closes a question. Its answer, if any, is remembered until the turn ends.
    pub(super) fn settled(
        &self,
        question: &NetworkQuestion,
        id: DecisionId,
        answer: Option<Result<(), BlockReason>>,
    ) {
        self.state().questions.settled(question, id, answer);
    }

    fn state(&self) -> MutexGuard<'_, TrafficState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrafficState {
    /// Adds the bytes of open connections to the counts of their destinations.
    fn collect(&mut self, at: Timestamp) {
        let open = self.open.values();
        let all: Vec<_> = open
            .map(|connection| (connection.question.clone(), Arc::clone(&connection.bytes)))
            .collect();
        for (question, bytes) in all {
            self.collect_from(&question, &bytes, at);
        }
    }

    fn collect_from(&mut self, question: &NetworkQuestion, bytes: &ConnectionBytes, at: Timestamp) {
        let n_sent = bytes.sent.swap(0, Ordering::Relaxed);
        let n_received = bytes.received.swap(0, Ordering::Relaxed);
        if n_sent + n_received == 0 {
            return;
        }
        let counted = self.count_of(question, at);
        counted.sent_bytes += n_sent;
        counted.received_bytes += n_received;
    }

    /// Returns the counts of a destination since the last recording.
    fn count_of(&mut self, question: &NetworkQuestion, at: Timestamp) -> &mut DestinationCount {
        let mut key = (question.host.to_string(), question.port);
        if self.unrecorded.len() >= MOST_UNRECORDED && !self.unrecorded.contains_key(&key) {
            key = (OTHER_HOSTS.to_owned(), 0);
        }
        let (host, port) = key.clone();
        let counted = self
            .unrecorded
            .entry(key)
            .or_insert_with(|| DestinationCount {
                host,
                port,
                n_connections: 0,
                n_blocked: 0,
                sent_bytes: 0,
                received_bytes: 0,
                latest: None,
                at,
            });
        counted.at = at;
        counted
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
