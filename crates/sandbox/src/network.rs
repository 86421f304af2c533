//! The network of one sandbox: hands the connections of its programs over to the server.

use std::{future::ready, sync::Arc};

use deskhand_core::{
    id::SessionId,
    network::{ConnectionMaker, NetworkConnection, NetworkEntrance},
    sandbox::ByteStream,
};
use futures::{StreamExt, stream::once};
use tokio::sync::Semaphore;

/// The most connections of one sandbox besides those to other hosts: lookups, and connections dialled in advance.
const MOST_OTHERS: usize = 256;

/// Forwards connections of one sandbox to the server's end of the network.
#[derive(Debug)]
pub(crate) struct NetworkDoor {
    session: SessionId,
    entrance: NetworkEntrance,
    places: Arc<Semaphore>,
}

impl NetworkDoor {
    /// Returns the door of a sandbox whose runner makes at most `n_hosts` connections to other hosts.
    pub(crate) fn new(session: SessionId, entrance: NetworkEntrance, n_hosts: usize) -> Self {
        Self {
            session,
            entrance,
            places: Arc::new(Semaphore::new(n_hosts + MOST_OTHERS)),
        }
    }

    /// Accepts a connection of the sandbox's runner. It is handed over when its first message arrives, since the runner
    /// dials some connections in advance.
    pub(crate) async fn take(&self, mut stream: ByteStream) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::debug!("closed a connection to the network: the sandbox has too many");
            return;
        };
        let Some(first) = stream.incoming.next().await else {
            return;
        };
        let incoming = stream.incoming.inspect(move |_| {
            // The permit is held as long as the stream exists.
            let _ = &place;
        });
        let incoming = once(ready(first)).chain(incoming);
        let is_taken = self.entrance.bring(NetworkConnection {
            session: self.session,
            stream: ByteStream {
                incoming: Box::pin(incoming),
                ..stream
            },
            by: ConnectionMaker::Session,
        });
        if !is_taken {
            tracing::warn!("closed a connection to the network: too many are waiting");
        }
    }
}
