//! The sound of a session's computer, over a WebSocket.

use std::time::Duration;

use axum::{
    extract::{
        State,
        ws::{
            Message, WebSocket, WebSocketUpgrade, close_code, rejection::WebSocketUpgradeRejection,
        },
    },
    response::Response,
};
use bytes::Bytes;
use deskhand_app::{Admission, SoundListener};
use deskhand_core::id::SessionId;
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::{IDLE_TIMEOUT, PING_INTERVAL, TOO_SLOW, close};
use crate::{
    Shared, caller::Pass, extract::Id, metrics::OpenSocket, paths::SessionPath, problem::Problem,
    sockets,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(listen))
}

/// The size of the read buffer, and the longest message that a client may send. Clients only answer pings.
const READ_BYTES: usize = 1024;
/// The timeout for a client to take a frame. Until then it only loses frames.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

const GONE: &str = "the sound is no longer available; reconnect";
const NOT_ALLOWED: &str = "you may no longer see this session";

/// Listens to the sound of the computer over a WebSocket.
///
/// Each binary message is a frame: 20 ms of sound as a packet of Opus, after a head of 20 bytes with the number of the
/// frame and the time at which it was captured (`docs/api.md` has the format). Nothing is sent while it is silent. The
/// client only has to answer pings. One that is slow loses frames, and the server closes the connection with 1013 if it
/// takes none for 30 seconds, with 1008 if the user may no longer see the session, and with 1001 when the sandbox ends
/// or the server shuts down. It wakes no session. A request without an upgrade is answered with the reason why nobody
/// can listen, or else with 400.
#[utoipa::path(
    get,
    path = "/sessions/{id}/sound",
    operation_id = "listen",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 409, description = "`no_sandbox`, `no_screen`, `no_sound_card`"),
        (status = 429, description = "`too_many_sockets`"),
        (status = 503, description = "`sound_failed`"),
    ),
)]
pub(crate) async fn listen(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let counted = shared.sockets.open(pass.identity.user)?;
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    // Pages cannot read the answer to a refused upgrade, so they ask again without one.
    let listener = shared.app.computers().listen(viewer, id).await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let upgrade = sockets::bounded(upgrade.read_buffer_size(READ_BYTES), READ_BYTES);
    let span = tracing::Span::current();
    Ok(upgrade.on_upgrade(move |socket| async move {
        let relay = relay(socket, listener, admission, shared.shutdown.clone());
        relay.instrument(span).await;
        drop(counted);
    }))
}

/// Sends frames until the sound, the client or their right ends.
async fn relay(
    socket: WebSocket,
    listener: SoundListener,
    admission: Admission,
    shutdown: CancellationToken,
) {
    let _counted = OpenSocket::count("sound");
    let (mut to_client, mut from_client) = socket.split();
    let (code, reason) = tokio::select! {
        end = down(listener, &mut to_client) => end,
        end = up(&mut from_client) => end,
        () = admission.lost() => (close_code::POLICY, NOT_ALLOWED),
        () = shutdown.cancelled() => (close_code::AWAY, GONE),
    };
    close(to_client, code, reason).await;
}

async fn down(
    mut listener: SoundListener,
    to_client: &mut (impl Sink<Message> + Unpin),
) -> (u16, &'static str) {
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.reset();
    loop {
        let message = tokio::select! {
            frame = listener.next() => match frame {
                Some(frame) => Message::Binary(frame),
                None => return (close_code::AWAY, GONE),
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        let sent = tokio::time::timeout(SEND_TIMEOUT, to_client.send(message)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return (close_code::AGAIN, TOO_SLOW);
        }
    }
}

/// Waits until the client leaves. Clients answer every ping, so a silent one is gone.
async fn up(
    from_client: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
) -> (u16, &'static str) {
    while let Ok(Some(Ok(message))) = tokio::time::timeout(IDLE_TIMEOUT, from_client.next()).await {
        if let Message::Close(_) = message {
            break;
        }
    }
    (close_code::NORMAL, "the client left")
}
