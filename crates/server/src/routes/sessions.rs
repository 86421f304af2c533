//! Creating, listing, changing, stopping and ending sessions.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::sessions::{ChangeSessionBody, CreateSessionBody, SessionView, SessionsView};
use deskhand_app::{ChangeSession, CreateSession, Sessions};
use deskhand_core::id::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id, Query, page_size},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, change, terminate))
        .routes(routes!(stop))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionsQuery {
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    before: Option<SessionId>,
}

/// Creates a session. Its sandbox starts in the background.
#[utoipa::path(
    post,
    path = "/sessions",
    operation_id = "create_session",
    tag = "sessions",
    request_body = CreateSessionBody,
    responses(
        (status = 201, description = "the session", body = SessionView),
        (status = 400, description = "`unknown_model`, `bad_instructions`, `long_title`, `bad_title`, `long_metadata`, `bad_policy`, `bad_budget`, `bad_network`, `bad_tools`, `bad_mcp_server`"),
        (status = 403, description = "`network_ceiling`"),
        (status = 429, description = "`too_many_awake`, `too_many_today`"),
    ),
)]
pub(crate) async fn create(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Body(body): Body<CreateSessionBody>,
) -> Result<(StatusCode, Json<SessionView>), Problem> {
    let wanted = CreateSession {
        title: body.title,
        model: body.model,
        effort: body.effort,
        computer: body.computer.unwrap_or_default(),
        tools: body.tools,
        instructions: body.instructions,
        metadata: body.metadata,
        approvals: body.approvals,
        budget: body.budget.into(),
        network: body.network,
        mcp_servers: body.mcp_servers,
        is_uncounted: false,
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
    params(SessionsQuery),
    responses((status = 200, description = "a page of sessions", body = SessionsView)),
)]
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Query(page): Query<SessionsQuery>,
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

/// Changes the title, model, effort, instructions, approval policy, budget, network or MCP servers of a session.
#[utoipa::path(
    patch,
    path = "/sessions/{id}",
    operation_id = "change_session",
    tag = "sessions",
    params(SessionPath),
    request_body = ChangeSessionBody,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 400, description = "`unknown_model`, `bad_instructions`, `long_title`, `bad_title`, `bad_policy`, `bad_budget`, `bad_network`, `bad_mcp_server`"),
        (status = 403, description = "`network_ceiling`"),
        (status = 409, description = "`session_ended`: the model of an ended session cannot be changed; `tools_fixed`"),
    ),
)]
pub(crate) async fn change(
    State(sessions): State<Sessions>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Body(body): Body<ChangeSessionBody>,
) -> Result<Json<SessionView>, Problem> {
    let change = ChangeSession {
        title: body.title,
        approvals: body.approvals,
        model: body.model,
        effort: body.effort,
        instructions: body.instructions,
        budget: body.budget.map(Into::into),
        network: body.network,
        mcp_servers: body.mcp_servers,
    };
    let (user, by) = (pass.identity.user, pass.requester());
    let session = sessions.change(user, by, id, change).await?;
    Ok(Json(session.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminateQuery {
    /// With `true`, the log, the messages and the pictures are deleted, too. This cannot be undone.
    #[serde(default)]
    #[param(default = false)]
    forever: bool,
}

/// Ends a session for good. Its sandbox and files are deleted. Its log stays, unless `forever=true` deletes it.
#[utoipa::path(
    delete,
    path = "/sessions/{id}",
    operation_id = "terminate_session",
    tag = "sessions",
    params(SessionPath, TerminateQuery),
    responses((status = 204, description = "the session has ended, or is deleted")),
)]
pub(crate) async fn terminate(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(wanted): Query<TerminateQuery>,
) -> Result<StatusCode, Problem> {
    if wanted.forever {
        sessions.delete(caller.viewer(), id).await?;
    } else {
        sessions.terminate(caller.viewer(), id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Ends the current turn with `complete` and outcome `stopped`. Messages that wait are held until people release them.
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
