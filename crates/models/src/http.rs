//! What vendors' servers have in common.

use std::time::Duration;

use deskhand_core::model::ModelError;
use reqwest::{Response, StatusCode, header};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a vendor may be silent in the middle of an answer.
const SILENCE: Duration = Duration::from_secs(120);

/// The client for all vendors.
pub(crate) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
}

/// Whether the same request may be answered later.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status.is_server_error()
}

/// What the vendor says about when to come back.
pub(crate) fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?;
    let seconds: f64 = seconds.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// A request that nobody answered. The address stays out of it, since it may hold a key.
pub(crate) fn no_answer(error: &reqwest::Error) -> ModelError {
    let message = if error.is_timeout() {
        "it did not answer in time"
    } else if error.is_connect() {
        "it could not be reached"
    } else {
        "the request broke off"
    };
    ModelError::unavailable(message.to_owned())
}
