//! The description of this API: the OpenAPI document, and a page that shows it.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, extract::Id, openapi::openapi, page, problem::Problem};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(document))
        .routes(routes!(page))
        .routes(routes!(file))
}

/// The document, built on the first request for it.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi().into());

/// The page that Swagger UI renders into.
const PAGE: &str = include_str!("docs/page.html");
/// The script that starts Swagger UI.
const START: &str = include_str!("docs/start.js");

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Returns this document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "server",
    security(()),
    responses((
        status = 200,
        description = "OpenAPI 3.1",
        content_type = "application/json",
        body = serde_json::Value,
    )),
)]
pub(crate) async fn document() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, DOCUMENT.clone())
}

/// Shows this document as a page that can send requests.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "server",
    security(()),
    responses((status = 200, description = "the page", body = String, content_type = "text/html")),
)]
pub(crate) async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, PAGE)
}

/// Returns a file of that page.
#[utoipa::path(
    get,
    path = "/docs/{file}",
    operation_id = "docs_file",
    tag = "server",
    security(()),
    params(("file" = String, Path, description = "the name of the file")),
    responses(
        (status = 200, description = "the file", body = String, content_type = "text/javascript"),
        (status = 404, description = "`no_route`"),
    ),
)]
pub(crate) async fn file(Id(name): Id<String>) -> Result<Response, Problem> {
    let media_type = match name.as_str() {
        "start.js" => {
            let headers = [
                (header::CONTENT_TYPE, JAVASCRIPT),
                (header::CACHE_CONTROL, "no-cache"),
            ];
            return Ok((headers, START).into_response());
        }
        "swagger-ui-bundle.js" => JAVASCRIPT,
        "swagger-ui.css" => "text/css; charset=utf-8",
        _ => return Err(Problem::no_route()),
    };
    let compressed = page::file(&format!("swagger-ui/{name}.gz")).ok_or_else(Problem::no_route)?;
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_ENCODING, "gzip"),
        (header::CACHE_CONTROL, "max-age=86400"),
    ];
    Ok((headers, compressed).into_response())
}
