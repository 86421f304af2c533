//! Decides about single connections.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    clock::Clock,
    id::SessionId,
    network::{
        NetworkHost,
        guard::{LookupMode, NetworkGuard, NetworkMeter, Passage},
        policy::{BlockReason, NetworkRules, NetworkVerdict},
        question::NetworkQuestion,
    },
};
use deskhand_store::StoreError;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::{
    NetworkAccess,
    book::{AddedConnection, ConnectionBytes, NetworkBook},
};

/// The port under which lookups are recorded that are blocked before a port is known.
const NO_PORT: u16 = 0;

/// Permission for a connection as the rules or a person gave it.
struct Decided {
    /// The place among the connections of the session's owner.
    of_owner: OwnedSemaphorePermit,
    rules: NetworkRules,
    /// True if a person allowed it, and no rule does.
    is_once: bool,
}

#[async_trait]
impl NetworkGuard for NetworkAccess {
    async fn admit_lookup(
        &self,
        session: SessionId,
        name: &str,
    ) -> Result<LookupMode, BlockReason> {
        let book = self
            .book(session)
            .await
            .map_err(|error| failed(session, &error))?;
        let judged = self.judge_lookup(session, name).await;
        if let Err(reason) = judged {
            let question = NetworkQuestion {
                host: NetworkHost::Name(name.to_owned()),
                port: NO_PORT,
            };
            book.blocked(&question, reason, self.0.parts.clock.now());
            self.0.nudge.notify_one();
        }
        judged
    }

    async fn admit(
        &self,
        session: SessionId,
        host: &NetworkHost,
        port: u16,
    ) -> Result<Passage, BlockReason> {
        let book = self
            .book(session)
            .await
            .map_err(|error| failed(session, &error))?;
        let question = NetworkQuestion {
            host: host.clone(),
            port,
        };
        let admitted = self.admit_within(&book, &question).await;
        if let Err(reason) = &admitted {
            book.blocked(&question, *reason, self.0.parts.clock.now());
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
        book: &Arc<NetworkBook>,
        question: &NetworkQuestion,
    ) -> Result<Passage, BlockReason> {
        let place = Arc::clone(&book.places)
            .try_acquire_owned()
            .map_err(|_full| BlockReason::Busy)?;
        if !book.has_bytes_left() {
            return Err(BlockReason::Bytes);
        }
        let Decided {
            of_owner,
            rules,
            is_once,
        } = self.decide(book, question).await?;
        let AddedConnection { id, ended, bytes } = book.open(question, is_once);
        let meter = Meter {
            book: Arc::clone(book),
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
            stand_ins: self.stand_ins(book.session),
        })
    }

    async fn decide(
        &self,
        book: &Arc<NetworkBook>,
        question: &NetworkQuestion,
    ) -> Result<Decided, BlockReason> {
        let session = book.session;
        if !self.may_use(session) {
            return Err(BlockReason::Idle);
        }
        let of_owner = self.place_of_owner(session)?;
        let NetworkQuestion { host, port } = question;
        let rules = self.rules_now(session).await?;
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
        self.ask(book, question).await?;
        // The session may have come to rest meanwhile, and its policy may have changed.
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

    /// Takes one of the places that all sessions of an owner share.
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

/// Logs that the database did not answer. Nothing leaves then.
pub(super) fn failed(session: SessionId, error: &StoreError) -> BlockReason {
    tracing::error!(session.id = %session, error = error as &dyn std::error::Error, "could not decide about a connection");
    BlockReason::Failed
}

/// Counts one connection.
#[derive(Debug)]
struct Meter {
    book: Arc<NetworkBook>,
    id: u64,
    bytes: Arc<ConnectionBytes>,
    question: NetworkQuestion,
    clock: Arc<dyn Clock>,
    nudge: Arc<Notify>,
    _places: [OwnedSemaphorePermit; 2],
}

impl NetworkMeter for Meter {
    fn connected(&self) {
        self.book.connected(&self.question, self.clock.now());
        self.nudge.notify_one();
    }

    fn failed(&self) {
        self.book.contacted(&self.question, self.clock.now());
        self.nudge.notify_one();
    }

    fn blocked(&self, reason: BlockReason) {
        self.book.blocked(&self.question, reason, self.clock.now());
        self.nudge.notify_one();
    }

    fn end_reason(&self) -> BlockReason {
        self.book.end_reason(self.id).unwrap_or(BlockReason::Idle)
    }

    fn count(&self, n_sent: u64, n_received: u64) -> bool {
        self.book.count(&self.bytes, n_sent, n_received)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.book.close(self.id, self.clock.now());
    }
}
