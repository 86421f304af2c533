//! Metrics for operators of the server.

use axum::{extract::State, http::header, response::IntoResponse};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Monitor, problem::Problem};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Shows the server's metrics in the Prometheus text format.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, description = "the metrics", body = String, content_type = "text/plain"),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn metrics(
    State(shared): State<Shared>,
    _: Monitor,
) -> Result<impl IntoResponse, Problem> {
    let snapshot = shared.app.health().metrics_snapshot().await?;
    let headers = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((headers, shared.metrics.render(&snapshot)))
}
