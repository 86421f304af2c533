//! Using a session's computer by hand.

use axum::{Json, extract::State};
use deskhand_api::actions::{ActBody, ActView};
use deskhand_app::{ActByHand, Computers};
use deskhand_core::id::SessionId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(act))
}

/// Runs one action by hand, in a sandbox that is started if necessary.
///
/// While you have control, actions are not logged and no picture is kept.
#[utoipa::path(
    post,
    path = "/sessions/{id}/actions",
    operation_id = "act",
    tag = "computer",
    params(SessionPath),
    request_body = ActBody,
    responses(
        (status = 200, description = "the result of the action", body = ActView),
        (status = 400, description = "`bad_action`"),
        (status = 409, description = "`agent_is_driving`, `somebody_else_drives`, `control_changed`, `no_screen`, `session_ended`"),
        (status = 429, description = "`too_many_awake`"),
        (status = 503, description = "`no_sandbox`, `storage_full`"),
    ),
)]
pub(crate) async fn act(
    State(computers): State<Computers>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<ActBody>,
) -> Result<Json<ActView>, Problem> {
    let act = ActByHand {
        tool: body.tool,
        input: body.input,
        look: body.look,
    };
    let done = computers.act_by_hand(user, id, act).await?;
    Ok(Json(ActView {
        call: done.call,
        text: done.text,
        is_error: done.is_error,
        screenshot: done.screenshot,
        duration_ms: done.duration_ms,
    }))
}
