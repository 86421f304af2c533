//! The limits of users, and their current use.

use axum::{Json, extract::State};
use deskhand_api::budgets::{LimitsInUseView, UserLimitsView};
use deskhand_app::Quotas;
use deskhand_core::{id::UserId, limits::UserLimits};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Administrator, Caller},
    extract::{Body, Id},
    paths::UserPath,
    problem::Problem,
    view,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(mine))
        .routes(routes!(show, set))
}

/// Shows your limits, and your current use.
#[utoipa::path(
    get,
    path = "/me/limits",
    operation_id = "my_limits",
    tag = "people",
    responses((status = 200, description = "your limits", body = LimitsInUseView)),
)]
pub(crate) async fn mine(
    State(quotas): State<Quotas>,
    Caller(user): Caller,
) -> Result<Json<LimitsInUseView>, Problem> {
    let in_use = quotas.in_use(user).await?;
    Ok(Json(view::limits_in_use(&in_use)))
}

/// Shows the limits that were set for a user.
#[utoipa::path(
    get,
    path = "/users/{id}/limits",
    operation_id = "show_limits",
    tag = "people",
    params(UserPath),
    responses(
        (status = 200, description = "the limits", body = UserLimitsView),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_user`"),
    ),
)]
pub(crate) async fn show(
    State(quotas): State<Quotas>,
    _: Administrator,
    Id(id): Id<UserId>,
) -> Result<Json<UserLimitsView>, Problem> {
    Ok(Json(quotas.set_for(id).await?.into()))
}

/// Sets the limits of a user, and replaces those set before.
#[utoipa::path(
    put,
    path = "/users/{id}/limits",
    operation_id = "set_limits",
    tag = "people",
    params(UserPath),
    request_body = UserLimitsView,
    responses(
        (status = 200, description = "the limits", body = UserLimitsView),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_user`"),
    ),
)]
pub(crate) async fn set(
    State(quotas): State<Quotas>,
    Administrator(by): Administrator,
    Id(id): Id<UserId>,
    Body(body): Body<UserLimitsView>,
) -> Result<Json<UserLimitsView>, Problem> {
    let limits = UserLimits::from(body);
    quotas.set(by, id, limits).await?;
    Ok(Json(limits.into()))
}
