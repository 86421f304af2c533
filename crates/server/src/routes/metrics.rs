//! Figures for those who run the server.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Caller, problem::Problem};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Shows the server's figures, as Prometheus reads them.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, description = "the figures", body = String, content_type = "text/plain"),
        (status = 403, description = "`not_admin`"),
    ),
)]
pub(crate) async fn metrics(
    State(shared): State<Shared>,
    Caller(user): Caller,
) -> Result<impl IntoResponse, Problem> {
    let admin = shared.app.users().admin().await?;
    if admin.is_none_or(|admin| admin.id != user) {
        let message = "only an administrator may read the server's figures";
        return Err(Problem::refuse(StatusCode::FORBIDDEN, "not_admin", message));
    }
    let figures = shared.app.sessions().figures().await?;
    let headers = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((headers, shared.metrics.render(&figures)))
}
