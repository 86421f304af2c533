//! The sound of a session's computer, over a WebSocket.

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
    OpenApiRouter::new().routes(routes!(listen))
}

pub(crate) const GONE: &str = "the sound is no longer available; reconnect";
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
    let relay = FrameRelay {
        name: "sound",
        frames: stream_of!(listener),
        lost: admission.lost(),
        lost_reason: NOT_ALLOWED,
        gone_reason: GONE,
        shutdown: shared.shutdown.clone(),
        counted,
    };
    Ok(relay.accept(upgrade))
}
