use super::*;
use crate::{ConnectionLimits, Settings};

const OUTER: &str = "http://port-3000--s.localhost:7878";

fn site(public_url: &str, domain: Option<&str>) -> AppSite {
    AppSite::new(&Settings {
        public_url: public_url.to_owned(),
        allowed_hosts: Vec::new(),
        apps_domain: domain.map(str::to_owned),
        requests_per_second: 0,
        sign_ins_per_minute: 0,
        wrong_tokens_per_minute: 0,
        connections: ConnectionLimits::NONE,
        mcp_groups: deskhand_mcp::Groups::default(),
        streams: None,
        activity: None,
    })
    .unwrap()
}

fn map(headers: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    map
}

fn lines(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.iter();
    let mut lines: Vec<String> = lines
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    lines.sort();
    lines
}

fn inward(headers: &[(&str, &str)]) -> Vec<String> {
    let addresses = Addresses::new(Some(3000), OUTER.to_owned());
    lines(&addresses.inward(map(headers)))
}

fn outward(headers: &[(&str, &str)]) -> Vec<String> {
    let addresses = Addresses::new(Some(3000), OUTER.to_owned());
    lines(&addresses.outward(map(headers), &site("http://localhost:7878", None)))
}

#[test]
fn a_program_sees_a_request_to_itself_without_our_cookies_and_tokens() {
    let seen = inward(&[
        ("host", "port-3000--s.localhost:7878"),
        ("origin", OUTER),
        ("referer", "http://port-3000--s.localhost:7878/a?b"),
        (
            "cookie",
            "deskhand-app=x; theme=dark; deskhand=y; __Host-deskhand=z",
        ),
        ("authorization", "Bearer dh_abc"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-host", "evil.example"),
        ("forwarded", "for=192.0.2.1"),
        ("connection", "keep-alive, x-secret-hop"),
        ("x-secret-hop", "1"),
        ("te", "trailers"),
        ("accept", "*/*"),
    ]);
    assert_eq!(
        seen,
        [
            "accept: */*",
            "cookie: theme=dark",
            "host: localhost:3000",
            "origin: http://localhost:3000",
            "referer: http://localhost:3000/a?b",
        ]
    );
    // Tokens and origins of the program itself are kept.
    let seen = inward(&[
        ("authorization", "Bearer eyJhb"),
        ("origin", "http://port-3000--s.localhost:78789"),
        ("cookie", "deskhand-app=x"),
    ]);
    assert_eq!(
        seen,
        [
            "authorization: Bearer eyJhb",
            "host: localhost:3000",
            "origin: http://port-3000--s.localhost:78789",
        ]
    );
}

#[test]
fn a_program_cannot_affect_other_origins() {
    let seen = outward(&[
        ("set-cookie", "a=b; Domain=localhost; Path=/; HttpOnly"),
        ("set-cookie", "deskhand=stolen; Path=/"),
        ("set-cookie", " DESKHAND-APP =stolen"),
        ("set-cookie", "c=d; SameSite=Strict; DOMAIN=.localhost"),
        ("strict-transport-security", "max-age=1; includeSubDomains"),
        ("clear-site-data", "\"*\""),
        ("service-worker-allowed", "/"),
        ("access-control-allow-origin", "*"),
        ("x-frame-options", "DENY"),
        (
            "content-security-policy",
            "default-src 'self'; frame-ancestors *",
        ),
        ("content-security-policy", "frame-ancestors 'none'"),
        ("connection", "close"),
        ("content-type", "text/html"),
    ]);
    assert_eq!(
        seen,
        [
            "content-security-policy: default-src 'self'",
            "content-type: text/html",
            "service-worker-allowed: /",
            "set-cookie: a=b; Path=/; HttpOnly; SameSite=None; Secure; Partitioned",
            "set-cookie: c=d; SameSite=None; Secure; Partitioned",
        ]
    );
}

#[test]
fn redirects_to_the_program_itself_are_translated() {
    for (sent, seen) in [
        (
            "http://localhost:3000/login",
            "http://port-3000--s.localhost:7878/login",
        ),
        (
            "https://127.0.0.1:3000",
            "http://port-3000--s.localhost:7878",
        ),
        ("//localhost:3000/a", "http://port-3000--s.localhost:7878/a"),
        ("/login", "/login"),
        ("http://localhost:30001/", "http://localhost:30001/"),
        (
            "http://localhost:3000.evil.example/",
            "http://localhost:3000.evil.example/",
        ),
        ("https://example.com/", "https://example.com/"),
    ] {
        assert_eq!(
            outward(&[("location", sent)]),
            [format!("location: {seen}")]
        );
    }
}

#[test]
fn every_response_restricts_its_frame_ancestors() {
    let mut headers = map(&[("content-security-policy", "default-src 'self'")]);
    protect(
        &mut headers,
        &site("https://desk.example", Some("apps.example")),
    );
    assert_eq!(
        lines(&headers),
        [
            "content-security-policy: default-src 'self'",
            "content-security-policy: frame-ancestors 'self' https://desk.example",
            "cross-origin-resource-policy: same-origin",
            "origin-agent-cluster: ?1",
        ]
    );
}
