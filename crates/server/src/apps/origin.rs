//! The hosts and origins of services: `{service}--{session}.{domain}`.

use std::net::IpAddr;

use axum::http::{HeaderMap, Uri, header, uri::Authority};
use deskhand_core::{id::SessionId, service::Service};

use crate::{Settings, site};

/// The domain that needs no setup, because browsers resolve every name under it to their own machine.
const LOCAL_DOMAIN: &str = "localhost";
/// The name of the cookie over http, and over https. See [`crate::site`].
const COOKIE: &str = "deskhand-app";
const SECURE_COOKIE: &str = "__Host-deskhand-app";

/// The domain of all services of this server.
#[derive(Debug)]
pub(crate) struct AppSite {
    is_encrypted: bool,
    /// In lower case.
    domain: String,
    /// The port of the public address, with its colon. Empty for the default port.
    port: String,
    /// The origins of the dashboard. No other page may frame services.
    dashboards: Vec<String>,
}

/// One service of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AppHost {
    pub(crate) service: Service,
    pub(crate) session: SessionId,
}

/// The kind of host that a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    App(AppHost),
    /// Not a service.
    Other,
    /// The request names several hosts, and one of them is a service.
    Unclear,
}

impl AppSite {
    /// Returns the site of services, or `None` if they have no domain.
    pub(crate) fn new(settings: &Settings) -> Option<Self> {
        let public = site::origin(&settings.public_url);
        let (scheme, authority) = public.split_once("://")?;
        let (host, port) = split_port(authority);
        let is_local = host == LOCAL_DOMAIN || is_loopback(host);
        let domain = match &settings.apps_domain {
            Some(domain) => domain.to_ascii_lowercase(),
            None if is_local => LOCAL_DOMAIN.to_owned(),
            None => return None,
        };
        let others = settings.allowed_hosts.iter();
        let others = others.map(|name| format!("{scheme}://{}{port}", name.to_ascii_lowercase()));
        let local = [LOCAL_DOMAIN, "127.0.0.1"].map(|name| format!("{scheme}://{name}{port}"));
        let mut dashboards = vec![public.clone()];
        dashboards.extend(others);
        dashboards.extend(local.into_iter().filter(|_| is_local));
        dashboards.sort();
        dashboards.dedup();
        Some(Self {
            is_encrypted: scheme == "https",
            domain,
            port: port.to_owned(),
            dashboards,
        })
    }

    pub(crate) fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the address of a service, without a slash at the end.
    pub(crate) fn url(&self, host: AppHost) -> String {
        let AppHost { service, session } = host;
        let (scheme, domain, port) = (self.scheme(), &self.domain, &self.port);
        format!("{scheme}://{service}--{session}.{domain}{port}")
    }

    /// Returns the `frame-src` source that matches all services.
    pub(crate) fn frame_source(&self) -> String {
        format!("{}://*.{}{}", self.scheme(), self.domain, self.port)
    }

    /// Returns the `frame-ancestors` directive of services.
    pub(super) fn frame_ancestors(&self) -> String {
        format!("frame-ancestors 'self' {}", self.dashboards.join(" "))
    }

    pub(super) fn cookie(&self) -> &'static str {
        if self.is_encrypted {
            SECURE_COOKIE
        } else {
            COOKIE
        }
    }

    /// Returns true for the name of a cookie of the gateway or the dashboard.
    pub(super) fn is_our_cookie(name: &str) -> bool {
        let name = name.trim();
        let ours = ["deskhand", "__Host-deskhand", COOKIE, SECURE_COOKIE];
        ours.iter().any(|our| our.eq_ignore_ascii_case(name))
    }

    /// Returns the attributes of cookies that work in a frame of the dashboard.
    ///
    /// The dashboard is another site, so the cookie needs `SameSite=None`. `Partitioned` binds it to the top-level site,
    /// and [`super::initiator`] refuses requests of other pages. Browsers accept such cookies only from origins that they
    /// trust, which are https and localhost.
    pub(super) fn cookie_attributes(&self) -> &'static str {
        if self.is_encrypted || self.domain == LOCAL_DOMAIN {
            "; SameSite=None; Secure; Partitioned"
        } else {
            "; SameSite=Lax"
        }
    }

    /// Returns the kind of host that a request is for.
    pub(super) fn kind_of(&self, uri: &Uri, headers: &HeaderMap) -> HostKind {
        let named = headers.get_all(header::HOST).iter();
        let named = named.map(|name| name.to_str().unwrap_or_default());
        let target = uri.authority().map(Authority::as_str);
        let hosts: Vec<_> = named.chain(target).map(|name| self.parse(name)).collect();
        match hosts.first() {
            Some(Some(app)) if hosts.iter().all(|host| *host == Some(*app)) => HostKind::App(*app),
            _ if hosts.iter().any(Option::is_some) => HostKind::Unclear,
            _ => HostKind::Other,
        }
    }

    fn parse(&self, authority: &str) -> Option<AppHost> {
        let host = site::host(authority);
        let label = host.strip_suffix(&self.domain)?.strip_suffix('.')?;
        let (service, session) = label.split_once("--")?;
        let parsed = AppHost {
            service: service.parse().ok()?,
            session: session.parse().ok()?,
        };
        // An id can be written in several ways, and each would be another origin.
        (parsed.session.to_string() == session).then_some(parsed)
    }

    fn scheme(&self) -> &'static str {
        if self.is_encrypted { "https" } else { "http" }
    }
}

impl AppHost {
    pub(super) fn origin(self, site: &AppSite) -> String {
        site.url(self)
    }
}

/// Splits an authority into its host and its port with the colon.
fn split_port(authority: &str) -> (&str, &str) {
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => authority.split_at(colon),
        _ => (authority, ""),
    }
}

fn is_loopback(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConnectionLimits;

    const ID: &str = "0193d3a0-7d4e-7b3c-8f00-0123456789ab";

    fn site(public_url: &str, domain: Option<&str>) -> Option<AppSite> {
        AppSite::new(&Settings {
            public_url: public_url.to_owned(),
            allowed_hosts: vec!["desk.lan".to_owned()],
            apps_domain: domain.map(str::to_owned),
            requests_per_second: 0,
            sign_ins_per_minute: 0,
            wrong_tokens_per_minute: 0,
            connections: ConnectionLimits::NONE,
            mcp_groups: deskhand_mcp::Groups::default(),
            streams: None,
            activity: None,
        })
    }

    #[test]
    fn a_service_has_a_host_under_the_domain() {
        let host = AppHost {
            service: "port-3000".parse().unwrap(),
            session: ID.parse().unwrap(),
        };
        let local = site("http://127.0.0.1:7878", None).unwrap();
        assert_eq!(
            local.url(host),
            format!("http://port-3000--{ID}.localhost:7878")
        );
        assert_eq!(local.frame_source(), "http://*.localhost:7878");
        let far = site("https://desk.example", Some("Apps.example")).unwrap();
        assert_eq!(
            far.url(host),
            format!("https://port-3000--{ID}.apps.example")
        );
        assert_eq!(
            far.frame_ancestors(),
            "frame-ancestors 'self' https://desk.example https://desk.lan"
        );
        // Browsers on other machines could not reach a service at localhost.
        assert!(site("https://desk.example", None).is_none());
    }

    #[test]
    fn only_the_exact_host_is_a_service() {
        let site = site("http://localhost:7878", None).unwrap();
        let kind = |target: &str, hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            site.kind_of(&target.parse().unwrap(), &headers)
        };
        let app = format!("port-3000--{ID}.localhost");
        for host in [
            app.clone(),
            format!("{app}:7878"),
            app.to_uppercase(),
            format!("{app}.:1"),
        ] {
            assert!(matches!(kind("/", &[&host]), HostKind::App(_)), "{host}");
        }
        for host in [
            "localhost".to_owned(),
            "x.localhost".to_owned(),
            format!("port-03000--{ID}.localhost"),
            format!("port-3000-{ID}.localhost"),
            format!("port-3000--{}.localhost", ID.replace('-', "")),
            format!("{app}.evil.example"),
            format!("x.{app}"),
            format!("port-3000--{ID}"),
            format!("port-3000--{ID}localhost"),
            format!("vnc--{ID}.localhost"),
        ] {
            assert_eq!(kind("/", &[&host]), HostKind::Other, "{host}");
        }
        let other = format!("port-3001--{ID}.localhost");
        assert_eq!(kind("/", &[&app, "localhost"]), HostKind::Unclear);
        assert_eq!(kind("/", &["localhost", &app]), HostKind::Unclear);
        assert_eq!(kind("/", &[&app, &other]), HostKind::Unclear);
        assert_eq!(kind("http://localhost/", &[&app]), HostKind::Unclear);
        assert_eq!(
            kind(&format!("http://{other}/"), &[&app]),
            HostKind::Unclear
        );
        assert!(matches!(
            kind(&format!("http://{app}/"), &[&app]),
            HostKind::App(_)
        ));
    }
}
