use super::*;
use crate::ConnectionLimits;

fn site(public_url: &str, listens: &str, names: &[&str]) -> Site {
    let settings = Settings {
        public_url: public_url.to_owned(),
        apps_domain: None,
        allowed_hosts: names.iter().map(|name| (*name).to_owned()).collect(),
        requests_per_second: 0,
        sign_ins_per_minute: 0,
        wrong_tokens_per_minute: 0,
        connections: ConnectionLimits::NONE,
        mcp_groups: deskhand_mcp::Groups::default(),
        streams: None,
        activity: None,
    };
    Site::new(&settings, listens.parse().unwrap())
}

#[test]
fn a_server_on_the_loopback_is_known_as_that_and_as_its_public_name() {
    let site = site("https://desk.example", "127.0.0.1", &["Other.example"]);
    for known in [
        "localhost",
        "localhost:7878",
        "LOCALHOST.:1",
        "127.0.0.1:7878",
        "127.0.0.9",
        "[::1]:7878",
        "desk.example",
        "DESK.example:443",
        "other.example:8080",
    ] {
        assert!(site.knows(known), "{known}");
    }
    for unknown in [
        "",
        "evil.example",
        "desk.example.evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "x.localhost",
        "192.0.2.1",
        "[2001:db8::1]",
        "user@localhost",
    ] {
        assert!(!site.knows(unknown), "{unknown}");
    }
}

#[test]
fn a_server_on_all_addresses_is_known_as_any_address() {
    let everywhere = site("http://localhost:7878", "0.0.0.0", &[]);
    assert!(everywhere.knows("192.0.2.1:7878") && everywhere.knows("[2001:db8::1]"));
    assert!(!everywhere.knows("evil.example"));
    let one = site("http://192.0.2.1:7878", "192.0.2.1", &[]);
    assert!(one.knows("192.0.2.1") && !one.knows("192.0.2.2"));
}

#[test]
fn the_whole_origin_counts() {
    let site = site("https://desk.example", "127.0.0.1", &["other.example"]);
    for (origin, host) in [
        ("https://desk.example", "desk.example"),
        ("https://desk.example:443", "desk.example"),
        // A proxy may ask for the address behind it.
        ("https://desk.example", "127.0.0.1:7878"),
        ("http://localhost:7878", "localhost:7878"),
        // The port may be forwarded.
        ("http://127.0.0.1:9000", "127.0.0.1:9000"),
        ("http://[::1]:7878", "[::1]:7878"),
        ("https://other.example", "other.example"),
    ] {
        assert!(site.is_ours(origin, host), "{origin} at {host}");
    }
    for (origin, host) in [
        ("", "localhost:7878"),
        ("null", "localhost:7878"),
        ("http://desk.example", "desk.example"),
        ("https://desk.example:8443", "desk.example"),
        ("https://localhost:7878", "localhost:7878"),
        ("http://localhost:9000", "localhost:7878"),
        ("http://127.0.0.1:7878", "localhost:7878"),
        ("http://evil.example", "localhost:7878"),
        ("http://evil.example", "evil.example"),
        ("https://desk.example.evil.example", "desk.example"),
        ("ftp://other.example", "other.example"),
    ] {
        assert!(!site.is_ours(origin, host), "{origin} at {host}");
    }
}

#[test]
fn the_cookie_is_bound_to_its_host_where_there_is_encryption() {
    assert_eq!(
        site("https://desk.example", "127.0.0.1", &[]).cookie(),
        "__Host-deskhand"
    );
    assert_eq!(
        site("http://localhost:7878", "127.0.0.1", &[]).cookie(),
        "deskhand"
    );
}
