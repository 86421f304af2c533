//! Taking control of a session's computer and handing it back.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::sessions::{LeaseView, TakeControlBody};
use deskhand_app::{Control, TakeControl};
use deskhand_core::{id::SessionId, lease::Holder};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(take, hand_back))
}

/// Takes control of the mouse and the keyboard, or extends it.
///
/// The agent and all other users are refused until you hand control back, the time is over, or you have had neither a
/// stream nor a screen open for 15 seconds.
#[utoipa::path(
    put,
    path = "/sessions/{id}/lease",
    operation_id = "take_control",
    tag = "computer",
    params(SessionPath),
    request_body = TakeControlBody,
    responses(
        (status = 200, description = "you have control", body = LeaseView),
        (status = 400, description = "`bad_seconds`"),
        (status = 409, description = "`somebody_else_drives`, `not_private`, `no_screen`, `session_ended`"),
    ),
)]
pub(crate) async fn take(
    State(control): State<Control>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<TakeControlBody>,
) -> Result<Json<LeaseView>, Problem> {
    let wanted = TakeControl {
        seconds: body.seconds,
        is_forced: body.force,
    };
    let lease = control.take(user, id, wanted).await?;
    Ok(Json(Holder::Person(lease).into()))
}

/// Hands control back. Does nothing if no person has it.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/lease",
    operation_id = "hand_back",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 204, description = "no person has control any more"),
        (status = 409, description = "`somebody_else_drives`"),
    ),
)]
pub(crate) async fn hand_back(
    State(control): State<Control>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    control.hand_back(user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
