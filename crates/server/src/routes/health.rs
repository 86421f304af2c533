//! Whether the server is well.

use axum::Json;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct HealthView {
    status: &'static str,
    version: &'static str,
}

/// `GET /health`
pub(crate) async fn health() -> Json<HealthView> {
    Json(HealthView {
        status: "healthy",
        version: env!("CARGO_PKG_VERSION"),
    })
}
