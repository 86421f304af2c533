//! The port through which the egress service asks for decisions and reports traffic.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{
    ConnectionMaker, NetworkHost,
    policy::{BlockReason, NetworkRules},
    stand_in::StandInAccess,
};
use crate::id::SessionId;

/// Decides about connections of sandboxes.
#[async_trait]
pub trait NetworkGuard: Send + Sync + std::fmt::Debug {
    /// Decides whether a name may be resolved.
    async fn admit_lookup(&self, session: SessionId, name: &str)
    -> Result<LookupMode, BlockReason>;

    /// Decides about a connection. Waits for a person if the policy asks one.
    async fn admit(
        &self,
        session: SessionId,
        by: ConnectionMaker,
        host: &NetworkHost,
        port: u16,
    ) -> Result<Passage, BlockReason>;
}

/// The way in which a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupMode {
    Resolve,
    /// The name is reported as found without a lookup. A person is asked when it is dialled.
    Assume,
}

/// Permission for one connection.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The rules for the address that is dialled, and for the names that the program uses.
    pub rules: Arc<NetworkRules>,
    /// Fires when the connection must end.
    pub ended: CancellationToken,
    pub meter: Arc<dyn NetworkMeter>,
    /// The stand-ins of the sandbox, if it has some.
    pub stand_ins: Option<StandInAccess>,
}

/// Meters one connection, which is considered open until this is dropped.
pub trait NetworkMeter: Send + Sync + std::fmt::Debug {
    /// The connection is made.
    fn connected(&self);

    /// The connection is allowed, but the host could not be reached.
    fn failed(&self);

    /// The connection is blocked after it was admitted.
    fn blocked(&self, reason: BlockReason);

    /// Returns the reason why the connection must end, after [`Passage::ended`] fired.
    fn end_reason(&self) -> BlockReason {
        BlockReason::Idle
    }

    /// Counts bytes from and to the program. Returns `false` if the session's limit is reached.
    fn count(&self, n_sent: u64, n_received: u64) -> bool;
}
