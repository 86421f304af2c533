//! Taking the runner's calls.
//!
//! Any program in the sandbox can reach the socket, so a caller has to show the token, in
//! time, and only so many may try at once.

use std::{sync::Arc, time::Duration};

use deskhand_core::tasks::Tasks;
use deskhand_runner_protocol::{CONTROL_PATH, GATEWAY_PATH, LONGEST_MESSAGE_BYTES, stream_path};
use subtle::ConstantTimeEq;
use tokio::{
    net::{UnixListener, UnixStream},
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

use super::{Link, Socket, stream};

/// How long a caller may take to say who it is.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(5);
/// How many callers may be at that at once. The runner itself needs one or two.
const MOST_HANDSHAKES: usize = 16;
/// How long to wait when the machine has no descriptor left for a caller.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a caller may dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Control,
    Stream(u64),
    Gateway,
}

/// Takes calls until the link ends.
pub(crate) async fn accept_calls(listener: UnixListener, link: Arc<Link>, tasks: Tasks) {
    let handshakes = Arc::new(Semaphore::new(MOST_HANDSHAKES));
    loop {
        let call = tokio::select! {
            () = link.ended.cancelled() => return,
            call = listener.accept() => call,
        };
        match call {
            Ok((stream, _)) => {
                let Ok(permit) = Arc::clone(&handshakes).try_acquire_owned() else {
                    tracing::debug!("a call to the runner's socket was dropped: too many at once");
                    continue;
                };
                let link = Arc::clone(&link);
                tasks.spawn("runner connection", async move {
                    let admitted = timeout(HANDSHAKE_PATIENCE, shake_hands(stream, &link)).await;
                    drop(permit);
                    if let Ok(Some((route, socket))) = admitted {
                        link.serve(route, socket).await;
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a call of a runner could not be taken");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn shake_hands(stream: UnixStream, link: &Link) -> Option<(Route, Socket)> {
    let mut route = None;
    let config = WebSocketConfig::default()
        .max_message_size(Some(LONGEST_MESSAGE_BYTES))
        .max_frame_size(Some(LONGEST_MESSAGE_BYTES));
    #[expect(
        clippy::result_large_err,
        reason = "the handshake's callback is given by its library"
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
    match accept_hdr_async_with_config(stream, decide, Some(config)).await {
        Ok(socket) => route.map(|route| (route, socket)),
        Err(error) => {
            tracing::debug!(%error, "a call to the runner's socket was refused");
            None
        }
    }
}

impl Link {
    /// Whether a caller may come in, and to what.
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
                    gateway.take(stream::bytes_of(socket));
                }
            }
            Route::Stream(stream) => {
                let asker = self.state().streams.remove(&stream);
                if let Some(asker) = asker {
                    // Whoever asked may be gone; then the socket closes here.
                    let _ = asker.send(Ok(socket));
                }
            }
        }
    }
}
