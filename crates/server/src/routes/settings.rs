//! A user's settings for new sessions.

use axum::{Json, extract::State};
use deskhand_api::users::SettingsView;
use deskhand_app::Users;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::Body,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(show, change))
}

/// Shows your settings.
#[utoipa::path(
    get,
    path = "/settings",
    operation_id = "show_settings",
    tag = "people",
    responses((status = 200, description = "your settings", body = SettingsView)),
)]
pub(crate) async fn show(
    State(users): State<Users>,
    Caller(user): Caller,
) -> Result<Json<SettingsView>, Problem> {
    let approvals = users.approvals(user).await?;
    Ok(Json(SettingsView { approvals }))
}

/// Changes your settings. Existing sessions do not change.
#[utoipa::path(
    patch,
    path = "/settings",
    operation_id = "change_settings",
    tag = "people",
    request_body = SettingsView,
    responses(
        (status = 200, description = "your settings", body = SettingsView),
        (status = 400, description = "`bad_policy`"),
    ),
)]
pub(crate) async fn change(
    State(users): State<Users>,
    pass: Pass,
    Body(body): Body<SettingsView>,
) -> Result<Json<SettingsView>, Problem> {
    let (by, user) = (pass.requester(), pass.identity.user);
    users.set_approvals(by, user, &body.approvals).await?;
    Ok(Json(body))
}
