//! Errors as callers see them: one JSON shape, a stable code and a sentence.

mod computers;
mod people;
mod sessions;

use std::time::Duration;

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use deskhand_api::problem::{ErrorView, ProblemView};
use deskhand_core::{
    clock::{Clock, SystemClock},
    lease::Lease,
};
use deskhand_store::StoreError;
use jiff::Timestamp;
use serde_json::{Value, json};

/// An answer that says what is wrong. The cause of a 500 goes to the log, not to the caller.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Value>,
    /// When it is worth trying again, if that is known.
    retry_after: Option<Duration>,
}

impl Problem {
    /// The caller can do something about it.
    pub(crate) fn refuse(
        status: StatusCode,
        code: &'static str,
        message: impl std::fmt::Display,
    ) -> Self {
        Self {
            status,
            code,
            message: message.to_string(),
            details: None,
            retry_after: None,
        }
    }

    /// Too much was asked for.
    pub(crate) fn too_many(code: &'static str, message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::TOO_MANY_REQUESTS, code, message)
    }

    /// Somebody asks too often.
    pub(crate) fn too_fast(wait: Duration) -> Self {
        let message = "these were too many requests in too short a time; wait a little";
        Self::too_many("too_fast", message).after(wait)
    }

    /// Says when it is worth trying again.
    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// A limit of somebody is reached, until some time if that is known.
    fn limit(
        code: &'static str,
        message: impl std::fmt::Display,
        (used, limit): (u64, u32),
        frees_at: Option<Timestamp>,
    ) -> Self {
        let problem = Self::too_many(code, message)
            .with(json!({"used": used, "limit": limit, "frees_at": frees_at}));
        match frees_at {
            // What is over already needs no waiting.
            Some(at) => problem.after(
                Duration::try_from(at.duration_since(SystemClock.now())).unwrap_or_default(),
            ),
            None => problem,
        }
    }

    pub(crate) fn malformed(message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "malformed", message)
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub(crate) fn not_signed_in() -> Self {
        let message =
            "sign in first: send `Authorization: Bearer …` or use a link from `deskhand login`";
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
        let message = "this path does not take this method";
        Self::refuse(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
    }

    fn somebody_else_drives(lease: &Lease, message: impl std::fmt::Display) -> Self {
        let Lease { user, name, until } = lease;
        Self::refuse(StatusCode::CONFLICT, "somebody_else_drives", message)
            .with(json!({"user": user, "name": name, "until": until}))
    }

    /// Our fault.
    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        Self::panicked_problem()
    }

    pub(crate) fn panicked() -> Response {
        tracing::error!("a request handler panicked");
        Self::panicked_problem().into_response()
    }

    fn panicked_problem() -> Self {
        let message = "something went wrong on the server; its log says what";
        Self::refuse(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl Problem {
    /// What is told of it where there is no status.
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
            // Whole seconds, and never too few.
            let seconds = wait.as_millis().div_ceil(1_000).max(1);
            if let Ok(seconds) = header::HeaderValue::from_str(&seconds.to_string()) {
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if !error.is_unreachable() {
            return Self::internal(&error);
        }
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a request found no database"
        );
        let message = "the database is away; try again in a moment";
        Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "no_database", message)
            .after(Duration::from_secs(1))
    }
}
