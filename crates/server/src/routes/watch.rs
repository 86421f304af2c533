//! Watching a session by a link, without signing in.

use axum::{
    Json,
    extract::{
        FromRequestParts, Path, State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::request::Parts,
    response::Response,
};
use deskhand_api::watch::{WatchStage, WatchView};
use deskhand_app::{WatchAccess, WatchError, WatchState};
use deskhand_core::secret::Secret;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{sound, video};
use crate::{
    Shared,
    extract::Query,
    frames::{FrameRelay, stream_of},
    paths::WatchPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(show_watch))
        .routes(routes!(watch_video_by_link))
        .routes(routes!(listen_by_link))
}

/// The most `WebSocket`s of one link. Each watcher has two.
pub(crate) const MOST_SOCKETS: usize = 1000;
/// The most names of watchers that are shown.
const MOST_NAMES: usize = 20;

const NO_LONGER_VALID: &str = "this watch link is no longer valid";

/// Somebody with a valid watch link.
pub(crate) struct Watcher(WatchAccess);

impl FromRequestParts<Shared> for Watcher {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        shared.rates.count_watcher(parts)?;
        let token = Path::<String>::from_request_parts(parts, shared).await.ok();
        let token = token.map(|Path(token)| token).unwrap_or_default();
        match shared.app.watch_links().open(&Secret::new(token)).await {
            Ok(access) => Ok(Self(access)),
            Err(refused) => {
                if let WatchError::NoLink = refused {
                    shared.rates.count_wrong_token(parts)?;
                }
                Err(refused.into())
            }
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatcherQuery {
    /// The name that the other watchers see, of at most 32 characters. Guest by default.
    #[param(max_length = 200)]
    name: Option<String>,
}

/// Shows what a watch link leads to, and who watches.
#[utoipa::path(
    get,
    path = "/watch/{token}",
    tag = "watching",
    security(()),
    params(WatchPath),
    responses(
        (status = 200, description = "the state", body = WatchView),
        (status = 404, description = "`no_watch_link`"),
        (status = 429, description = "`too_fast`"),
        (status = 500, description = "`internal`"),
        (status = 503, description = "`no_database`"),
    ),
)]
pub(crate) async fn show_watch(Watcher(access): Watcher) -> Json<WatchView> {
    let mut watchers = access.watchers();
    let n_watchers = watchers.len();
    watchers.truncate(MOST_NAMES);
    Json(WatchView {
        state: match access.state() {
            WatchState::NotStarted => WatchStage::NotStarted,
            WatchState::Live => WatchStage::Live,
            WatchState::Ended => WatchStage::Ended,
        },
        title: access.title().to_owned(),
        paused: access.is_paused(),
        n_watchers,
        watchers,
    })
}

/// Watches the screen by a link, over a WebSocket.
///
/// It is like `/sessions/{id}/video`, but nothing is sent while a person has control. The server closes the connection
/// with 1008 when the link is no longer valid.
#[utoipa::path(
    get,
    path = "/watch/{token}/video",
    tag = "watching",
    security(()),
    params(WatchPath, WatcherQuery),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 404, description = "`no_watch_link`"),
        (status = 409, description = "`no_sandbox`, `no_screen`"),
        (status = 429, description = "`too_fast`, `too_many_sockets`, `too_many_watchers`"),
        (status = 500, description = "`internal`"),
        (status = 503, description = "`no_database`, `video_failed`"),
    ),
)]
pub(crate) async fn watch_video_by_link(
    State(shared): State<Shared>,
    Watcher(access): Watcher,
    Query(query): Query<WatcherQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let counted = shared.watch_sockets.open(access.link())?;
    let video = access.video(query.name.as_deref()).await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let relay = FrameRelay {
        name: "watch_video",
        frames: stream_of!(video),
        lost: access.lost(),
        lost_reason: NO_LONGER_VALID,
        gone_reason: video::GONE,
        shutdown: shared.shutdown.clone(),
        counted,
    };
    Ok(relay.accept(upgrade))
}

/// Listens to the sound by a link, over a WebSocket.
///
/// It is like `/sessions/{id}/sound`, but nothing is sent while a person has control. The server closes the connection
/// with 1008 when the link is no longer valid.
#[utoipa::path(
    get,
    path = "/watch/{token}/sound",
    tag = "watching",
    security(()),
    params(WatchPath),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 404, description = "`no_watch_link`"),
        (status = 409, description = "`no_sandbox`, `no_screen`, `no_sound_card`"),
        (status = 429, description = "`too_fast`, `too_many_sockets`"),
        (status = 500, description = "`internal`"),
        (status = 503, description = "`no_database`, `sound_failed`"),
    ),
)]
pub(crate) async fn listen_by_link(
    State(shared): State<Shared>,
    Watcher(access): Watcher,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let counted = shared.watch_sockets.open(access.link())?;
    let sound = access.sound().await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let relay = FrameRelay {
        name: "watch_sound",
        frames: stream_of!(sound),
        lost: access.lost(),
        lost_reason: NO_LONGER_VALID,
        gone_reason: sound::GONE,
        shutdown: shared.shutdown.clone(),
        counted,
    };
    Ok(relay.accept(upgrade))
}
