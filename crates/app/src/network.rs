//! The network of sessions: decides about connections of their programs, records them, and ends those that are no longer
//! allowed.
//!
//! A program may contact hosts while the agent is at work, while a person has control, and for a while after a person used
//! a terminal or VS Code. Stopping the agent stops its programs' traffic as well.

mod ask;
mod blocked;
mod book;
mod guard;
mod list;
pub(crate) mod questions;
mod secret_use;
mod show;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    clock::Clock,
    id::{SessionId, UserId},
    network::{
        policy::{BadNetworkPolicy, NetworkBounds, NetworkMode, NetworkPolicy, NetworkRules},
        record::MOST_DESTINATIONS,
        shares::Shares,
    },
};
use deskhand_store::{RecordNetwork, Store, StoreError};
use tokio::{sync::Notify, time::Instant};

use self::book::NetworkBook;
use crate::{
    decisions::Decisions, feed::log::Log, live::LiveSessions, refusal::refusals, signals::Signals,
    vault::Vault,
};

pub(crate) use self::blocked::BlockedHosts;
pub use self::{list::SetNetworkListError, show::NetworkOverview};

/// The time for which connections stay open after the last one has stopped working.
const IDLE_GRACE: Duration = Duration::from_secs(10);
/// The time between two recordings while there is something to record.
const RECORD_EVERY: Duration = Duration::from_secs(1);

/// The network settings of a deployment.
#[derive(Debug, Clone)]
pub struct NetworkSettings {
    /// The mode of new sessions. Those with a scripted model begin closed.
    pub default: NetworkMode,
    pub bounds: NetworkBounds,
    /// The most connections that one session may have at a time.
    pub connections: usize,
    /// The most connections that all sessions of one owner may have at a time.
    pub owner_connections: usize,
    /// The most bytes that one session may transfer. `None` without a limit.
    pub session_bytes: Option<u64>,
    /// True if programs may use the network while nobody is at work.
    pub while_idle: bool,
    /// The time for which a connection waits for a person.
    pub ask_timeout: Duration,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            default: NetworkMode::Open,
            bounds: NetworkBounds {
                ceiling: NetworkMode::Open,
                ..NetworkBounds::default()
            },
            connections: 512,
            owner_connections: 2048,
            session_bytes: None,
            while_idle: false,
            ask_timeout: Duration::from_secs(120),
        }
    }
}

/// The reason why a network policy is refused.
#[derive(Debug, thiserror::Error)]
pub enum BadNetwork {
    #[error(transparent)]
    Policy(#[from] BadNetworkPolicy),
    #[error(
        "the network of a session can be at most {:?} on this server, not {:?}; an administrator can change \
         network.ceiling in the settings",
        .ceiling.name(), .wanted.name()
    )]
    Ceiling {
        wanted: NetworkMode,
        ceiling: NetworkMode,
    },
}

refusals! {
    BadNetwork passes on;
    Self::Policy(_) => Invalid("bad_network"),
    Self::Ceiling { ceiling, .. } => Forbidden("network_ceiling", { "ceiling": ceiling }),
}

/// The parts that the network of sessions needs.
#[derive(Debug)]
pub(crate) struct NetworkParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) live: LiveSessions,
    pub(crate) decisions: Decisions,
    pub(crate) signals: Signals,
    /// Has the values of secrets that programs use.
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: NetworkSettings,
    pub(crate) blocked: BlockedHosts,
}

/// The network of all sessions. Clones share it.
#[derive(Debug, Clone)]
pub struct NetworkAccess(Arc<Networks>);

#[derive(Debug)]
struct Networks {
    parts: NetworkParts,
    bounds: Arc<NetworkBounds>,
    books: Mutex<HashMap<SessionId, Arc<NetworkBook>>>,
    /// The places for connections of each owner.
    owners: Shares<UserId>,
    /// Notifies the job that there is something to record or to watch.
    nudge: Arc<Notify>,
}

impl NetworkAccess {
    pub(crate) fn new(parts: NetworkParts) -> Self {
        Self(Arc::new(Networks {
            bounds: Arc::new(parts.settings.bounds.clone()),
            owners: Shares::new(parts.settings.owner_connections),
            parts,
            books: Mutex::default(),
            nudge: Arc::default(),
        }))
    }

    /// Returns the bounds that the settings set for every session.
    pub fn bounds(&self) -> &NetworkBounds {
        &self.0.bounds
    }

    /// Returns the policy of a new session with this model.
    pub(crate) fn default_for(&self, model: &str) -> NetworkPolicy {
        let default = if model.starts_with("scripted/") {
            NetworkMode::Closed
        } else {
            self.0.parts.settings.default
        };
        default.min(self.0.bounds.ceiling).into()
    }

    /// Checks a policy that a person wants for a session.
    pub(crate) fn check(&self, policy: &NetworkPolicy) -> Result<(), BadNetwork> {
        policy.check()?;
        let ceiling = self.0.bounds.ceiling;
        if policy.mode > ceiling {
            return Err(BadNetwork::Ceiling {
                wanted: policy.mode,
                ceiling,
            });
        }
        Ok(())
    }

    /// Ends the connections of a session that its policy no longer allows.
    pub(crate) async fn recheck(&self, session: SessionId) -> Result<(), StoreError> {
        let Some(book) = self.books().get(&session).cloned() else {
            return Ok(());
        };
        if let Some(rules) = self.rules(session).await? {
            book.end_those_not_allowed(&rules);
        }
        Ok(())
    }

    /// Records what has passed, and ends connections of sessions in which nobody is at work. Returns the time until the
    /// next run, if there is something to watch.
    pub(crate) async fn keep(&self) -> Result<Option<Duration>, StoreError> {
        let books: Vec<_> = self.books().values().cloned().collect();
        // Connections end even if the database does not answer.
        for book in &books {
            let is_idle = !self.may_use(book.session);
            book.end_after_idle(is_idle, Instant::now(), IDLE_GRACE);
        }
        let mut failed = None;
        for book in &books {
            if let Err(error) = self.keep_one(book).await {
                let (session, cause) = (book.session, &error as &dyn std::error::Error);
                tracing::warn!(session.id = %session, error = cause, "could not record the traffic of a session");
                failed = Some(error);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let is_busy = self.books().values().any(|book| !book.is_quiet());
        Ok(is_busy.then_some(RECORD_EVERY))
    }

    /// Returns the nudge of the job that records.
    pub(crate) fn nudge(&self) -> &Arc<Notify> {
        &self.0.nudge
    }

    /// Records what has passed in one session, and looks at its connections again if it has another owner.
    async fn keep_one(&self, book: &NetworkBook) -> Result<(), StoreError> {
        let live = self.0.parts.live.get(book.session);
        if let Some(live) = &live
            && book.has_new_owner(live.owner())
        {
            // The list of another person counts.
            self.recheck(book.session).await?;
            book.set_owner(live.owner());
        }
        self.record(book).await?;
        if book.is_quiet() && live.is_none() {
            self.forget(book);
        }
        Ok(())
    }

    async fn record(&self, book: &NetworkBook) -> Result<(), StoreError> {
        let (counts, events) = book.take(self.0.parts.clock.now());
        if counts.is_empty() && events.is_empty() {
            return Ok(());
        }
        let change = RecordNetwork {
            counts: &counts,
            events: &events,
        };
        // A session that was deleted meanwhile has no record.
        let recorded = self.0.parts.log.commit(book.session, change).await;
        match recorded {
            Ok(_) => Ok(()),
            Err(error) => {
                book.put_back(counts, events);
                Err(error)
            }
        }
    }

    /// Drops the book of a sleeping session, unless it was opened again.
    fn forget(&self, book: &NetworkBook) {
        let mut books = self.books();
        if books.get(&book.session).is_some_and(|kept| kept.is_quiet()) {
            books.remove(&book.session);
        }
    }

    /// Returns true if programs of a session may use the network at this moment.
    fn may_use(&self, session: SessionId) -> bool {
        let Some(live) = self.0.parts.live.get(session) else {
            return false;
        };
        self.0.parts.settings.while_idle
            || live.at_work().is_some()
            || live.desk.is_held()
            || live.activity.is_directed()
    }

    /// Returns the rules of a session, or `None` if there is no such session.
    async fn rules(&self, session: SessionId) -> Result<Option<NetworkRules>, StoreError> {
        let found = self.0.parts.store.network_rules(session).await?;
        let rules = found.map(|(policy, of_owner)| {
            NetworkRules::new(Arc::clone(&self.0.bounds), policy, of_owner)
        });
        Ok(rules)
    }

    /// Returns the book of a session. It begins with what is recorded.
    async fn book(&self, session: SessionId) -> Result<Arc<NetworkBook>, StoreError> {
        if let Some(book) = self.books().get(&session) {
            return Ok(Arc::clone(book));
        }
        let store = &self.0.parts.store;
        let all = u32::try_from(MOST_DESTINATIONS).unwrap_or(u32::MAX);
        let recorded = store.destinations(session, 0, all).await?.destinations;
        let n_bytes = store.transferred_bytes(session).await?;
        let settings = &self.0.parts.settings;
        let opened = NetworkBook::new(
            session,
            settings,
            &recorded,
            n_bytes,
            self.0.parts.blocked.clone(),
        );
        let mut books = self.books();
        Ok(Arc::clone(
            books.entry(session).or_insert_with(|| Arc::new(opened)),
        ))
    }

    fn books(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<NetworkBook>>> {
        self.0.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
