//! Connections to the host of an MCP server, through the server's egress.

use std::{
    io,
    net::Ipv4Addr,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    id::SessionId,
    network::{
        ConnectionMaker, NetworkAnswer, NetworkConnection, NetworkEntrance, NetworkFailure,
        NetworkHost, NetworkRequest,
    },
    sandbox::ByteStream,
    tool_server::{HostConnector, ToolServerError, address::HttpAddress},
};
use futures::{SinkExt, StreamExt, channel::mpsc};

/// The number of pieces that may wait in each direction.
const MOST_PIECES: usize = 16;

/// Connects to the host of one MCP server.
#[derive(Debug)]
pub(super) struct EgressConnector {
    entrance: NetworkEntrance,
    session: SessionId,
    by: ConnectionMaker,
    host: NetworkHost,
    port: u16,
    /// A connection that was opened in advance.
    ready: Mutex<Option<ByteStream>>,
}

impl EgressConnector {
    pub(super) fn new(
        entrance: NetworkEntrance,
        session: SessionId,
        by: ConnectionMaker,
        address: &HttpAddress,
    ) -> Self {
        let host = match &address.host {
            // Resolvers need not know this name.
            NetworkHost::Name(name) if name == "localhost" && by == ConnectionMaker::Deployment => {
                NetworkHost::Address(Ipv4Addr::LOCALHOST.into())
            }
            host @ (NetworkHost::Name(_) | NetworkHost::Address(_)) => host.clone(),
        };
        Self {
            entrance,
            session,
            by,
            host,
            port: address.port,
            ready: Mutex::default(),
        }
    }

    /// Opens the next connection in advance. It may wait for a person, so the time of this does not count as the
    /// server's.
    pub(super) async fn prepare(&self) -> Result<(), ToolServerError> {
        let opened = self.dial().await?;
        *self.ready() = Some(opened);
        Ok(())
    }

    async fn dial(&self) -> Result<ByteStream, ToolServerError> {
        let (mut to_egress, incoming) = mpsc::channel::<Bytes>(MOST_PIECES);
        let (outgoing, mut from_egress) = mpsc::channel::<Bytes>(MOST_PIECES);
        let stream = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let is_taken = self.entrance.bring(NetworkConnection {
            session: self.session,
            stream,
            by: self.by,
        });
        if !is_taken {
            return Err(unreachable("too many connections are waiting: try again"));
        }
        let request = NetworkRequest::Connect {
            host: self.host.clone(),
            port: self.port,
        };
        let request = serde_json::to_vec(&request);
        let request = request.map_err(|error| unreachable(&error.to_string()))?;
        let sent = to_egress.send(request.into()).await;
        sent.map_err(|_gone| unreachable("the server is shutting down"))?;
        let answer = from_egress.next().await;
        let answer = answer.and_then(|answer| serde_json::from_slice(&answer).ok());
        match answer {
            Some(NetworkAnswer::Connected) => Ok(ByteStream {
                incoming: Box::pin(from_egress),
                outgoing: Box::pin(to_egress.sink_map_err(io::Error::other)),
            }),
            Some(NetworkAnswer::Refused { reason }) => Err(unreachable(&reason)),
            Some(NetworkAnswer::NotFound) => Err(unreachable("its name has no address")),
            Some(NetworkAnswer::Failed { failure }) => Err(unreachable(sentence(failure))),
            Some(NetworkAnswer::Found) | None => Err(unreachable("the connection failed")),
        }
    }

    fn ready(&self) -> std::sync::MutexGuard<'_, Option<ByteStream>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl HostConnector for EgressConnector {
    async fn connect(&self) -> Result<ByteStream, ToolServerError> {
        let ready = self.ready().take();
        match ready {
            Some(ready) => Ok(ready),
            None => self.dial().await,
        }
    }
}

fn unreachable(reason: &str) -> ToolServerError {
    ToolServerError::Unreachable(reason.to_owned())
}

fn sentence(failure: NetworkFailure) -> &'static str {
    match failure {
        NetworkFailure::Refused => "it refused the connection",
        NetworkFailure::Unreachable => "there is no route to it",
        NetworkFailure::TimedOut => "connecting took too long",
        NetworkFailure::Resolver => "its name could not be resolved",
    }
}
