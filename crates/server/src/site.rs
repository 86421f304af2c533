//! The names under which the server may be reached, and the origins of its page.
//!
//! A page of another site can have its own name point to this server's address. The browser then takes both for one
//! site, and only the `Host` header tells them apart. So a request for an unknown name is refused.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header, request::Parts, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{Settings, problem::Problem};

/// The cookie's name without encryption.
pub(crate) const COOKIE: &str = "deskhand";
/// The cookie's name with https. Browsers accept this prefix only from the host itself, encrypted, and for all paths,
/// so no other host or port can set the cookie.
const SECURE_COOKIE: &str = "__Host-deskhand";

/// The addresses and names of this server.
#[derive(Debug)]
pub(crate) struct Site {
    /// Scheme and authority of the public address, in lower case.
    public: String,
    /// The address that the server listens on.
    listens: IpAddr,
    /// Further names, in lower case and without a port.
    names: Vec<String>,
}

impl Site {
    pub(crate) fn new(settings: &Settings, listens: IpAddr) -> Self {
        let names = settings.allowed_hosts.iter();
        Self {
            public: origin(&settings.public_url),
            listens,
            names: names.map(|name| name.to_ascii_lowercase()).collect(),
        }
    }

    /// Returns the name of the cookie.
    pub(crate) fn cookie(&self) -> &'static str {
        if self.is_encrypted() {
            SECURE_COOKIE
        } else {
            COOKIE
        }
    }

    /// Returns true if people reach the server over https.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.public.starts_with("https:")
    }

    /// Returns true if the server may be reached as this host, at any port.
    fn knows(&self, authority: &str) -> bool {
        let host = host(authority);
        let (_, public) = self.public.split_once("://").unwrap_or_default();
        host == self::host(public) || self.is_own_address(&host) || self.names.contains(&host)
    }

    /// Returns true if this is the name or the address of the machine itself. No other site can have it.
    fn is_own_address(&self, host: &str) -> bool {
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || literal.parse::<IpAddr>().is_ok_and(|address| {
                self.listens.is_unspecified() || address.is_loopback() || address == self.listens
            })
    }

    /// Returns true if the origin is that of the page at this authority.
    fn is_ours(&self, origin: &str, authority: &str) -> bool {
        let origin = self::origin(origin);
        if origin == self.public {
            return true;
        }
        let authority = authority.to_ascii_lowercase();
        let host = host(&authority);
        match origin.split_once("://") {
            Some(("http", place)) if self.is_own_address(&host) => place == authority,
            // A proxy may add encryption.
            Some(("http" | "https", place)) if self.names.contains(&host) => place == authority,
            _ => false,
        }
    }

    /// Refuses requests that another site makes a signed-in browser send.
    pub(crate) fn require_own_page(&self, parts: &Parts) -> Result<(), Problem> {
        let origin = text(&parts.headers, header::ORIGIN).unwrap_or_default();
        let authority = authority(&parts.uri, &parts.headers).unwrap_or_default();
        if self.is_ours(origin, authority) {
            return Ok(());
        }
        let message = "this request must come from Deskhand's own page; programs send a bearer token and no origin";
        Err(Problem::refuse(
            StatusCode::FORBIDDEN,
            "wrong_origin",
            message,
        ))
    }

    /// Refuses requests of pages of other sites. Programs send no origin.
    pub(crate) fn refuse_other_sites(&self, parts: &Parts) -> Result<(), Problem> {
        if parts.headers.contains_key(header::ORIGIN) {
            self.require_own_page(parts)
        } else {
            Ok(())
        }
    }
}

/// Refuses requests for a host that is not this server.
pub(crate) async fn check_host(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    let header = text(request.headers(), header::HOST).unwrap_or_default();
    let target = request.uri().authority().map_or(header, |it| it.as_str());
    if site.knows(header) && site.knows(target) {
        return next.run(request).await;
    }
    let message = format!(
        "this server is not known as {:?}; set public_url or allowed_hosts to that name, or use one of its addresses",
        host(header)
    );
    Problem::refuse(StatusCode::MISDIRECTED_REQUEST, "unknown_host", message).into_response()
}

/// Returns the host and port that a request is for.
fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let target = uri.authority().map(Authority::as_str);
    target.or_else(|| text(headers, header::HOST))
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Returns scheme and authority of an address in lower case, without the scheme's usual port.
pub(crate) fn origin(url: &str) -> String {
    let url = url.to_ascii_lowercase();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let authority = authority.strip_suffix(usual_port).unwrap_or(authority);
    format!("{scheme}://{authority}")
}

/// Returns the host of an authority in lower case, without the port and the dot that may end a name.
pub(crate) fn host(authority: &str) -> String {
    let host = match authority.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    host.to_ascii_lowercase()
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
