//! Making, listing, naming, stopping and ending sessions.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{CreateSession, Sessions};
use deskhand_core::id::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
    schema::SessionPath,
    view::SessionView,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, rename, terminate))
        .routes(routes!(stop))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateSession)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    #[schema(max_length = 200)]
    title: Option<String>,
    /// `vendor/name`, or the server's choice.
    model: Option<String>,
    /// The caller's own notes.
    #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RenameSession)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rename {
    #[schema(max_length = 200)]
    title: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[param(value_type = Option<Uuid>)]
    before: Option<SessionId>,
}

/// A page of sessions, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionsPage)]
pub(crate) struct SessionsView {
    sessions: Vec<SessionView>,
    /// The `before` of the next page, when there is one.
    #[schema(required, value_type = Option<Uuid>)]
    next: Option<SessionId>,
}

/// Makes a session. Its sandbox starts in the background.
#[utoipa::path(
    post,
    path = "/sessions",
    operation_id = "create_session",
    tag = "sessions",
    request_body = Create,
    responses(
        (status = 201, description = "the session", body = SessionView),
        (status = 400, description = "`unknown_model`, `long_title`"),
        (status = 429, description = "`too_many_awake`, `too_many_today`"),
    ),
)]
pub(crate) async fn create(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Body(body): Body<Create>,
) -> Result<(StatusCode, Json<SessionView>), Problem> {
    let wanted = CreateSession {
        title: body.title,
        model: body.model,
        metadata: body.metadata,
    };
    let session = sessions.create(user, wanted).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

/// Lists your sessions, newest first.
#[utoipa::path(
    get,
    path = "/sessions",
    operation_id = "list_sessions",
    tag = "sessions",
    params(Page),
    responses((status = 200, description = "a page of sessions", body = SessionsView)),
)]
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Query(page): Query<Page>,
) -> Result<Json<SessionsView>, Problem> {
    let limit = page_size(page.limit, 50, 200)?;
    let page = sessions.list(caller.viewer(), page.before, limit).await?;
    let sessions = page.sessions.into_iter().map(SessionView::from).collect();
    Ok(Json(SessionsView {
        sessions,
        next: page.next,
    }))
}

/// Shows a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}",
    operation_id = "show_session",
    tag = "sessions",
    params(SessionPath),
    responses((status = 200, description = "the session", body = SessionView)),
)]
pub(crate) async fn show(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<SessionView>, Problem> {
    Ok(Json(sessions.find(caller.viewer(), id).await?.into()))
}

/// Gives a session another title.
#[utoipa::path(
    patch,
    path = "/sessions/{id}",
    operation_id = "rename_session",
    tag = "sessions",
    params(SessionPath),
    request_body = Rename,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 400, description = "`long_title`"),
    ),
)]
pub(crate) async fn rename(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<Rename>,
) -> Result<Json<SessionView>, Problem> {
    Ok(Json(
        sessions
            .rename(caller.viewer(), id, &body.title)
            .await?
            .into(),
    ))
}

/// Ends a session for good. Its sandbox and files are gone, its log stays.
#[utoipa::path(
    delete,
    path = "/sessions/{id}",
    operation_id = "terminate_session",
    tag = "sessions",
    params(SessionPath),
    responses((status = 204, description = "it has ended")),
)]
pub(crate) async fn terminate(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    sessions.terminate(caller.viewer(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends the current turn with `complete` and outcome `stopped`.
#[utoipa::path(
    post,
    path = "/sessions/{id}/stop",
    operation_id = "stop_turn",
    tag = "sessions",
    params(SessionPath),
    responses(
        (status = 202, description = "the turn is ending"),
        (status = 409, description = "`not_running`"),
    ),
)]
pub(crate) async fn stop(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    sessions.stop_turn(caller.viewer(), id).await?;
    Ok(StatusCode::ACCEPTED)
}
