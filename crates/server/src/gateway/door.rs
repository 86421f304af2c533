//! Connections that arrive through the links of sandboxes instead of the network.

use std::{future::pending, io};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use deskhand_core::{gateway::GatewayConnection, id::SessionId, secret::Secret};
use futures::StreamExt;
use tokio::{
    io::{AsyncRead, AsyncWrite, Join, join},
    sync::mpsc,
};
use tokio_util::io::{CopyToBytes, SinkWriter, StreamReader};

/// Accepts connections from sandboxes.
pub(super) struct Door(pub(super) mpsc::Receiver<GatewayConnection>);

/// The sandbox that a connection comes from.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) session: SessionId,
    /// The token that its requests must carry.
    pub(super) token: Secret,
}

impl Listener for Door {
    type Io = Join<Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Peer) {
        // If the channel is closed, no connections will come; wait for the shutdown.
        let Some(connection) = self.0.recv().await else {
            return pending().await;
        };
        let GatewayConnection {
            session,
            token,
            stream,
        } = connection;
        let reader = StreamReader::new(stream.incoming.map(io::Result::Ok));
        let writer = SinkWriter::new(CopyToBytes::new(stream.outgoing));
        (
            join(Box::new(reader), Box::new(writer)),
            Peer { session, token },
        )
    }

    fn local_addr(&self) -> io::Result<Peer> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Connected<IncomingStream<'_, Door>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.remote_addr().clone()
    }
}
