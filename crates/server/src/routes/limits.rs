//! How much somebody may use, and how much they do.

use axum::{Json, extract::State};
use deskhand_app::{LimitsInUse, Quotas};
use deskhand_core::{budget::ChangeBudget, id::UserId, limits::UserLimits};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Administrator, Caller},
    extract::{Body, Id},
    problem::Problem,
    schema::UserPath,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(mine))
        .routes(routes!(show, set))
}

/// What you may use, and what you use of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LimitsInUse)]
pub(crate) struct LimitsInUseView {
    /// Your sessions that are awake.
    awake_sessions: UsedView,
    /// The sessions you made in the last 24 hours.
    sessions_per_day: UsedView,
    /// When you may make another session, if you may not now.
    #[schema(required)]
    frees_at: Option<Timestamp>,
    /// How long a session stays awake when nobody needs it.
    idle_seconds: u64,
    /// How long one sandbox may live.
    life_seconds: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsedOfLimit)]
pub(crate) struct UsedView {
    used: u64,
    limit: u32,
}

/// What was decided for a user. Where nothing is, or null, the server's settings hold.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = UserLimits)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserLimitsView {
    /// How many of their sessions may be awake at a time.
    #[schema(maximum = 10000)]
    awake_sessions: Option<u32>,
    /// How many sessions they may make in 24 hours.
    #[schema(maximum = 1_000_000)]
    sessions_per_day: Option<u32>,
    /// How long a session of theirs stays awake when nobody needs it.
    #[schema(minimum = 1, maximum = 2_592_000)]
    idle_seconds: Option<u32>,
    /// How long one sandbox of theirs may live.
    #[schema(minimum = 1, maximum = 2_592_000)]
    life_seconds: Option<u32>,
    /// What the models of their sessions may cost in a day, in US dollars. 0: as much as it takes.
    #[schema(minimum = 0, maximum = 1_000_000)]
    day_usd: Option<f64>,
    /// How many tokens they may use in a day. 0: as many as it takes.
    #[schema(maximum = 1_000_000_000_000_u64)]
    day_tokens: Option<u64>,
}

impl From<LimitsInUse> for LimitsInUseView {
    fn from(in_use: LimitsInUse) -> Self {
        let limits = in_use.limits;
        Self {
            awake_sessions: UsedView {
                used: in_use.n_awake,
                limit: limits.awake_sessions,
            },
            sessions_per_day: UsedView {
                used: in_use.n_today,
                limit: limits.sessions_per_day,
            },
            frees_at: in_use.frees_at,
            idle_seconds: limits.idle.as_secs(),
            life_seconds: limits.life.as_secs(),
        }
    }
}

impl From<UserLimits> for UserLimitsView {
    fn from(limits: UserLimits) -> Self {
        Self {
            awake_sessions: limits.awake_sessions,
            sessions_per_day: limits.sessions_per_day,
            idle_seconds: limits.idle_seconds,
            life_seconds: limits.life_seconds,
            day_usd: limits.day.usd,
            day_tokens: limits.day.tokens,
        }
    }
}

/// Shows what you may use, and what you use of it.
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
    Ok(Json(quotas.in_use(user).await?.into()))
}

/// Shows what was decided for a user.
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

/// Decides how much a user may use, instead of what was decided before.
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
    _: Administrator,
    Id(id): Id<UserId>,
    Body(body): Body<UserLimitsView>,
) -> Result<Json<UserLimitsView>, Problem> {
    let limits = UserLimits {
        awake_sessions: body.awake_sessions,
        sessions_per_day: body.sessions_per_day,
        idle_seconds: body.idle_seconds,
        life_seconds: body.life_seconds,
        day: ChangeBudget {
            usd: body.day_usd,
            tokens: body.day_tokens,
        },
    };
    quotas.set(id, limits).await?;
    Ok(Json(limits.into()))
}
