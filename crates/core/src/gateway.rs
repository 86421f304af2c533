//! The model gateway: programs in a sandbox call models, and the keys stay outside.
//!
//! A sandbox provider passes each connection of such a program to the [`Entrance`]. The server at its other end
//! speaks HTTP on it and calls the vendor through [`ModelGateway`].

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

/// The number of connections that may wait to be accepted.
const MOST_WAITING: usize = 64;

/// A connection of a program in a sandbox.
pub struct GatewayConnection {
    pub session: SessionId,
    /// The token that its requests must carry. Each sandbox has its own.
    pub token: Secret,
    pub stream: ByteStream,
}

/// The point at which sandbox providers hand over connections.
#[derive(Debug, Clone)]
pub struct Entrance {
    gateway: Arc<dyn ModelGateway>,
    connections: mpsc::Sender<GatewayConnection>,
}

impl Entrance {
    /// Returns the entrance and the receiver of its connections.
    pub fn new(gateway: Arc<dyn ModelGateway>) -> (Self, mpsc::Receiver<GatewayConnection>) {
        let (connections, taken) = mpsc::channel(MOST_WAITING);
        let entrance = Self {
            gateway,
            connections,
        };
        (entrance, taken)
    }

    /// Returns the environment variables for programs in a sandbox when the gateway is at `address` and accepts
    /// `token`. The list is empty if no vendor is available.
    pub fn variables(&self, address: &str, token: &Secret) -> Vec<(String, Secret)> {
        self.gateway.variables(address, token)
    }

    /// Hands over a connection. Returns `false` if too many are waiting; the connection is then closed.
    #[must_use]
    pub fn bring(&self, connection: GatewayConnection) -> bool {
        self.connections.try_send(connection).is_ok()
    }
}

/// A request as the program sent it.
#[derive(Debug, Clone)]
pub struct GatewayRequest {
    /// Starts with a slash.
    pub path: String,
    /// The part after the question mark.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// The response to a program.
pub struct GatewayAnswer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: BoxStream<'static, io::Result<Passing>>,
}

/// A part of a streamed response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    Bytes(Bytes),
    /// The tokens that the response has used so far.
    Usage(Usage),
}

/// The reason why the gateway does not forward a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GatewayRefusal {
    pub kind: GatewayRefusalKind,
    /// The text for the reader of the program's error.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayRefusalKind {
    /// The request did not carry the sandbox's token.
    Token,
    /// No vendor is behind this path.
    Path,
    /// The request asks for something that the gateway does not support.
    Request,
    TooLarge,
    /// The session is idle.
    Idle,
    /// The budget is used up.
    Budget,
    /// Too many requests at once.
    Busy,
    /// The requests that the server reads are too large together.
    Full,
    /// The vendor could not be reached.
    Vendor,
    /// The server itself failed.
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

/// The vendors as programs know them, each under the paths of its own API.
pub trait ModelGateway: Send + Sync + std::fmt::Debug {
    /// See [`Entrance::variables`].
    fn variables(&self, address: &str, token: &Secret) -> Vec<(String, Secret)>;

    /// Returns true if a vendor is behind this path and accepts this method.
    fn serves(&self, method: &str, path: &str) -> bool;

    /// Parses a request, and checks everything that can be checked without calling the vendor.
    fn read(&self, request: GatewayRequest) -> Result<Box<dyn GatewayCall>, GatewayRefusal>;

    /// Returns a refusal in the format of the vendor behind this path.
    fn refuse(&self, path: &str, refusal: &GatewayRefusal) -> GatewayAnswer;
}

/// A request that may be forwarded.
pub trait GatewayCall: Send + std::fmt::Debug {
    /// `vendor/name`.
    fn model(&self) -> &str;

    /// Returns the price of the model, if it is known.
    fn price(&self) -> Option<Price>;

    /// Returns true if the model costs money and its price is not known for sure.
    fn has_unknown_price(&self) -> bool;

    /// Estimates the tokens of the request.
    fn prompt_tokens(&self) -> u64;

    /// Returns true if the response costs nothing.
    fn is_free(&self) -> bool;

    /// Calls the vendor with its key. Dropping the answer cancels the call.
    fn send(self: Box<Self>) -> BoxFuture<'static, Result<GatewayAnswer, GatewayRefusal>>;
}
