//! Connections that arrive through the links of sandboxes instead of the network.

use std::{io, net::Ipv4Addr};

use axum::{Router, extract::ConnectInfo};
use deskhand_core::{gateway::GatewayConnection, id::SessionId, secret::Secret};
use futures::StreamExt;
use tokio::{io::join, sync::mpsc, task::JoinSet};
use tokio_util::{
    io::{CopyToBytes, SinkWriter, StreamReader},
    sync::CancellationToken,
};

use crate::{
    address::AddressBlock,
    limits::ConnectionLimits,
    port::{Places, serve_connection},
};

/// The sandbox that a connection comes from.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) session: SessionId,
    /// The token that its requests must carry.
    pub(super) token: Secret,
}

/// Serves connections from sandboxes until `shutdown` fires, with the timeouts of the port.
pub(super) async fn serve(
    mut connections: mpsc::Receiver<GatewayConnection>,
    router: Router,
    shutdown: CancellationToken,
) {
    // The sandbox's side bounds the connections of each sandbox.
    let places = Places::new(ConnectionLimits::NONE);
    let mut served = JoinSet::new();
    loop {
        let connection = tokio::select! {
            () = shutdown.cancelled() => break,
            // If the channel is closed, no connections will come; wait for the shutdown.
            Some(connection) = connections.recv() => connection,
            Some(_) = served.join_next() => continue,
            else => {
                shutdown.cancelled().await;
                break;
            }
        };
        let GatewayConnection {
            session,
            token,
            stream,
        } = connection;
        let Some(place) = places.enter(AddressBlock::of(Ipv4Addr::LOCALHOST.into())) else {
            continue;
        };
        let reader = StreamReader::new(stream.incoming.map(io::Result::Ok));
        let writer = SinkWriter::new(CopyToBytes::new(stream.outgoing));
        let info = ConnectInfo(Peer { session, token });
        let io = join(reader, writer);
        served.spawn(serve_connection(
            io,
            place,
            info,
            router.clone(),
            shutdown.clone(),
        ));
    }
    while served.join_next().await.is_some() {}
}
