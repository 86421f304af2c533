//! The screen: live as RFB, and as pictures.

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
use deskhand_app::{Admission, Picture, Sessions};
use deskhand_core::{blob::BlobName, id::SessionId, sandbox::ByteStream};
use futures::{SinkExt, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::close;
use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::Id,
    metrics::OpenSocket,
    problem::Problem,
    schema::{self, SessionPath},
    watch_only::WatchOnly,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(screenshot))
        .routes(routes!(blob))
        .routes(routes!(watch))
}

/// The most that is read of a watcher at once: keys and moves of the mouse are short. The buffer is filled
/// with zeros before each look at the socket.
const READ_BYTES: usize = 4 * 1024;

/// Shows the screen now, or the newest picture in the log when the sandbox is not running.
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
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Response, Problem> {
    let picture = sessions.screenshot(caller.viewer(), id).await?;
    Ok(show(picture, "no-store"))
}

/// Shows a picture that an event names.
#[utoipa::path(
    get,
    path = "/blobs/{name}",
    tag = "computer",
    params(("name" = schema::BlobName, Path, description = "its name")),
    responses(
        (status = 200, description = "the picture", content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 404, description = "`no_blob`"),
    ),
)]
pub(crate) async fn blob(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(name): Id<BlobName>,
) -> Result<Response, Problem> {
    let picture = sessions.blob(caller.viewer(), name).await?;
    // A blob never changes, but only its viewer may keep it.
    Ok(show(picture, "private, max-age=31536000, immutable"))
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
/// RFB (VNC) as noVNC speaks it, subprotocol `binary`, one binary message per piece of bytes. Any number may watch.
#[utoipa::path(
    get,
    path = "/sessions/{id}/vnc",
    operation_id = "watch_screen",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 409, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn watch(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    let screen = shared.app.sessions().open_screen(viewer, id).await?;
    let upgrade = upgrade.protocols(["binary"]).read_buffer_size(READ_BYTES);
    let span = tracing::Span::current();
    Ok(upgrade.on_upgrade(move |socket| {
        relay(socket, screen, admission, shared.shutdown).instrument(span)
    }))
}

/// Copies bytes both ways until one side is done. Each side waits for the other, so a slow
/// watcher slows only its own picture. Of somebody who may only watch, input is left out.
async fn relay(
    socket: WebSocket,
    mut screen: ByteStream,
    admission: Admission,
    shutdown: CancellationToken,
) {
    let _counted = OpenSocket::count("screen");
    let mut filter = (!admission.may_drive()).then(WatchOnly::default);
    let (mut to_client, mut from_client) = socket.split();
    let down = async {
        while let Some(bytes) = screen.incoming.next().await {
            if to_client.send(Message::Binary(bytes)).await.is_err() {
                break;
            }
        }
    };
    let up = async {
        while let Some(Ok(message)) = from_client.next().await {
            let Message::Binary(mut bytes) = message else {
                continue;
            };
            if let Some(filter) = &mut filter {
                let Ok(allowed) = filter.pass(&bytes) else {
                    break;
                };
                bytes = allowed;
            }
            if bytes.is_empty() {
                continue;
            }
            if screen.outgoing.send(bytes).await.is_err() {
                break;
            }
        }
    };
    let (code, reason) = tokio::select! {
        () = down => (close_code::AWAY, "the screen is gone"),
        () = up => (close_code::AWAY, "the screen is gone"),
        () = admission.changed() => (close_code::POLICY, "your right in this session has changed"),
        () = shutdown.cancelled() => (close_code::AWAY, "the screen is gone"),
    };
    if let Ok(socket) = from_client.reunite(to_client) {
        close(socket, code, reason).await;
    }
}
