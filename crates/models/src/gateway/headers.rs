//! The headers that pass the gateway.
//!
//! All others are dropped: keys, cookies, accounts, and headers of a single connection.

use deskhand_core::secret::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::paths::Dialect;

/// The request headers that are passed to the vendor.
const OUTWARD: [&str; 7] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
];

/// The response headers that are passed back.
const BACK: [&str; 8] = [
    "cache-control",
    "content-type",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-accel-buffering",
    "x-request-id",
    "x-should-retry",
];
const BACK_BEGINNINGS: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

/// The version of Anthropic's API for programs that do not name one.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Returns the headers to send to the vendor, with the key in the right place.
pub(super) fn outward(
    headers: &[(String, String)],
    dialect: Dialect,
    key: Option<&Secret>,
) -> HeaderMap {
    let mut sent = HeaderMap::new();
    let passed = headers
        .iter()
        .filter(|(name, _)| OUTWARD.contains(&name.as_str()));
    for (name, value) in passed {
        // These were valid headers before, so both parse.
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            sent.append(name, value);
        }
    }
    sent.insert("content-type", HeaderValue::from_static("application/json"));
    if dialect == Dialect::Messages && !sent.contains_key("anthropic-version") {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        sent.insert("anthropic-version", version);
    }
    let Some(key) = key else {
        return sent;
    };
    let (name, value) = match dialect {
        Dialect::Messages => ("x-api-key", key.expose().to_owned()),
        Dialect::Responses | Dialect::Chat => ("authorization", format!("Bearer {}", key.expose())),
        Dialect::Gemini => ("x-goog-api-key", key.expose().to_owned()),
    };
    // If the key cannot be a header, the vendor reports a missing key, which is just as true.
    if let Ok(mut value) = value.parse::<HeaderValue>() {
        value.set_sensitive(true);
        sent.insert(name, value);
    }
    sent
}

/// Returns the response headers that the program gets.
pub(super) fn back(headers: &HeaderMap) -> Vec<(String, String)> {
    let passes = |name: &str| {
        BACK.contains(&name) || BACK_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    };
    let passed = headers.iter().filter(|(name, _)| passes(name.as_str()));
    passed
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}
