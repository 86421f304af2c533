//! The screen of a session's computer as video, over a WebSocket.

use axum::{
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    response::Response,
};
use deskhand_core::id::SessionId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Pass,
    extract::Id,
    frames::{FrameRelay, stream_of},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(watch_video))
}

pub(crate) const GONE: &str = "the video is no longer available; reconnect";
const NOT_ALLOWED: &str = "you may no longer see this session";

/// Watches the screen of the computer as video over a WebSocket.
///
/// Each binary message is a frame: a picture in H.264, after a head of 20 bytes with the number of the frame, its layer,
/// its size and the time at which it was captured (`docs/api.md` has the format). The first one is a key frame. Nothing
/// is sent while the screen does not change. The client only has to answer pings. One that is slow gets fewer frames,
/// and the server closes the connection with 1013 if it takes none for 30 seconds, with 1008 if the user may no longer
/// see the session, and with 1001 when the sandbox ends or the server shuts down. It wakes no session. A request without
/// an upgrade is answered with the reason why nobody can watch, or else with 400.
#[utoipa::path(
    get,
    path = "/sessions/{id}/video",
    operation_id = "watch_video",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 409, description = "`no_sandbox`, `no_screen`"),
        (status = 429, description = "`too_many_sockets`"),
        (status = 503, description = "`video_failed`"),
    ),
)]
pub(crate) async fn watch_video(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let counted = shared.sockets.open(pass.identity.user)?;
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    // Pages cannot read the answer to a refused upgrade, so they ask again without one.
    let video = shared.app.computers().watch_video(viewer, id).await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let relay = FrameRelay {
        name: "video",
        frames: stream_of!(video),
        lost: admission.lost(),
        lost_reason: NOT_ALLOWED,
        gone_reason: GONE,
        shutdown: shared.shutdown.clone(),
        counted,
    };
    Ok(relay.accept(upgrade))
}
