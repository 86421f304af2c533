//! The arrangement of a user's session page.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::users::{LayoutBody, LayoutView};
use deskhand_app::Users;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Caller, extract::Body, problem::Problem};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(show, put))
}

/// Shows the layout of your session page.
#[utoipa::path(
    get,
    path = "/me/layout",
    operation_id = "show_layout",
    tag = "people",
    responses((status = 200, description = "your layout", body = LayoutView)),
)]
pub(crate) async fn show(
    State(users): State<Users>,
    Caller(user): Caller,
) -> Result<Json<LayoutView>, Problem> {
    let layout = users.layout(user).await?;
    Ok(Json(LayoutView { layout }))
}

/// Replaces the layout of your session page. The server stores it without interpreting it.
#[utoipa::path(
    put,
    path = "/me/layout",
    operation_id = "put_layout",
    tag = "people",
    request_body = LayoutBody,
    responses(
        (status = 204, description = "stored"),
        (status = 400, description = "`long_layout`"),
    ),
)]
pub(crate) async fn put(
    State(users): State<Users>,
    Caller(user): Caller,
    Body(body): Body<LayoutBody>,
) -> Result<StatusCode, Problem> {
    users.set_layout(user, body.layout).await?;
    Ok(StatusCode::NO_CONTENT)
}
