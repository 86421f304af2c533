//! The headers that pass between a person's browser and a program in a sandbox.
//!
//! Inward, the program sees a request to itself on its own machine, without our cookies and tokens. Outward, the program
//! can set nothing that affects other origins.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{self, Entry},
};

use super::AppSite;

/// Hop-by-hop headers, which are never passed on.
const HOP_BY_HOP: [HeaderName; 9] = [
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

/// Headers in which clients and proxies describe the path of a request.
const OF_PROXIES: [&str; 5] = ["forwarded", "via", "x-real-ip", "x-client-ip", "expect"];

/// Response headers that affect more than one response, or that decide which origins may read or frame it.
const REMOVED: [&str; 11] = [
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

/// The address of a program inside the sandbox, and for browsers.
#[derive(Debug)]
pub(super) struct Addresses {
    /// The host and port inside the sandbox.
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
        remove_hop_by_hop(&mut headers);
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
        remove_hop_by_hop(&mut headers);
        for name in REMOVED {
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

    /// Translates an origin or address into the one inside the sandbox.
    fn seen_inside(&self, value: &HeaderValue) -> Option<HeaderValue> {
        let rest = value.to_str().ok()?.strip_prefix(&self.outer)?;
        let is_whole = rest.is_empty() || rest.starts_with('/');
        let inner = format!("http://{}{rest}", self.inner);
        HeaderValue::from_str(&inner).ok().filter(|_| is_whole)
    }

    /// Translates an address of the program into the one for browsers. Other addresses are returned unchanged.
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

/// Adds the headers of every response at a service's host.
pub(super) fn protect(headers: &mut HeaderMap, site: &AppSite) {
    if let Ok(ancestors) = HeaderValue::from_str(&site.frame_ancestors()) {
        headers.append(header::CONTENT_SECURITY_POLICY, ancestors);
    }
    let fixed = [
        ("cross-origin-resource-policy", "same-origin"),
        // The page cannot relax its origin to the whole domain with `document.domain`.
        ("origin-agent-cluster", "?1"),
    ];
    for (name, value) in fixed {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in listed.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Returns true for a token of this server, which programs in sandboxes must not see.
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

/// Rewrites a cookie of the program so that only its own origin receives it and it works in a frame of the dashboard.
/// Returns `None` for a cookie with one of our names.
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

/// Removes `frame-ancestors` from a content security policy. Ours is added instead.
fn without_frame_ancestors(value: &str) -> Option<String> {
    // One header may contain several policies, separated by commas.
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

/// Changes every value of a header. Removes values for which `change` returns `None`, and those that are not text.
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
