//! Which headers pass the gateway. All others stay behind: keys, cookies, accounts, and what belongs to one connection.

use deskhand_core::secret::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::paths::Dialect;

/// On the way to the vendor.
const OUTWARD: [&str; 7] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
];

/// On the way back.
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

/// The version of Anthropic's API for whoever names none.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What the vendor is sent, with the key in its place.
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
        // They were headers before, so that both can be read.
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
    // Without it the vendor says that the key is missing, which is as true.
    if let Ok(mut value) = value.parse::<HeaderValue>() {
        value.set_sensitive(true);
        sent.insert(name, value);
    }
    sent
}

/// What the program gets to see.
pub(super) fn back(headers: &HeaderMap) -> Vec<(String, String)> {
    let passes = |name: &str| {
        BACK.contains(&name) || BACK_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    };
    let passed = headers.iter().filter(|(name, _)| passes(name.as_str()));
    passed
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}
