//! What somebody's sessions have used.

use axum::{Json, extract::State};
use deskhand_app::{Spending, UserUse};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    problem::Problem,
    view::budget::{AmountView, BudgetView},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(mine))
}

/// What the models of all your sessions have used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
pub(crate) struct UsageView {
    /// Since midnight UTC, and what you may use until the next.
    today: BudgetView,
    /// Since the first of the month.
    month: AmountView,
    /// When the next day begins.
    next_day_at: Timestamp,
}

impl From<UserUse> for UsageView {
    fn from(used: UserUse) -> Self {
        Self {
            today: used.today.into(),
            month: used.month.into(),
            next_day_at: used.next_day_at,
        }
    }
}

/// Shows what your sessions have used, and may use today.
#[utoipa::path(
    get,
    path = "/me/usage",
    operation_id = "my_usage",
    tag = "people",
    responses((status = 200, description = "what was used", body = UsageView)),
)]
pub(crate) async fn mine(
    State(spending): State<Spending>,
    Caller(user): Caller,
) -> Result<Json<UsageView>, Problem> {
    Ok(Json(spending.of_user(user).await?.into()))
}
