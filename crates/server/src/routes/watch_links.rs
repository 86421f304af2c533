//! The watch links of a session, for its owner.

use std::time::Duration;

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::watch::{MadeWatchLinkView, WatchLinkBody, WatchLinkView, WatchLinksView};
use deskhand_app::{WatchLinks, watch_path};
use deskhand_core::id::{SessionId, WatchLinkId};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id, Ids},
    paths::{SessionPath, WatchLinkPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(watch_links, create_watch_link))
        .routes(routes!(revoke_watch_link))
}

/// Creates a link by which everybody can watch the screen and hear the sound, without signing in.
#[utoipa::path(
    post,
    path = "/sessions/{id}/watch-links",
    tag = "sessions",
    params(SessionPath),
    request_body = WatchLinkBody,
    responses(
        (status = 201, description = "the link, shown only this once", body = MadeWatchLinkView),
        (status = 400, description = "`bad_lifetime`"),
        (status = 409, description = "`no_screen`, `session_ended`"),
        (status = 429, description = "`too_many_watch_links`"),
    ),
)]
pub(crate) async fn create_watch_link(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Body(body): Body<WatchLinkBody>,
) -> Result<(StatusCode, Json<MadeWatchLinkView>), Problem> {
    let lifetime = body.lifetime_seconds.map(Duration::from_secs);
    let (links, by) = (shared.app.watch_links(), pass.requester());
    let (link, token) = links.create(pass.viewer(), by, id, lifetime).await?;
    let url = format!("{}{}", shared.settings.public_url, watch_path(&token));
    let about = WatchLinkView::from(link);
    Ok((StatusCode::CREATED, Json(MadeWatchLinkView { about, url })))
}

/// Lists the valid watch links of a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/watch-links",
    operation_id = "list_watch_links",
    tag = "sessions",
    params(SessionPath),
    responses(
        (status = 200, description = "the links", body = WatchLinksView),
        (status = 403, description = "`not_allowed`"),
    ),
)]
pub(crate) async fn watch_links(
    State(links): State<WatchLinks>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<WatchLinksView>, Problem> {
    let links = links.list(caller.viewer(), id).await?;
    let links = links.into_iter().map(WatchLinkView::from).collect();
    Ok(Json(WatchLinksView { links }))
}

/// Revokes a watch link. Nobody watches by it any more.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/watch-links/{link}",
    tag = "sessions",
    params(WatchLinkPath),
    responses(
        (status = 204, description = "the link is no longer valid"),
        (status = 404, description = "`no_watch_link`"),
    ),
)]
pub(crate) async fn revoke_watch_link(
    State(links): State<WatchLinks>,
    pass: Pass,
    Ids(id, link): Ids<SessionId, WatchLinkId>,
) -> Result<StatusCode, Problem> {
    let (viewer, by) = (pass.viewer(), pass.requester());
    links.revoke(viewer, by, id, link).await?;
    Ok(StatusCode::NO_CONTENT)
}
