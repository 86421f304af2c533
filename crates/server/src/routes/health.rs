//! Whether the server is well.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::Shared;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(health))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthView {
    status: &'static str,
    version: &'static str,
}

/// Tells whether the server is well.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    security(()),
    responses((status = 200, description = "it is", body = HealthView)),
)]
pub(crate) async fn health() -> Json<HealthView> {
    Json(HealthView {
        status: "healthy",
        version: env!("CARGO_PKG_VERSION"),
    })
}
