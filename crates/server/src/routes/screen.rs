//! The screen: live over RFB, and as pictures.

use std::time::Duration;

use axum::{
    extract::{
        State,
        ws::{
            Message, WebSocket, WebSocketUpgrade, close_code, rejection::WebSocketUpgradeRejection,
        },
    },
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use deskhand_app::{Admission, Computers, Connection, Picture};
use deskhand_core::{blob::BlobName, id::SessionId, sandbox::ByteStream, user::Scope};
use futures::{SinkExt, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::{IDLE_TIMEOUT, PING_INTERVAL, close};
use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::Id,
    metrics::OpenSocket,
    paths::SessionPath,
    problem::Problem,
    screen_input::{Hands, LONGEST_MESSAGE_BYTES, ScreenInput},
    sockets,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(screenshot))
        .routes(routes!(blob))
        .routes(routes!(watch))
}

/// The timeout for releasing the keys and buttons that a user held down when they left.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// The size of the read buffer. It is small because key and mouse messages are short.
///
/// The buffer is filled with zeros before each read of the socket.
const READ_BYTES: usize = 4 * 1024;

/// Shows the screen now, or the newest picture in the log.
///
/// The latter is shown if the sandbox is not running or another user has control.
#[utoipa::path(
    get,
    path = "/sessions/{id}/screenshot",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 200, description = "a picture", content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 404, description = "`no_screenshot`"),
    ),
)]
pub(crate) async fn screenshot(
    State(computers): State<Computers>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
) -> Result<Response, Problem> {
    let picture = computers.screenshot(user, id).await?;
    Ok(show(picture, "no-store"))
}

/// Shows a picture that an event names.
#[utoipa::path(
    get,
    path = "/blobs/{name}",
    tag = "computer",
    params(("name" = BlobName, Path, description = "the name of the picture")),
    responses(
        (status = 200, description = "the picture", content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 404, description = "`no_blob`"),
    ),
)]
pub(crate) async fn blob(
    State(computers): State<Computers>,
    caller: Caller,
    Id(name): Id<BlobName>,
) -> Result<Response, Problem> {
    let picture = computers.blob(caller.viewer(), name).await?;
    // A blob never changes, but only the viewer's own cache may keep it, and not long after it was deleted.
    Ok(show(picture, "private, max-age=3600, immutable"))
}

fn show(picture: Picture, caching: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, picture.format.media_type()),
        (header::CACHE_CONTROL, caching),
    ];
    (headers, picture.bytes).into_response()
}

/// Watches the screen over a WebSocket.
///
/// It speaks RFB (VNC) like noVNC, with the subprotocol `binary` and one binary message of at most 64 KiB per chunk of
/// bytes. Any number of clients may watch. The server passes on keys, pointer and clipboard only from the user who has control. It wakes
/// a sleeping session for users who may send messages in it.
#[utoipa::path(
    get,
    path = "/sessions/{id}/vnc",
    operation_id = "watch_screen",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 409, description = "`no_sandbox`, `no_screen`"),
        (status = 429, description = "`too_many_awake`, `too_many_sockets`"),
    ),
)]
pub(crate) async fn watch(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let counted = shared.sockets.open(pass.identity.user)?;
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    let may_wake = pass.identity.scope >= Scope::Write;
    let computers = shared.app.computers();
    let screen = computers.open_screen(viewer, id, may_wake).await?;
    let connection = shared.app.control().connect(pass.identity.user, id);
    let upgrade = upgrade.protocols(["binary"]).read_buffer_size(READ_BYTES);
    let upgrade = sockets::bounded(upgrade, LONGEST_MESSAGE_BYTES);
    let span = tracing::Span::current();
    Ok(upgrade.on_upgrade(move |socket| async move {
        let relay = relay(
            socket,
            screen,
            connection,
            admission,
            shared.shutdown.clone(),
        );
        relay.instrument(span).await;
        drop(counted);
    }))
}

/// Copies bytes both ways until one side is done.
///
/// Each side waits for the other, so a slow client slows only its own picture. Input is passed on only while the user
/// has control.
async fn relay(
    socket: WebSocket,
    mut screen: ByteStream,
    mut connection: Connection,
    admission: Admission,
    shutdown: CancellationToken,
) {
    let _counted = OpenSocket::count("screen");
    let may_drive = admission.may_drive();
    let mut input = ScreenInput::default();
    let (mut to_client, mut from_client) = socket.split();
    let down = async {
        let mut ping = tokio::time::interval(PING_INTERVAL);
        loop {
            let message = tokio::select! {
                bytes = screen.incoming.next() => bytes.map(Message::Binary),
                _ = ping.tick() => Some(Message::Ping(Bytes::new())),
            };
            let Some(message) = message else { break };
            if to_client.send(message).await.is_err() {
                break;
            }
        }
    };
    let up = async {
        loop {
            let message = tokio::select! {
                message = from_client.next() => Some(message),
                () = connection.changed() => None,
                // A user who is no longer there must not keep control.
                () = tokio::time::sleep(IDLE_TIMEOUT) => break,
            };
            let hands = if may_drive && connection.drives() {
                Hands::On
            } else {
                Hands::Off
            };
            let bytes = match message {
                Some(Some(Ok(Message::Binary(bytes)))) => input.pass(&bytes, hands),
                Some(Some(Ok(_))) => continue,
                Some(Some(Err(_)) | None) => break,
                // Control has changed: the user has lost it or has it now.
                None if hands == Hands::Off => Ok(input.release()),
                None => continue,
            };
            let Ok(bytes) = bytes else { break };
            if !bytes.is_empty() && screen.outgoing.send(bytes).await.is_err() {
                break;
            }
        }
    };
    let (code, reason) = tokio::select! {
        () = down => (close_code::AWAY, "the screen is no longer available"),
        () = up => (close_code::AWAY, "the screen is no longer available"),
        () = admission.changed() => (close_code::POLICY, "your right in this session has changed"),
        () = shutdown.cancelled() => (close_code::AWAY, "the screen is no longer available"),
    };
    // Keys and buttons must not stay down. If this fails, the screen is gone anyway.
    let _ = tokio::time::timeout(RELEASE_TIMEOUT, screen.outgoing.send(input.release())).await;
    if let Ok(socket) = from_client.reunite(to_client) {
        close(socket, code, reason).await;
    }
}
