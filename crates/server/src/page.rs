//! The embedded page. Paths that are not files belong to the page's own routing and get `index.html`.

use std::borrow::Cow;

use axum::{
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::{Shared, content_policy, problem::Problem};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

const NOT_BUILT: &str = "This server was built without the page. Run `make run`.\n";

pub(crate) fn is_built() -> bool {
    Files::get("index.html").is_some()
}

/// Returns a file that was built with the page.
pub(crate) fn file(path: &str) -> Option<Bytes> {
    Some(match Files::get(path)?.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    })
}

/// Serves the page. Discord may show it in a frame where it opens the Activity, and nobody may elsewhere.
pub(crate) async fn page(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let mut response = answer(&method, &uri, &headers);
    if let Some(door) = &shared.settings.activity
        && is_activity(&uri)
    {
        let policy = content_policy(&shared, &door.hosts().join(" "));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Returns true for the address by which Discord opens an Activity.
fn is_activity(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    let is_frame = |pair: &str| pair.starts_with("frame_id=");
    uri.path() == "/" && query.split('&').any(is_frame)
}

fn answer(method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Problem::wrong_method().into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if let Some(file) = Files::get(path).filter(|_| !path.is_empty()) {
        return send(path, &file, headers);
    }
    if path.starts_with("assets/") {
        return Problem::no_route().into_response();
    }
    match Files::get("index.html") {
        Some(file) => send("index.html", &file, headers),
        None => (StatusCode::NOT_FOUND, NOT_BUILT).into_response(),
    }
}

fn send(path: &str, file: &EmbeddedFile, headers: &HeaderMap) -> Response {
    // Files under assets/ have their hash in the name; the rest must be revalidated.
    let caching = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let digest = file.metadata.sha256_hash();
    let tag = format!(
        "\"{:x}\"",
        u128::from_be_bytes(digest[..16].try_into().unwrap_or_default())
    );
    let seen = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let known = [
        (header::CACHE_CONTROL, caching.to_owned()),
        (header::ETAG, tag.clone()),
        (header::CONTENT_TYPE, media_type(path).to_owned()),
    ];
    if seen == Some(tag.as_str()) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    (known, file.data.clone().into_owned()).into_response()
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "webmanifest") => "application/json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
