use super::*;

fn rule(text: &str) -> NetworkRule {
    text.parse().unwrap()
}

fn named(name: &str) -> NetworkHost {
    NetworkHost::Name(name.to_owned())
}

fn numbered(address: &str) -> NetworkHost {
    NetworkHost::Address(address.parse().unwrap())
}

#[test]
fn rules_are_shown_as_they_are_parsed() {
    let same = [
        "example.com",
        "*.example.com:443",
        "example.com:8000-8999",
        "10.0.0.0/8",
        "10.1.2.3:5432",
        "10.0.0.0/8:5432",
        "fd00::/8",
        "[fd00::]/8:80-99",
        "[fd00::1]:80",
        "_service.example.com",
    ];
    for text in same {
        assert_eq!(rule(text).to_string(), text);
        let json = serde_json::to_string(&rule(text)).unwrap();
        assert_eq!(
            serde_json::from_str::<NetworkRule>(&json).unwrap(),
            rule(text)
        );
    }
    assert_eq!(rule(" Example.COM. ").to_string(), "example.com");
    assert_eq!(rule("10.1.2.3/8").to_string(), "10.0.0.0/8");
    assert_eq!(rule("[fd00::1]").to_string(), "fd00::1");
}

#[test]
fn other_texts_are_refused() {
    let long = format!("{}.example", "a".repeat(64));
    let others = [
        "",
        "*",
        "*.",
        "*.*.example.com",
        "a.*.example.com",
        "http://example.com",
        "example.com/path",
        "example.com:",
        "example.com:0",
        "example.com:70000",
        "example.com:9-8",
        "example.com:+443",
        "exa mple.com",
        "-a.example",
        "a..example",
        "ex\u{e4}mple.com",
        "127.1",
        "0x7f000001",
        "2130706433",
        "10.0.0.0/33",
        "[fd00::",
        "user@example.com",
        &long,
    ];
    for text in others {
        assert!(text.parse::<NetworkRule>().is_err(), "{text}");
    }
}

#[test]
fn a_name_covers_itself_and_a_wildcard_covers_names_below() {
    let covers = |text: &str, name: &str| rule(text).covers(&named(name), 443);
    assert!(covers("example.com", "example.com"));
    assert!(!covers("example.com", "www.example.com"));
    assert!(covers("*.example.com", "www.example.com"));
    assert!(covers("*.example.com", "a.b.example.com"));
    assert!(!covers("*.example.com", "example.com"));
    assert!(!covers("*.example.com", ".example.com"));
    assert!(!covers("*.example.com", "badexample.com"));
    assert!(!covers("*.example.com", "example.com.evil.net"));
    assert!(covers("example.com:443", "example.com"));
    assert!(!covers("example.com:80", "example.com"));
    assert!(covers("example.com:400-500", "example.com"));
    assert!(rule("example.com:80").covers_name("example.com", None));
}

#[test]
fn a_range_covers_addresses_and_never_a_name() {
    let internal = rule("10.0.0.0/8:5432");
    assert!(internal.covers(&numbered("10.1.1.1"), 5432));
    assert!(!internal.covers(&numbered("10.1.1.1"), 5433));
    assert!(!internal.covers(&numbered("11.1.1.1"), 5432));
    assert!(!internal.covers(&named("db.example"), 5432));
    assert!(!rule("example.com").covers(&numbered("10.1.1.1"), 443));
}

#[test]
fn a_rule_for_one_host_covers_only_it() {
    for host in [
        named("example.com"),
        numbered("9.9.9.10"),
        numbered("2606::1"),
    ] {
        let rule = NetworkRule::exactly(&host, 443);
        assert!(rule.covers(&host, 443));
        assert!(!rule.covers(&host, 80));
        assert_eq!(rule.to_string().parse::<NetworkRule>().unwrap(), rule);
    }
}
