//! Reasons for blocking a connection.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The reason why a connection is not made, or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    /// The session's network is closed.
    Closed,
    /// The policy does not list the host.
    NotListed,
    /// A person said no, or the policy blocks the host.
    Denied,
    /// The address is not on the public internet.
    Private,
    /// It is this server.
    Own,
    /// It is another DNS resolver.
    Resolver,
    /// The program used another name on the connection, or none that can be read.
    OtherName,
    /// The program sent the stand-in of a secret where the secret does not belong.
    StandIn,
    /// The use of a secret at this host was not approved, or is not possible.
    SecretUse,
    /// Nobody is at work.
    Idle,
    /// Too many connections at once.
    Busy,
    /// The session has transferred as much as it may.
    Bytes,
    /// The server could not decide.
    Failed,
}

impl BlockReason {
    pub const ALL: [Self; 13] = [
        Self::Closed,
        Self::NotListed,
        Self::Denied,
        Self::Private,
        Self::Own,
        Self::Resolver,
        Self::OtherName,
        Self::StandIn,
        Self::SecretUse,
        Self::Idle,
        Self::Busy,
        Self::Bytes,
        Self::Failed,
    ];

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::NotListed => "not_listed",
            Self::Denied => "denied",
            Self::Private => "private",
            Self::Own => "own",
            Self::Resolver => "resolver",
            Self::OtherName => "other_name",
            Self::StandIn => "stand_in",
            Self::SecretUse => "secret_use",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Bytes => "bytes",
            Self::Failed => "failed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Returns the sentence for people and for programs that show it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Closed => "the network of this session is closed: its owner can open it",
            Self::NotListed => "this host is not on the list of this session: its owner can add it",
            Self::Denied => "a person refused this host",
            Self::Private => {
                "this address is not on the public internet: an administrator can allow its range in the settings"
            }
            Self::Own => "the server that runs this session cannot be reached from it",
            Self::Resolver => "other DNS resolvers are blocked; use this computer's own",
            Self::OtherName => {
                "the program used another name on the connection than it asked for, or none that can be read"
            }
            Self::StandIn => {
                "the program sent the stand-in of a secret to a place that the secret is not for"
            }
            Self::SecretUse => {
                "a secret was not used at this host: its owner did not approve it, or it is gone"
            }
            Self::Idle => "nobody is at work in this session: send it a message, or take control",
            Self::Busy => {
                "this session or its owner's sessions together have too many connections: wait until some end"
            }
            Self::Bytes => "this session has transferred as much as the settings allow",
            Self::Failed => "the server could not decide about this connection: try again",
        }
    }
}
