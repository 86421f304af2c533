//! An id for every request, so that its log lines can be found.

use std::time::Instant;

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderName, HeaderValue, Method},
    middleware::Next,
    response::Response,
};
use deskhand_core::id::SessionId;
use tracing::{Instrument, Span};
use uuid::Uuid;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that a caller may choose.
const LONGEST: usize = 64;

/// Gives the request an id, in the response and in the span of its log lines.
///
/// Uses the caller's id if that is a valid one.
pub(crate) async fn name(request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).filter(|value| is_sane(value));
    let id = given.cloned().or_else(new_id);
    let route = request.extensions().get::<MatchedPath>();
    let span = span(
        id.as_ref(),
        request.method(),
        route.map(MatchedPath::as_str),
        session(request.uri().path()),
    );
    let mut response = logged(next.run(request)).instrument(span).await;
    if let Some(id) = id {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

/// Returns a new id.
pub(crate) fn new_id() -> Option<HeaderValue> {
    HeaderValue::from_str(&Uuid::now_v7().to_string()).ok()
}

/// Returns the span of a request's log lines.
pub(crate) fn span(
    id: Option<&HeaderValue>,
    method: &Method,
    route: Option<&str>,
    session: Option<SessionId>,
) -> Span {
    tracing::info_span!(
        "request",
        request.id = id.and_then(|id| id.to_str().ok()),
        %method,
        route,
        session.id = session.map(tracing::field::display),
    )
}

/// Logs the status and the duration of a response.
pub(crate) async fn logged(answering: impl Future<Output = Response>) -> Response {
    let started = Instant::now();
    let response = answering.await;
    let status = response.status().as_u16();
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(status, duration_ms, "a request was answered");
    response
}

fn is_sane(value: &HeaderValue) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=LONGEST).contains(&value.len()) && value.as_bytes().iter().all(is_plain)
}

/// Returns the session that a path is about.
fn session(path: &str) -> Option<SessionId> {
    let (id, _) = path
        .strip_prefix("/api/sessions/")
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")))?;
    id.parse().ok()
}
