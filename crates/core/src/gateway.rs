//! The model gateway: programs in a sandbox ask models, and the keys stay outside.
//!
//! A provider of sandboxes carries each connection of such a program to the [`Entrance`]. Whoever
//! waits behind it speaks HTTP there, and asks the vendor through [`ModelGateway`].

use std::{io, sync::Arc};

use bytes::Bytes;
use futures::{future::BoxFuture, stream::BoxStream};
use tokio::sync::mpsc;

use crate::{
    id::SessionId,
    model::{Price, Usage},
    sandbox::ByteStream,
    secret::Secret,
};

/// Connections that may wait until somebody takes them.
const MOST_WAITING: usize = 64;

/// A connection of a program in a sandbox.
pub struct GatewayConnection {
    pub session: SessionId,
    /// What its requests must show: the token of this very sandbox.
    pub token: Secret,
    pub stream: ByteStream,
}

/// Where providers of sandboxes bring connections.
#[derive(Debug, Clone)]
pub struct Entrance {
    gateway: Arc<dyn ModelGateway>,
    connections: mpsc::Sender<GatewayConnection>,
}

impl Entrance {
    /// The entrance, and what comes through it.
    pub fn new(gateway: Arc<dyn ModelGateway>) -> (Self, mpsc::Receiver<GatewayConnection>) {
        let (connections, taken) = mpsc::channel(MOST_WAITING);
        let entrance = Self {
            gateway,
            connections,
        };
        (entrance, taken)
    }

    /// What programs in a sandbox find in their environment when the gateway is at `address` and
    /// takes `token`. Empty when no vendor can be asked.
    pub fn variables(&self, address: &str, token: &Secret) -> Vec<(String, Secret)> {
        self.gateway.variables(address, token)
    }

    /// Hands a connection over. Returns `false` if too many wait already; then it is closed instead.
    #[must_use]
    pub fn bring(&self, connection: GatewayConnection) -> bool {
        self.connections.try_send(connection).is_ok()
    }
}

/// A request as a program wrote it.
#[derive(Debug, Clone)]
pub struct GatewayRequest {
    /// Begins with a slash.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// What a program is answered.
pub struct GatewayAnswer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: BoxStream<'static, io::Result<Passing>>,
}

/// A part of an answer on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    Bytes(Bytes),
    /// What the answer has taken so far.
    Usage(Usage),
}

/// Why the gateway does not pass a request on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GatewayRefusal {
    pub kind: GatewayRefusalKind,
    /// For whoever reads the program's error.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayRefusalKind {
    /// It did not show the sandbox's token.
    Token,
    /// Nobody is behind this path.
    Path,
    /// It asks for something that the gateway does not do.
    Request,
    TooLarge,
    /// Nobody is at work in the session.
    Idle,
    /// The budget is used up.
    Budget,
    /// Too much at once.
    Busy,
    /// The vendor could not be reached.
    Vendor,
    /// It is our own fault.
    Server,
}

impl GatewayRefusal {
    pub fn new(kind: GatewayRefusalKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// The vendors as programs know them, each behind the paths of its own API.
pub trait ModelGateway: Send + Sync + std::fmt::Debug {
    /// See [`Entrance::variables`].
    fn variables(&self, address: &str, token: &Secret) -> Vec<(String, Secret)>;

    /// Whether somebody is behind this path, and takes this method.
    fn serves(&self, method: &str, path: &str) -> bool;

    /// Reads a request, and checks everything about it that can be checked without asking anybody.
    fn read(&self, request: GatewayRequest) -> Result<Box<dyn GatewayCall>, GatewayRefusal>;

    /// A no, as the vendor behind this path would say it.
    fn refuse(&self, path: &str, refusal: &GatewayRefusal) -> GatewayAnswer;
}

/// A request that may be passed on.
pub trait GatewayCall: Send + std::fmt::Debug {
    /// `vendor/name`.
    fn model(&self) -> &str;

    /// What the model costs, if that is known.
    fn price(&self) -> Option<Price>;

    /// Whether the vendor's prices are known, so that a model without one is none that was meant to be used.
    fn is_of_priced_vendor(&self) -> bool;

    /// Whether an answer to it costs nothing.
    fn is_free(&self) -> bool;

    /// Asks the vendor, with its key. Dropping the answer gives the call up.
    fn send(self: Box<Self>) -> BoxFuture<'static, Result<GatewayAnswer, GatewayRefusal>>;
}
