//! The usage of a user's sessions.

use axum::{Json, extract::State};
use deskhand_api::budgets::UsageView;
use deskhand_app::Spending;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Caller, problem::Problem, view};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(mine))
}

/// Shows the usage of your sessions, and how much they may use today.
#[utoipa::path(
    get,
    path = "/me/usage",
    operation_id = "my_usage",
    tag = "people",
    responses((status = 200, description = "the usage", body = UsageView)),
)]
pub(crate) async fn mine(
    State(spending): State<Spending>,
    Caller(user): Caller,
) -> Result<Json<UsageView>, Problem> {
    let used = spending.of_user(user).await?;
    Ok(Json(view::usage(&used)))
}
