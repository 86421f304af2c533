//! The network of a session.

use deskhand_core::network::{
    policy::{BlockReason, NetworkMode, NetworkPolicy},
    record::NetworkDestination,
    rule::NetworkRule,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The network of a session, with a page of the hosts that its programs contacted or tried to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SessionNetwork)]
pub struct NetworkView {
    /// The session's policy.
    pub policy: NetworkPolicy,
    /// The mode in force: that of the policy, unless the server's settings are stricter.
    pub in_force: NetworkMode,
    /// The loosest mode that the session can have.
    pub ceiling: NetworkMode,
    /// The connections that are open now.
    pub open_connections: u64,
    /// The bytes that the session has transferred so far, in both directions.
    pub transferred_bytes: u64,
    /// The most bytes that it may transfer, if there is a limit.
    #[schema(required)]
    pub most_bytes: Option<u64>,
    /// Those with the newest connection first.
    pub destinations: Vec<DestinationView>,
    /// The `skip` of the next page, if there is one.
    #[schema(required)]
    pub next: Option<u32>,
}

/// The hosts that all your sessions may contact, beside those that a session lists itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OwnNetwork)]
#[serde(deny_unknown_fields)]
pub struct OwnNetworkView {
    /// Names, `*.name`, addresses and ranges, optionally followed by `:PORT` or `:FIRST-LAST`.
    #[schema(value_type = Vec<String>, max_items = 200)]
    pub allow: Vec<NetworkRule>,
}

/// One port of one host.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = NetworkDestination)]
pub struct DestinationView {
    /// A name, or an address that was used without a name. `*` stands for all beyond the thousand that are kept.
    pub host: String,
    /// 0 if the lookup of the name was blocked.
    pub port: u16,
    /// The connections that were made.
    pub connections: u64,
    /// The connections that were blocked.
    pub blocked_connections: u64,
    /// The bytes from programs to the host.
    pub sent_bytes: u64,
    /// The bytes from the host to programs.
    pub received_bytes: u64,
    /// The reason if the newest connection was blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub blocked: Option<BlockReason>,
    /// The reason as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

impl From<NetworkDestination> for DestinationView {
    fn from(destination: NetworkDestination) -> Self {
        let reason = destination.blocked.map(BlockReason::sentence);
        Self {
            host: destination.host,
            port: destination.port,
            connections: destination.n_connections,
            blocked_connections: destination.n_blocked,
            sent_bytes: destination.sent_bytes,
            received_bytes: destination.received_bytes,
            blocked: destination.blocked,
            reason: reason.map(str::to_owned),
            first_at: destination.first_at,
            last_at: destination.last_at,
        }
    }
}
