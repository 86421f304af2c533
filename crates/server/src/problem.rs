//! Errors as callers see them: one JSON shape, a stable code and a sentence.

use std::time::Duration;

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use deskhand_api::problem::{ErrorView, ProblemView};
use deskhand_app::{Refusal, RefusalFacts, RefusalKind};
use serde_json::Value;

/// The error codes of the HTTP API, besides those of the app's refusals.
const OWN_CODES: &[(&str, StatusCode)] = &[
    ("malformed", StatusCode::BAD_REQUEST),
    ("not_signed_in", StatusCode::UNAUTHORIZED),
    ("wrong_origin", StatusCode::FORBIDDEN),
    ("narrow_scope", StatusCode::FORBIDDEN),
    ("not_administrator", StatusCode::FORBIDDEN),
    ("not_let_in", StatusCode::FORBIDDEN),
    ("bad_id", StatusCode::NOT_FOUND),
    ("no_stream", StatusCode::NOT_FOUND),
    ("no_route", StatusCode::NOT_FOUND),
    ("wrong_method", StatusCode::METHOD_NOT_ALLOWED),
    ("no_streams", StatusCode::CONFLICT),
    ("no_activity", StatusCode::CONFLICT),
    ("unknown_host", StatusCode::MISDIRECTED_REQUEST),
    ("no_apps_domain", StatusCode::SERVICE_UNAVAILABLE),
    ("discord_failed", StatusCode::SERVICE_UNAVAILABLE),
    ("too_slow", StatusCode::REQUEST_TIMEOUT),
    ("too_large", StatusCode::PAYLOAD_TOO_LARGE),
    ("too_fast", StatusCode::TOO_MANY_REQUESTS),
    ("too_many_subscriptions", StatusCode::TOO_MANY_REQUESTS),
    ("too_many_sockets", StatusCode::TOO_MANY_REQUESTS),
    ("internal", StatusCode::INTERNAL_SERVER_ERROR),
];

/// An error response. The cause of a 500 goes to the log, not to the caller.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Value>,
    /// The time after which a retry may succeed, if it is known.
    retry_after: Option<Duration>,
}

impl Problem {
    /// Creates an error that the caller can do something about.
    pub(crate) fn refuse(
        status: StatusCode,
        code: &'static str,
        message: impl std::fmt::Display,
    ) -> Self {
        debug_assert!(
            OWN_CODES.contains(&(code, status)),
            "{code} is missing from the list of codes"
        );
        Self {
            status,
            code,
            message: message.to_string(),
            details: None,
            retry_after: None,
        }
    }

    /// Creates an error for exceeding a limit.
    pub(crate) fn too_many(code: &'static str, message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::TOO_MANY_REQUESTS, code, message)
    }

    /// Creates an error for exceeding a rate limit.
    pub(crate) fn too_fast(wait: Duration) -> Self {
        let message = "too many requests in a short time; wait a little and try again";
        Self::too_many("too_fast", message).after(wait)
    }

    /// Sets the time after which a retry may succeed.
    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    pub(crate) fn malformed(message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "malformed", message)
    }

    pub(crate) fn not_signed_in() -> Self {
        let message =
            "sign in first: send `Authorization: Bearer …` or use a link from `deskhand login`";
        Self::refuse(StatusCode::UNAUTHORIZED, "not_signed_in", message)
    }

    pub(crate) fn no_token() -> Self {
        let message = "send a token as `Authorization: Bearer …`; `deskhand token new` creates one";
        Self::refuse(StatusCode::UNAUTHORIZED, "not_signed_in", message)
    }

    pub(crate) fn no_route() -> Self {
        Self::refuse(
            StatusCode::NOT_FOUND,
            "no_route",
            "there is nothing at this path",
        )
    }

    pub(crate) fn wrong_method() -> Self {
        let message = "this path does not support this method";
        Self::refuse(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
    }

    pub(crate) fn panicked() -> Response {
        tracing::error!("a request handler panicked");
        let message = "an internal error occurred; the server's log has the details";
        Self::refuse(StatusCode::INTERNAL_SERVER_ERROR, "internal", message).into_response()
    }
}

impl Problem {
    /// Returns the part that is sent without an HTTP status.
    pub(crate) fn into_error(self) -> ErrorView {
        ErrorView {
            code: self.code.to_owned(),
            message: self.message,
            details: self.details,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let error = self.into_error();
        let mut response = (status, Json(ProblemView { error })).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(wait) = retry_after {
            // Whole seconds, rounded up.
            let seconds = wait.as_millis().div_ceil(1_000).max(1);
            if let Ok(seconds) = header::HeaderValue::from_str(&seconds.to_string()) {
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
        }
        response
    }
}

/// Turns any refusal of the app into a problem. This is the only place that does.
impl<R: Refusal> From<R> for Problem {
    fn from(refusal: R) -> Self {
        let RefusalFacts {
            code,
            kind,
            message,
            details,
            retry_after,
        } = refusal.facts();
        debug_assert!(
            deskhand_app::codes().contains(&deskhand_app::Code { code, kind }),
            "{code} is missing from the list of codes"
        );
        let error = &refusal as &(dyn std::error::Error + 'static);
        match (kind, code) {
            (RefusalKind::Internal, _) => tracing::error!(error, "a request failed"),
            (_, "no_database") => tracing::error!(
                error,
                "a request failed because the database is unavailable"
            ),
            // The instructions for signing in are specific to HTTP.
            (_, "not_signed_in") => return Self::not_signed_in(),
            _ => {}
        }
        Self {
            status: status(kind),
            code,
            message,
            details,
            retry_after,
        }
    }
}

/// Returns the status of a kind of refusal.
fn status(kind: RefusalKind) -> StatusCode {
    match kind {
        RefusalKind::Invalid => StatusCode::BAD_REQUEST,
        RefusalKind::SignedOut => StatusCode::UNAUTHORIZED,
        RefusalKind::Forbidden => StatusCode::FORBIDDEN,
        RefusalKind::NotFound => StatusCode::NOT_FOUND,
        RefusalKind::Gone => StatusCode::GONE,
        RefusalKind::Conflict => StatusCode::CONFLICT,
        RefusalKind::Outdated => StatusCode::PRECONDITION_FAILED,
        RefusalKind::OutOfRange => StatusCode::RANGE_NOT_SATISFIABLE,
        RefusalKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalKind::Unfitting => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
        RefusalKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        RefusalKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
