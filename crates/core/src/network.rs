//! The network of a sandbox: connections that its programs make, and the server's decision about each.
//!
//! A runner dials the server once per connection of a program. The first message is a [`NetworkRequest`], the answer is
//! a [`NetworkAnswer`], and after [`NetworkAnswer::Connected`] every message carries raw bytes. An empty message ends
//! its direction. A sandbox provider hands the connection over at the [`NetworkEntrance`], and the server resolves,
//! decides, dials and counts bytes.

pub mod address;
pub mod guard;
pub mod policy;
pub mod question;
pub mod record;
pub mod resolvers;
pub mod rule;
pub mod shares;
pub mod stand_in;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::{id::SessionId, sandbox::ByteStream};

/// The number of connections that may wait to be accepted.
const MOST_WAITING: usize = 256;

/// The other end of a connection, as the program named it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkHost {
    /// A name that the program had resolved: lower case, ASCII, without a dot at its end.
    Name(String),
    /// An address that the program used without a name.
    Address(IpAddr),
}

impl std::fmt::Display for NetworkHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// A request of a runner on behalf of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NetworkRequest {
    /// Connect to a port of a host over TCP.
    Connect { host: NetworkHost, port: u16 },
    /// Tell whether this name has an address. The runner never learns the address.
    Resolve { name: String },
}

/// The server's answer to a [`NetworkRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NetworkAnswer {
    /// The connection is made, and bytes follow.
    Connected,
    /// The name has an address.
    Found,
    /// The name has no address.
    NotFound,
    /// The network policy does not allow it. The reason is for people.
    Refused { reason: String },
    /// It is allowed but failed.
    Failed { failure: NetworkFailure },
}

/// The failure of an allowed connection or lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkFailure {
    /// The host refused the connection.
    Refused,
    /// There is no route to the host.
    Unreachable,
    TimedOut,
    /// The resolver did not answer.
    Resolver,
}

/// A connection that carries one [`NetworkRequest`].
#[derive(Debug)]
pub struct NetworkConnection {
    pub session: SessionId,
    pub stream: ByteStream,
    pub by: ConnectionMaker,
}

/// The party that makes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionMaker {
    /// A program in the sandbox, through its runner. Or the server itself, for an MCP server that the session's people
    /// chose: the same rules apply.
    Session,
    /// The server, for an MCP server that the deployment's settings name. Only a closed network keeps it away.
    Deployment,
}

/// The point at which sandbox providers hand over connections.
#[derive(Debug, Clone)]
pub struct NetworkEntrance {
    connections: mpsc::Sender<NetworkConnection>,
}

impl NetworkEntrance {
    /// Returns the entrance and the receiver of its connections.
    pub fn new() -> (Self, mpsc::Receiver<NetworkConnection>) {
        let (connections, taken) = mpsc::channel(MOST_WAITING);
        (Self { connections }, taken)
    }

    /// Hands over a connection. Returns `false` if too many are waiting; the connection is then closed.
    #[must_use]
    pub fn bring(&self, connection: NetworkConnection) -> bool {
        self.connections.try_send(connection).is_ok()
    }
}
