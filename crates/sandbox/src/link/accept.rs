//! Accepts the runner's connections.
//!
//! Any program in the sandbox can reach the server's end. So a connection has to present the token in time, and
//! only a few may try at once. Once the runner has presented it, connections of other processes are dropped, so that
//! they cannot take the runner's places.

use std::{
    io,
    sync::{Arc, PoisonError},
    time::Duration,
};

use deskhand_core::tasks::Tasks;
use deskhand_runner_protocol::{
    CONTROL_PATH, Connection, GATEWAY_PATH, LONGEST_MESSAGE_BYTES, NETWORK_PATH, bytes_of,
    stream_path,
};
use futures::{Stream, StreamExt};
use subtle::ConstantTimeEq;
use tokio::{
    net::UnixListener,
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    accept_hdr_async_with_config,
    tungstenite::{
        handshake::server::{ErrorResponse, Request, Response},
        http::{StatusCode, header::AUTHORIZATION},
        protocol::WebSocketConfig,
    },
};

use super::{Link, Socket};

/// The timeout of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most concurrent handshakes. The runner needs fewer, even when programs make many connections.
const MOST_HANDSHAKES: usize = 32;
/// The size of a connection's read buffer. It is small because a program may have hundreds of connections, most of them
/// quiet. Larger messages get a larger buffer while they are read.
const READ_BUFFER_BYTES: usize = 16 * 1024;
/// The pause after a connection could not be accepted, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Control,
    Stream(u64),
    Gateway,
    Network,
}

/// A connection of a process in the sandbox.
pub(crate) struct Dialled {
    pub(crate) connection: Connection,
    /// The process, where the transport tells it. Only the kernel's word counts.
    pub(crate) pid: Option<i32>,
}

/// Returns the connections of a unix socket.
pub(crate) fn unix_connections(
    listener: UnixListener,
) -> impl Stream<Item = io::Result<Dialled>> + Send {
    futures::stream::unfold(listener, |listener| async move {
        let accepted = listener.accept().await;
        let dialled = accepted.map(|(stream, _)| Dialled {
            // The kernel knows it for every local socket.
            pid: stream.peer_cred().ok().and_then(|peer| peer.pid()),
            connection: Box::new(stream) as Connection,
        });
        Some((dialled, listener))
    })
}

/// Accepts connections until the link or `connections` ends.
pub(crate) async fn accept_all(
    connections: impl Stream<Item = io::Result<Dialled>> + Send,
    link: Arc<Link>,
    tasks: Tasks,
) {
    let mut connections = std::pin::pin!(connections);
    let handshakes = Arc::new(Semaphore::new(MOST_HANDSHAKES));
    loop {
        let connection = tokio::select! {
            () = link.ended.cancelled() => return,
            connection = connections.next() => connection,
        };
        match connection {
            None => return,
            Some(Ok(Dialled { pid, .. })) if link.is_of_another(pid) => {
                tracing::debug!(pid, "dropped a connection: it is not the runner's");
            }
            Some(Ok(Dialled { connection, pid })) => {
                let Ok(permit) = Arc::clone(&handshakes).try_acquire_owned() else {
                    tracing::debug!("dropped a connection of a runner: too many at once");
                    continue;
                };
                let link = Arc::clone(&link);
                tasks.spawn("runner connection", async move {
                    let handshake = shake_hands(connection, &link);
                    let admitted = timeout(HANDSHAKE_TIMEOUT, handshake).await;
                    drop(permit);
                    if let Ok(Some((route, socket))) = admitted {
                        link.know_runner(pid);
                        link.serve(route, socket).await;
                    }
                });
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "could not accept a connection of a runner");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn shake_hands(connection: Connection, link: &Link) -> Option<(Route, Socket)> {
    let mut route = None;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(LONGEST_MESSAGE_BYTES))
        .max_frame_size(Some(LONGEST_MESSAGE_BYTES));
    #[expect(
        clippy::result_large_err,
        reason = "the library defines the type of the callback"
    )]
    let decide = |request: &Request, response: Response| match link.admit(request) {
        Ok(admitted) => {
            route = Some(admitted);
            Ok(response)
        }
        Err(status) => {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = status;
            Err(refusal)
        }
    };
    match accept_hdr_async_with_config(connection, decide, Some(config)).await {
        Ok(socket) => route.map(|route| (route, socket)),
        Err(error) => {
            tracing::debug!(%error, "refused a connection of a runner");
            None
        }
    }
}

impl Link {
    /// Returns true if the runner is known to be another process.
    fn is_of_another(&self, pid: Option<i32>) -> bool {
        let runner = *self.runner.lock().unwrap_or_else(PoisonError::into_inner);
        runner.is_some() && pid.is_some() && runner != pid
    }

    /// Remembers the first process that knew the token: it is the runner.
    fn know_runner(&self, pid: Option<i32>) {
        let mut runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner);
        *runner = runner.or(pid);
    }

    /// Checks the token and returns the purpose of the connection.
    fn admit(&self, request: &Request) -> Result<Route, StatusCode> {
        let expected = format!("Bearer {}", self.token.expose());
        let shown = request.headers().get(AUTHORIZATION);
        let is_right =
            shown.is_some_and(|shown| shown.as_bytes().ct_eq(expected.as_bytes()).into());
        if !is_right {
            return Err(StatusCode::UNAUTHORIZED);
        }
        let path = request.uri().path();
        if path == CONTROL_PATH {
            return Ok(Route::Control);
        }
        if path == GATEWAY_PATH && self.gateway.is_some() {
            return Ok(Route::Gateway);
        }
        if path == NETWORK_PATH && self.network.is_some() {
            return Ok(Route::Network);
        }
        let state = self.state();
        let stream = state.streams.keys().find(|n| stream_path(**n) == path);
        stream
            .map(|stream| Route::Stream(*stream))
            .ok_or(StatusCode::NOT_FOUND)
    }

    async fn serve(&self, route: Route, socket: Socket) {
        match route {
            Route::Control => self.serve_control(socket).await,
            Route::Gateway => {
                if let Some(gateway) = &self.gateway {
                    gateway.take(bytes_of(socket));
                }
            }
            Route::Network => {
                if let Some(network) = &self.network {
                    let taken = network.take(bytes_of(socket));
                    self.ended.run_until_cancelled(taken).await;
                }
            }
            Route::Stream(stream) => {
                let asker = self.state().streams.remove(&stream);
                if let Some(asker) = asker {
                    // If the caller is gone, the socket closes here.
                    let _ = asker.send(Ok(socket));
                }
            }
        }
    }
}
