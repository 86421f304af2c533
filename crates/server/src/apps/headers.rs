//! The headers that pass between a person's browser and a program in a sandbox.
//!
//! Inward, the program sees a request to itself on its own machine, and nothing of ours. Outward, the program can set
//! nothing that reaches beyond its own origin.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{self, Entry},
};

use super::AppSite;

/// Headers about one connection, which are never passed on.
const OF_THE_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Headers with which clients and proxies tell where a request comes from.
const OF_PROXIES: [&str; 5] = ["forwarded", "via", "x-real-ip", "x-client-ip", "expect"];

/// Headers whose effect is not limited to one answer of one origin, or that decide who may read or show it.
const KEPT_BACK: [&str; 11] = [
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "alt-svc",
    "clear-site-data",
    "nel",
    "report-to",
    "strict-transport-security",
    "x-frame-options",
];

/// A program as it sees itself, and as browsers see it.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Host and port inside the sandbox.
    pub(super) inner: String,
    /// The origin for browsers.
    pub(super) outer: String,
}

impl Addresses {
    pub(super) fn new(port: Option<u16>, outer: String) -> Self {
        let inner = port.map_or_else(
            || "localhost".to_owned(),
            |port| format!("localhost:{port}"),
        );
        Self { inner, outer }
    }

    /// Returns the headers of a request for the program.
    pub(super) fn inward(&self, mut headers: HeaderMap) -> HeaderMap {
        remove_those_of_the_connection(&mut headers);
        let names: Vec<HeaderName> = headers.keys().cloned().collect();
        for name in names {
            let text = name.as_str();
            if text.starts_with("x-forwarded-") || OF_PROXIES.contains(&text) {
                headers.remove(&name);
            }
        }
        if headers.get(header::AUTHORIZATION).is_some_and(is_our_token) {
            headers.remove(header::AUTHORIZATION);
        }
        keep_foreign_cookies(&mut headers);
        for name in [header::ORIGIN, header::REFERER] {
            if let Entry::Occupied(mut entry) = headers.entry(name)
                && let Some(inner) = self.seen_inside(entry.get())
            {
                entry.insert(inner);
            }
        }
        if let Ok(host) = HeaderValue::from_str(&self.inner) {
            headers.insert(header::HOST, host);
        }
        headers
    }

    /// Returns the headers of a response for the browser.
    pub(super) fn outward(&self, mut headers: HeaderMap, site: &AppSite) -> HeaderMap {
        remove_those_of_the_connection(&mut headers);
        for name in KEPT_BACK {
            headers.remove(name);
        }
        rewrite(&mut headers, &header::SET_COOKIE, |value| {
            set_cookie(value, site)
        });
        for name in [
            header::CONTENT_SECURITY_POLICY,
            header::CONTENT_SECURITY_POLICY_REPORT_ONLY,
        ] {
            rewrite(&mut headers, &name, without_frame_ancestors);
        }
        rewrite(&mut headers, &header::LOCATION, |value| {
            Some(self.seen_outside(value))
        });
        headers
    }

    /// Returns an origin or address as it would be inside the sandbox.
    fn seen_inside(&self, value: &HeaderValue) -> Option<HeaderValue> {
        let rest = value.to_str().ok()?.strip_prefix(&self.outer)?;
        let is_whole = rest.is_empty() || rest.starts_with('/');
        let inner = format!("http://{}{rest}", self.inner);
        HeaderValue::from_str(&inner).ok().filter(|_| is_whole)
    }

    /// Returns an address of the program as browsers reach it. Other addresses stay as they are.
    fn seen_outside(&self, value: &str) -> String {
        let port = self.inner.strip_prefix("localhost").unwrap_or_default();
        let own = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
        let after_scheme = ["http://", "https://", "//"]
            .iter()
            .find_map(|scheme| value.strip_prefix(scheme));
        let path = after_scheme.and_then(|rest| {
            let after = own.iter().find_map(|host| rest.strip_prefix(host))?;
            let path = after.strip_prefix(port)?;
            (path.is_empty() || path.starts_with(['/', '?', '#'])).then_some(path)
        });
        path.map_or_else(|| value.to_owned(), |path| format!("{}{path}", self.outer))
    }
}

/// Adds the headers that every answer at a service's host has.
pub(super) fn protect(headers: &mut HeaderMap, site: &AppSite) {
    if let Ok(ancestors) = HeaderValue::from_str(&site.frame_ancestors()) {
        headers.append(header::CONTENT_SECURITY_POLICY, ancestors);
    }
    let fixed = [
        ("cross-origin-resource-policy", "same-origin"),
        // The page cannot widen its origin to the whole domain.
        ("origin-agent-cluster", "?1"),
    ];
    for (name, value) in fixed {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
}

fn remove_those_of_the_connection(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in listed.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

/// Returns true for a token of this server, which a program in a sandbox must not see.
fn is_our_token(value: &HeaderValue) -> bool {
    let token = value.to_str().ok().and_then(|value| value.split_once(' '));
    token.is_some_and(|(scheme, token)| {
        scheme.eq_ignore_ascii_case("bearer") && token.trim_start().starts_with("dh")
    })
}

fn keep_foreign_cookies(headers: &mut HeaderMap) {
    rewrite(headers, &header::COOKIE, |value| {
        let pairs = value.split(';').map(str::trim);
        let foreign = pairs.filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !AppSite::is_our_cookie(name)
        });
        let kept = foreign.collect::<Vec<_>>().join("; ");
        (!kept.is_empty()).then_some(kept)
    });
}

/// Returns a cookie of the program that only its own origin gets, and that also works in a frame of the dashboard.
/// Returns `None` for one that has a name of ours.
fn set_cookie(value: &str, site: &AppSite) -> Option<String> {
    let mut parts = value.split(';').map(str::trim);
    let pair = parts.next()?;
    let name = pair.split('=').next().unwrap_or_default();
    if AppSite::is_our_cookie(name) {
        return None;
    }
    let rewritten = ["domain", "samesite", "secure", "partitioned"];
    let kept = parts.filter(|part| {
        let name = part.split('=').next().unwrap_or_default().trim();
        !rewritten
            .iter()
            .any(|other| other.eq_ignore_ascii_case(name))
    });
    let kept: String = kept.map(|part| format!("; {part}")).collect();
    Some(format!("{pair}{kept}{}", site.cookie_attributes()))
}

/// Removes the rule about frames from a content security policy, since ours takes its place.
fn without_frame_ancestors(value: &str) -> Option<String> {
    // Several policies may stand in one header, separated by commas.
    let policies = value.split(',').map(|policy| {
        let rules = policy.split(';').map(str::trim).filter(|rule| {
            let name = rule.split_ascii_whitespace().next().unwrap_or_default();
            !rule.is_empty() && !name.eq_ignore_ascii_case("frame-ancestors")
        });
        rules.collect::<Vec<_>>().join("; ")
    });
    let kept: Vec<String> = policies.filter(|policy| !policy.is_empty()).collect();
    (!kept.is_empty()).then(|| kept.join(", "))
}

/// Changes every value of a header, and removes those that become nothing. Values that are not text are removed.
fn rewrite(headers: &mut HeaderMap, name: &HeaderName, change: impl Fn(&str) -> Option<String>) {
    let Entry::Occupied(entry) = headers.entry(name) else {
        return;
    };
    let (_, values) = entry.remove_entry_mult();
    let values: Vec<HeaderValue> = values.collect();
    for value in values {
        let changed = value.to_str().ok().and_then(&change);
        if let Some(changed) = changed.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.append(name.clone(), changed);
        }
    }
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
