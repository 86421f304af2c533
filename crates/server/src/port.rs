//! The server's side of connections: accepts them, bounds their number, and closes those that are idle or stuck.
//!
//! It uses hyper directly, because axum's own loop has no timeouts.

mod body;
mod io;
mod places;

use std::{
    net::{Ipv4Addr, SocketAddr},
    pin::pin,
    time::Duration,
};

use axum::{Router, extract::ConnectInfo};
use futures::FutureExt;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, UnixListener},
    task::JoinSet,
    time::sleep,
};
use tokio_util::{either::Either, sync::CancellationToken};

pub(crate) use self::places::{Place, Places};
use self::{body::TrackedBody, io::BoundedIo};
use crate::{ConnectionLimits, address::AddressBlock};

/// The timeout for the first request of a connection.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for each further request. It is longer than the minute for which proxies usually keep connections, so
/// that the proxy closes them first and never sends a request into one that is being closed.
const NEXT_REQUEST_TIMEOUT: Duration = Duration::from_secs(75);
/// The pause after a connection could not be accepted, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The response to a connection for which there is no place.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The sockets that the server listens on.
#[derive(Debug)]
pub struct Listeners {
    pub tcp: TcpListener,
    /// The socket for commands of the server's own user. The file system says who may connect.
    pub local: Option<UnixListener>,
}

/// Serves connections until `shutdown` fires, and then until the requests in progress are finished.
pub(crate) async fn serve(
    listeners: Listeners,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
) {
    let places = Places::new(limits);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listeners.tcp.accept() => accepted.map(|(socket, from)| {
                // An echo or a frame must not wait until the client has acknowledged the one before. A connection that
                // refuses this is broken, which its first use shows.
                let _ = socket.set_nodelay(true);
                (Either::Left(socket), from)
            }),
            accepted = accept_local(listeners.local.as_ref()) => accepted.map(|socket| {
                // For everything that counts by address, a local command comes from this machine.
                (Either::Right(socket), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            }),
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((mut socket, from)) => match places.enter(AddressBlock::of(from.ip())) {
                Some(place) => {
                    let router = router.clone();
                    let shutdown = shutdown.clone();
                    let info = ConnectInfo(from);
                    connections.spawn(serve_connection(socket, place, info, router, shutdown));
                }
                None => {
                    tracing::debug!("refused a connection: all places are taken");
                    // The buffer of a new socket has room for so little. A client that is gone needs no response.
                    let _ = socket.write_all(BUSY).now_or_never();
                }
            },
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listeners);
    while connections.join_next().await.is_some() {}
}

async fn accept_local(listener: Option<&UnixListener>) -> std::io::Result<tokio::net::UnixStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(socket, _)| socket),
        None => std::future::pending().await,
    }
}

/// Returns true if a connection failed before it was accepted.
fn is_of_the_client(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Serves one connection until it ends, is idle for too long, loses its place, or the server shuts down.
pub(crate) async fn serve_connection<I, Info>(
    io: I,
    place: Place,
    info: ConnectInfo<Info>,
    router: Router,
    shutdown: CancellationToken,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    Info: Clone + Send + Sync + 'static,
{
    let lost = place.lost();
    let activity = place.activity();
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        let in_progress = activity.begin();
        request.extensions_mut().insert(info.clone());
        router
            .call(request)
            .map(move |answered| answered.map(|response| TrackedBody::track(response, in_progress)))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST_TIMEOUT)
        .serve_connection(TokioIo::new(BoundedIo::new(io, place)), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut first_request = pin!(sleep(FIRST_REQUEST_TIMEOUT));
    let (mut is_young, mut is_ending) = (true, false);
    loop {
        tokio::select! {
            served = connection.as_mut() => {
                if let Err(error) = served {
                    tracing::trace!(error = &error as &dyn std::error::Error, "a connection ended with an error");
                }
                return;
            }
            () = lost.cancelled() => return,
            () = &mut first_request, if is_young => {
                is_young = false;
                if !activity.has_begun() {
                    return;
                }
            }
            () = shutdown.cancelled(), if !is_ending => {
                is_ending = true;
                if !activity.has_begun() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
