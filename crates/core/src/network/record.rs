//! The record of the hosts that the programs of a session contacted or tried to contact.

use jiff::Timestamp;

use super::policy::BlockReason;

/// The most destinations that are recorded for one session. Further ones are counted together.
pub const MOST_DESTINATIONS: u64 = 1000;
/// The host under which further destinations are counted.
pub const OTHER_HOSTS: &str = "*";

/// One port of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkDestination {
    /// A name, or an address that was used without a name.
    pub host: String,
    pub port: u16,
    /// The connections that were made.
    pub n_connections: u64,
    /// The connections that were blocked.
    pub n_blocked: u64,
    /// The bytes from programs to the host.
    pub sent_bytes: u64,
    /// The bytes from the host to programs.
    pub received_bytes: u64,
    /// The reason if the newest attempt to connect was blocked.
    pub blocked: Option<BlockReason>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

/// One page of destinations, those with the newest connection first.
#[derive(Debug)]
pub struct DestinationPage {
    pub destinations: Vec<NetworkDestination>,
    /// The offset of the next page, if there is one.
    pub next: Option<u32>,
}
