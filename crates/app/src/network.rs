//! The network of sessions: decides which connections their programs may open, records them, and closes those that are
//! no longer allowed.
//!
//! A program may contact hosts while the agent is working, while a person has control, and for some time after a person
//! used a terminal or VS Code. Stopping the agent stops its programs' traffic as well.

mod ask;
mod blocked;
mod contact_log;
mod guard;
mod list;
pub(crate) mod questions;
mod secret_use;
mod show;
mod traffic;

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

use self::traffic::SessionTraffic;
use crate::{
    decisions::Decisions, feed::log::Log, live::LiveSessions, refusal::refusals, signals::Signals,
    vault::Vault,
};

pub(crate) use self::blocked::BlockedHosts;
pub use self::{list::SetNetworkListError, show::NetworkOverview};

/// The time for which connections stay open after the session becomes idle.
const IDLE_GRACE: Duration = Duration::from_secs(10);
/// The interval at which traffic is recorded while there is some.
const RECORD_EVERY: Duration = Duration::from_secs(1);

/// The network settings of a deployment.
#[derive(Debug, Clone)]
pub struct NetworkSettings {
    /// The mode of new sessions. Those with a scripted model begin closed.
    pub default: NetworkMode,
    pub bounds: NetworkBounds,
    /// The maximum number of open connections of one session.
    pub connections: usize,
    /// The maximum number of open connections of all sessions of one owner.
    pub owner_connections: usize,
    /// The maximum number of bytes that one session may transfer. `None` means no limit.
    pub session_bytes: Option<u64>,
    /// True if programs may use the network while the session is idle.
    pub while_idle: bool,
    /// The time for which a connection waits for a person's answer.
    pub ask_timeout: Duration,
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
    /// Holds the values of the secrets that programs use.
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
    traffic: Mutex<HashMap<SessionId, Arc<SessionTraffic>>>,
    /// Limits the open connections of each owner.
    owners: Shares<UserId>,
    /// Wakes the job that records and closes connections.
    nudge: Arc<Notify>,
}

impl NetworkAccess {
    pub(crate) fn new(parts: NetworkParts) -> Self {
        Self(Arc::new(Networks {
            bounds: Arc::new(parts.settings.bounds.clone()),
            owners: Shares::new(parts.settings.owner_connections),
            parts,
            traffic: Mutex::default(),
            nudge: Arc::default(),
        }))
    }

    /// Returns the bounds that the deployment sets for every session.
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

    /// Checks a policy that a person chose for a session.
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

    /// Closes the connections of a session that its rules no longer allow. Call it after the rules were stored. If it
    /// fails, the job tries again.
    pub(crate) async fn recheck(&self, session: SessionId) -> Result<(), StoreError> {
        let Some(traffic) = self.all_traffic().get(&session).cloned() else {
            return Ok(());
        };
        let version = traffic.begin_recheck();
        if let Some(rules) = self.rules(session).await? {
            traffic.close_disallowed(&rules, version);
        }
        Ok(())
    }

    /// Records the traffic since the last run, and closes the connections of idle sessions. Returns the time until the next
    /// run, or `None` if there is nothing to watch.
    pub(crate) async fn keep(&self) -> Result<Option<Duration>, StoreError> {
        let all: Vec<_> = self.all_traffic().values().cloned().collect();
        // Connections are closed even if the database is unavailable.
        for traffic in &all {
            let is_idle = !self.may_use(traffic.session);
            traffic.close_after_idle(is_idle, Instant::now(), IDLE_GRACE);
        }
        let mut failed = None;
        for traffic in &all {
            if let Err(error) = self.keep_one(traffic).await {
                let (session, cause) = (traffic.session, &error as &dyn std::error::Error);
                tracing::warn!(session.id = %session, error = cause, "could not record the traffic of a session");
                failed = Some(error);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let is_busy = self
            .all_traffic()
            .values()
            .any(|traffic| !traffic.is_quiet());
        Ok(is_busy.then_some(RECORD_EVERY))
    }

    /// Returns the notification that wakes the job.
    pub(crate) fn nudge(&self) -> &Arc<Notify> {
        &self.0.nudge
    }

    /// Records the traffic of one session, and checks its connections again if its rules or its owner changed.
    async fn keep_one(&self, traffic: &SessionTraffic) -> Result<(), StoreError> {
        let live = self.0.parts.live.get(traffic.session);
        if traffic.needs_recheck() {
            self.recheck(traffic.session).await?;
        }
        if let Some(live) = &live
            && traffic.has_new_owner(live.owner())
        {
            // The new owner's list of allowed hosts applies now.
            self.recheck(traffic.session).await?;
            traffic.set_owner(live.owner());
        }
        self.record(traffic).await?;
        if traffic.is_quiet() && live.is_none() {
            self.forget(traffic);
        }
        Ok(())
    }

    async fn record(&self, traffic: &SessionTraffic) -> Result<(), StoreError> {
        let (counts, events) = traffic.take(self.0.parts.clock.now());
        if counts.is_empty() && events.is_empty() {
            return Ok(());
        }
        let change = RecordNetwork {
            counts: &counts,
            events: &events,
        };
        // If the session was deleted in the meantime, the commit is refused and there is nothing to record.
        let recorded = self.0.parts.log.commit(traffic.session, change).await;
        match recorded {
            Ok(_) => Ok(()),
            Err(error) => {
                traffic.put_back(counts, events);
                Err(error)
            }
        }
    }

    /// Forgets the traffic of a sleeping session, unless it has new connections.
    fn forget(&self, traffic: &SessionTraffic) {
        let mut all = self.all_traffic();
        if all
            .get(&traffic.session)
            .is_some_and(|kept| kept.is_quiet())
        {
            all.remove(&traffic.session);
        }
    }

    /// Returns true if programs of a session may use the network now.
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

    /// Returns the traffic of a session, loading the record if it is not in memory.
    async fn traffic(&self, session: SessionId) -> Result<Arc<SessionTraffic>, StoreError> {
        if let Some(traffic) = self.all_traffic().get(&session) {
            return Ok(Arc::clone(traffic));
        }
        let store = &self.0.parts.store;
        let all = u32::try_from(MOST_DESTINATIONS).unwrap_or(u32::MAX);
        let recorded = store.destinations(session, 0, all).await?.destinations;
        let n_bytes = store.transferred_bytes(session).await?;
        let settings = &self.0.parts.settings;
        let opened = SessionTraffic::new(
            session,
            settings,
            &recorded,
            n_bytes,
            self.0.parts.blocked.clone(),
        );
        let mut all = self.all_traffic();
        Ok(Arc::clone(
            all.entry(session).or_insert_with(|| Arc::new(opened)),
        ))
    }

    fn all_traffic(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<SessionTraffic>>> {
        self.0
            .traffic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
