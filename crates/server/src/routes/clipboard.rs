//! The clipboard of a session's computer, for the person who has control.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::clipboard::{ClipboardView, SetClipboardBody};
use deskhand_app::Computers;
use deskhand_core::{id::SessionId, secret::Secret};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(read, set))
}

/// Reads the text on the desktop's clipboard, while you have control.
#[utoipa::path(
    get,
    path = "/sessions/{id}/clipboard",
    operation_id = "read_clipboard",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 200, description = "the text, if there is one", body = ClipboardView),
        (status = 409, description = "`no_control`, `control_changed`, `somebody_else_drives`, `no_screen`, `no_sandbox`"),
        (status = 413, description = "`text_too_long`"),
    ),
)]
pub(crate) async fn read(
    State(computers): State<Computers>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<ClipboardView>, Problem> {
    let text = computers.clipboard(user, id).await?;
    Ok(Json(ClipboardView { text }))
}

/// Puts a text on the desktop's clipboard, while you have control.
///
/// Programs on the desktop can paste it until one of them copies something else or control ends.
#[utoipa::path(
    put,
    path = "/sessions/{id}/clipboard",
    operation_id = "set_clipboard",
    tag = "computer",
    params(SessionPath),
    request_body = SetClipboardBody,
    responses(
        (status = 204, description = "programs can paste it"),
        (status = 409, description = "`no_control`, `control_changed`, `somebody_else_drives`, `no_screen`, `no_sandbox`"),
        (status = 413, description = "`text_too_long`"),
    ),
)]
pub(crate) async fn set(
    State(computers): State<Computers>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<SetClipboardBody>,
) -> Result<StatusCode, Problem> {
    let text = Secret::new(body.text);
    computers.set_clipboard(user, id, text).await?;
    Ok(StatusCode::NO_CONTENT)
}
