//! Making, listing, changing, stopping and ending sessions.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{ChangeSession, CreateSession, Sessions};
use deskhand_core::{id::SessionId, policy::Policy};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
    schema::{self, SessionPath},
    view::{SessionView, budget::BudgetBody},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, change, terminate))
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
    /// What its agent is told besides what every agent is told: at most 16 KiB in UTF-8.
    #[schema(max_length = 16384)]
    instructions: Option<String>,
    /// The caller's own notes.
    #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// What the agent must ask before it does it; your default without it.
    #[schema(value_type = Option<schema::decision::Policy>)]
    approvals: Option<Policy>,
    /// What it may use before a person is asked.
    #[serde(default)]
    #[schema(value_type = Option<BudgetBody>, nullable = false)]
    budget: BudgetBody,
}

/// What to change of a session. At least one of them.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeSession)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    #[schema(max_length = 200, nullable = false)]
    title: Option<String>,
    /// What the agent must ask before it does it, from its next action on.
    #[schema(value_type = Option<schema::decision::Policy>, nullable = false)]
    approvals: Option<Policy>,
    /// `vendor/name`, from its next turn on.
    #[schema(nullable = false)]
    model: Option<String>,
    /// What its agent is told besides what every agent is told, from its next turn on: at most 16 KiB in UTF-8, empty for
    /// nothing.
    #[schema(max_length = 16384, nullable = false)]
    instructions: Option<String>,
    /// What it may use in all before a person is asked, instead of what it might until now.
    #[schema(nullable = false)]
    budget: Option<BudgetBody>,
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
        (status = 400, description = "`unknown_model`, `bad_instructions`, `long_title`, `bad_policy`, `bad_budget`"),
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
        instructions: body.instructions,
        metadata: body.metadata,
        approvals: body.approvals,
        budget: body.budget.into(),
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

/// Gives a session another title, model, instructions, approval policy or budget.
#[utoipa::path(
    patch,
    path = "/sessions/{id}",
    operation_id = "change_session",
    tag = "sessions",
    params(SessionPath),
    request_body = Change,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 400, description = "`unknown_model`, `bad_instructions`, `long_title`, `bad_policy`, `bad_budget`"),
        (status = 409, description = "`session_ended`: it gets no other model"),
    ),
)]
pub(crate) async fn change(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<Change>,
) -> Result<Json<SessionView>, Problem> {
    let change = ChangeSession {
        title: body.title,
        approvals: body.approvals,
        model: body.model,
        instructions: body.instructions,
        budget: body.budget.map(Into::into),
    };
    let session = sessions.change(user, id, change).await?;
    Ok(Json(session.into()))
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
