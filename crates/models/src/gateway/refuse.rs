//! Refusals in the error format of each vendor.

use bytes::Bytes;
use deskhand_core::gateway::{GatewayAnswer, GatewayRefusal, GatewayRefusalKind, Passing};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::paths::Dialect;

/// Returns a refusal in the vendor's format, or in OpenAI's if the vendor is unknown.
pub(super) fn answer(dialect: Option<Dialect>, refusal: &GatewayRefusal) -> GatewayAnswer {
    let dialect = dialect.unwrap_or(Dialect::Chat);
    let (status, word) = told(dialect, refusal.kind);
    let mut answer = said(dialect, status, word, &refusal.message);
    if !matches!(
        refusal.kind,
        GatewayRefusalKind::Busy | GatewayRefusalKind::Full | GatewayRefusalKind::Vendor
    ) {
        // Vendors' own clients retry some of these automatically.
        let never = ("x-should-retry".to_owned(), "false".to_owned());
        answer.headers.push(never);
    }
    answer
}

/// Returns an error in the vendor's own format.
pub(super) fn said(dialect: Dialect, status: u16, word: &str, message: &str) -> GatewayAnswer {
    let body = match dialect {
        Dialect::Messages => {
            json!({"type": "error", "error": {"type": word, "message": message}})
        }
        Dialect::Responses | Dialect::Chat => {
            json!({"error": {"message": message, "type": word, "param": null, "code": word}})
        }
        Dialect::Gemini => {
            json!({"error": {"code": status, "message": message, "status": word}})
        }
    };
    whole(status, &body)
}

/// Returns an answer whose body is complete.
fn whole(status: u16, body: &Value) -> GatewayAnswer {
    let bytes = Passing::Bytes(Bytes::from(body.to_string()));
    GatewayAnswer {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: stream::iter([Ok(bytes)]).boxed(),
    }
}

/// Returns the status of a refusal, and the vendor's word for it.
fn told(dialect: Dialect, kind: GatewayRefusalKind) -> (u16, &'static str) {
    let (status, anthropic, openai, gemini) = match kind {
        GatewayRefusalKind::Token => (
            401,
            "authentication_error",
            "invalid_api_key",
            "UNAUTHENTICATED",
        ),
        GatewayRefusalKind::Path => (404, "not_found_error", "invalid_request_error", "NOT_FOUND"),
        GatewayRefusalKind::Request => (
            400,
            "invalid_request_error",
            "invalid_request_error",
            "INVALID_ARGUMENT",
        ),
        GatewayRefusalKind::TooLarge => (
            413,
            "request_too_large",
            "invalid_request_error",
            "INVALID_ARGUMENT",
        ),
        GatewayRefusalKind::Idle => (
            403,
            "permission_error",
            "permission_denied",
            "PERMISSION_DENIED",
        ),
        // Only Anthropic has a separate status for this.
        GatewayRefusalKind::Budget if dialect == Dialect::Messages => {
            return (402, "billing_error");
        }
        GatewayRefusalKind::Budget => (
            429,
            "billing_error",
            "insufficient_quota",
            "RESOURCE_EXHAUSTED",
        ),
        GatewayRefusalKind::Busy => (
            429,
            "rate_limit_error",
            "rate_limit_exceeded",
            "RESOURCE_EXHAUSTED",
        ),
        GatewayRefusalKind::Full => (503, "overloaded_error", "server_error", "UNAVAILABLE"),
        GatewayRefusalKind::Vendor => (502, "api_error", "server_error", "UNAVAILABLE"),
        GatewayRefusalKind::Server => (500, "api_error", "server_error", "INTERNAL"),
    };
    let word = match dialect {
        Dialect::Messages => anthropic,
        Dialect::Responses | Dialect::Chat => openai,
        Dialect::Gemini => gemini,
    };
    (status, word)
}
