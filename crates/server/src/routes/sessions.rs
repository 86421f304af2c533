//! Making, listing, naming, stopping and ending sessions.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{CreateSession, Sessions};
use deskhand_core::id::SessionId;
use serde::{Deserialize, Serialize};

use crate::{
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
    view::SessionView,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    title: Option<String>,
    model: Option<String>,
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rename {
    title: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    limit: Option<u32>,
    before: Option<SessionId>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SessionsView {
    sessions: Vec<SessionView>,
    next: Option<SessionId>,
}

/// `POST /api/sessions`
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

/// `GET /api/sessions`
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

/// `GET /api/sessions/{id}`
pub(crate) async fn show(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<SessionView>, Problem> {
    Ok(Json(sessions.find(caller.viewer(), id).await?.into()))
}

/// `PATCH /api/sessions/{id}`
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

/// `DELETE /api/sessions/{id}`
pub(crate) async fn terminate(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    sessions.terminate(caller.viewer(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/sessions/{id}/stop`
pub(crate) async fn stop(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    sessions.stop_turn(caller.viewer(), id).await?;
    Ok(StatusCode::ACCEPTED)
}
