//! Decides whether a program may look up a name or open a connection.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    clock::Clock,
    id::SessionId,
    network::{
        ConnectionMaker, NetworkHost,
        guard::{LookupMode, NetworkGuard, NetworkMeter, Passage},
        policy::{BlockReason, NetworkRules, NetworkVerdict},
        question::NetworkQuestion,
    },
};
use deskhand_store::StoreError;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::{
    NetworkAccess,
    traffic::{AddedConnection, ConnectionBytes, SessionTraffic},
};

/// The port of blocked lookups in the record, where no port is known yet.
const NO_PORT: u16 = 0;

/// The permission for a connection, given by the rules or by a person.
struct Decided {
    /// Counts towards the connections of the session's owner.
    of_owner: OwnedSemaphorePermit,
    rules: NetworkRules,
    /// True if a person allowed this connection and no rule does.
    is_once: bool,
}

#[async_trait]
impl NetworkGuard for NetworkAccess {
    async fn admit_lookup(
        &self,
        session: SessionId,
        name: &str,
    ) -> Result<LookupMode, BlockReason> {
        let traffic = self
            .traffic(session)
            .await
            .map_err(|error| failed(session, &error))?;
        let judged = self.judge_lookup(session, name).await;
        if let Err(reason) = judged {
            let question = NetworkQuestion {
                host: NetworkHost::Name(name.to_owned()),
                port: NO_PORT,
            };
            traffic.blocked(&question, reason, self.0.parts.clock.now());
            self.0.nudge.notify_one();
        }
        judged
    }

    async fn admit(
        &self,
        session: SessionId,
        by: ConnectionMaker,
        host: &NetworkHost,
        port: u16,
    ) -> Result<Passage, BlockReason> {
        let traffic = self
            .traffic(session)
            .await
            .map_err(|error| failed(session, &error))?;
        let question = NetworkQuestion {
            host: host.clone(),
            port,
        };
        let admitted = self.admit_within(&traffic, by, &question).await;
        if let Err(reason) = &admitted {
            traffic.blocked(&question, *reason, self.0.parts.clock.now());
        }
        self.0.nudge.notify_one();
        admitted
    }
}

impl NetworkAccess {
    async fn judge_lookup(
        &self,
        session: SessionId,
        name: &str,
    ) -> Result<LookupMode, BlockReason> {
        if !self.may_use(session) {
            return Err(BlockReason::Idle);
        }
        match self.rules_now(session).await?.judge_lookup(name) {
            NetworkVerdict::Allowed => Ok(LookupMode::Resolve),
            NetworkVerdict::Asks => Ok(LookupMode::Assume),
            NetworkVerdict::Blocked(reason) => Err(reason),
        }
    }

    async fn admit_within(
        &self,
        traffic: &Arc<SessionTraffic>,
        by: ConnectionMaker,
        question: &NetworkQuestion,
    ) -> Result<Passage, BlockReason> {
        let place = Arc::clone(&traffic.places)
            .try_acquire_owned()
            .map_err(|_full| BlockReason::Busy)?;
        if !traffic.has_bytes_left() {
            return Err(BlockReason::Bytes);
        }
        // If the rules change between the decision and the opening, `recheck` does not see the connection yet.
        let (decided, added) = loop {
            let version = traffic.rules_version();
            let decided = self.decide(traffic, by, question).await?;
            if let Some(added) = traffic.open(question, decided.is_once, version) {
                break (decided, added);
            }
        };
        let Decided {
            of_owner, rules, ..
        } = decided;
        let AddedConnection { id, ended, bytes } = added;
        let meter = Meter {
            traffic: Arc::clone(traffic),
            id,
            bytes,
            question: question.clone(),
            clock: Arc::clone(&self.0.parts.clock),
            nudge: Arc::clone(&self.0.nudge),
            _places: [place, of_owner],
        };
        Ok(Passage {
            rules: Arc::new(rules),
            ended,
            meter: Arc::new(meter),
            stand_ins: self.stand_ins(traffic.session),
        })
    }

    async fn decide(
        &self,
        traffic: &Arc<SessionTraffic>,
        by: ConnectionMaker,
        question: &NetworkQuestion,
    ) -> Result<Decided, BlockReason> {
        let session = traffic.session;
        if !self.may_use(session) {
            return Err(BlockReason::Idle);
        }
        let of_owner = self.place_of_owner(session)?;
        let NetworkQuestion { host, port } = question;
        let rules = self.rules_now(session).await?;
        let rules = match by {
            ConnectionMaker::Session => rules,
            ConnectionMaker::Deployment => rules.vouched(),
        };
        match rules.judge(host, *port) {
            NetworkVerdict::Blocked(reason) => return Err(reason),
            NetworkVerdict::Allowed => {
                return Ok(Decided {
                    of_owner,
                    rules,
                    is_once: false,
                });
            }
            NetworkVerdict::Asks => {}
        }
        self.ask(traffic, question).await?;
        // While people were asked, the session may have become idle, and its policy may have changed.
        if !self.may_use(session) {
            return Err(BlockReason::Idle);
        }
        let rules = self.rules_now(session).await?;
        match rules.judge(host, *port) {
            NetworkVerdict::Blocked(reason) => Err(reason),
            verdict @ (NetworkVerdict::Allowed | NetworkVerdict::Asks) => Ok(Decided {
                of_owner,
                rules,
                is_once: verdict == NetworkVerdict::Asks,
            }),
        }
    }

    /// Reserves one of the connections that all sessions of an owner share.
    fn place_of_owner(&self, session: SessionId) -> Result<OwnedSemaphorePermit, BlockReason> {
        let live = self.0.parts.live.get(session).ok_or(BlockReason::Idle)?;
        let places = self.0.owners.of(live.owner());
        places
            .try_acquire_owned()
            .map_err(|_full| BlockReason::Busy)
    }

    async fn rules_now(&self, session: SessionId) -> Result<NetworkRules, BlockReason> {
        let rules = self.rules(session).await;
        let rules = rules.map_err(|error| failed(session, &error))?;
        rules.ok_or(BlockReason::Idle)
    }
}

/// Logs a failure of the database. The connection is refused.
pub(super) fn failed(session: SessionId, error: &StoreError) -> BlockReason {
    tracing::error!(session.id = %session, error = error as &dyn std::error::Error, "could not decide about a connection");
    BlockReason::Failed
}

/// Counts the traffic of one connection.
#[derive(Debug)]
struct Meter {
    traffic: Arc<SessionTraffic>,
    id: u64,
    bytes: Arc<ConnectionBytes>,
    question: NetworkQuestion,
    clock: Arc<dyn Clock>,
    nudge: Arc<Notify>,
    _places: [OwnedSemaphorePermit; 2],
}

impl NetworkMeter for Meter {
    fn connected(&self) {
        self.traffic.connected(&self.question, self.clock.now());
        self.nudge.notify_one();
    }

    fn failed(&self) {
        self.traffic.contacted(&self.question, self.clock.now());
        self.nudge.notify_one();
    }

    fn blocked(&self, reason: BlockReason) {
        self.traffic
            .blocked(&self.question, reason, self.clock.now());
        self.nudge.notify_one();
    }

    fn end_reason(&self) -> BlockReason {
        self.traffic
            .end_reason(self.id)
            .unwrap_or(BlockReason::Idle)
    }

    fn count(&self, n_sent: u64, n_received: u64) -> bool {
        self.traffic.count(&self.bytes, n_sent, n_received)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.traffic.close(self.id, self.clock.now());
    }
}
