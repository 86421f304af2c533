use super::*;

fn rules(mode: NetworkMode, allow: &[&str]) -> NetworkRules {
    bounded(NetworkMode::Open, &[], mode, allow)
}

fn bounded(
    ceiling: NetworkMode,
    of_deployment: &[&str],
    mode: NetworkMode,
    allow: &[&str],
) -> NetworkRules {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let bounds = NetworkBounds {
        ceiling,
        allow: parse(of_deployment),
        own_names: vec!["desk.example.org".to_owned()],
        own_domains: vec!["apps.example.org".to_owned()],
        own_hosts: vec!["9.1.1.2".parse().unwrap()],
        own_addresses: vec![
            "0.0.0.0:7878".parse().unwrap(),
            "9.1.1.1:443".parse().unwrap(),
        ],
    };
    let policy = NetworkPolicy {
        mode,
        allow: parse(allow),
        block: Vec::new(),
    };
    NetworkRules::new(Arc::new(bounds), policy, Vec::new())
}

fn host(text: &str) -> NetworkHost {
    match text.parse() {
        Ok(address) => NetworkHost::Address(address),
        Err(_) => NetworkHost::Name(text.to_owned()),
    }
}

fn blocked(reason: BlockReason) -> NetworkVerdict {
    NetworkVerdict::Blocked(reason)
}

#[test]
fn a_closed_network_reaches_no_host() {
    let closed = rules(NetworkMode::Closed, &[]);
    for text in ["example.com", "1.2.3.4"] {
        assert_eq!(closed.judge(&host(text), 443), blocked(BlockReason::Closed));
    }
    assert_eq!(
        closed.judge_lookup("example.com"),
        blocked(BlockReason::Closed)
    );
}

#[test]
fn the_server_is_refused_under_all_its_names_and_numbers() {
    let open = rules(NetworkMode::Open, &[]);
    let own = [
        "desk.example.org",
        "apps.example.org",
        "port-3000--other.apps.example.org",
        "9.1.1.2",
        "localhost",
        "a.localhost",
    ];
    for text in own {
        assert_eq!(
            open.judge(&host(text), 443),
            blocked(BlockReason::Own),
            "{text}"
        );
    }
    assert_eq!(
        open.judge_address("9.1.1.2".parse().unwrap(), 22),
        Err(BlockReason::Own)
    );
    for text in ["myapps.example.org", "other.desk.example.org", "9.1.1.3"] {
        let verdict = open.judge(&host(text), 443);
        assert_eq!(verdict, NetworkVerdict::Allowed, "{text}");
    }
}

#[test]
fn an_open_network_reaches_only_the_public_internet() {
    let open = rules(NetworkMode::Open, &[]);
    for text in ["example.com", "1.2.3.4", "2606:4700::1"] {
        assert_eq!(
            open.judge(&host(text), 22),
            NetworkVerdict::Allowed,
            "{text}"
        );
    }
    for text in [
        "10.0.0.1",
        "169.254.169.254",
        "127.0.0.1",
        "::1",
        "::ffff:1.2.3.4",
        "198.18.0.1",
    ] {
        let private = blocked(BlockReason::Private);
        assert_eq!(open.judge(&host(text), 443), private, "{text}");
    }
    // A name says nothing about its address.
    assert_eq!(
        open.judge_lookup("internal.example"),
        NetworkVerdict::Allowed
    );
    let private = Err(BlockReason::Private);
    assert_eq!(
        open.judge_address("10.0.0.1".parse().unwrap(), 443),
        private
    );
}

#[test]
fn the_server_itself_and_other_resolvers_are_never_reached() {
    for rules in [
        rules(NetworkMode::Open, &[]),
        rules(
            NetworkMode::Allow,
            &["desk.example.org", "dns.google", "127.0.0.0/8", "8.8.8.8"],
        ),
        bounded(
            NetworkMode::Open,
            &["127.0.0.0/8", "dns.google"],
            NetworkMode::Open,
            &[],
        ),
    ] {
        let judged = |text: &str, port: u16| rules.judge(&host(text), port);
        for name in ["desk.example.org", "localhost", "a.localhost"] {
            assert_eq!(judged(name, 443), blocked(BlockReason::Own), "{name}");
        }
        assert_eq!(judged("127.0.0.1", 7878), blocked(BlockReason::Own));
        assert_eq!(judged("9.1.1.1", 443), blocked(BlockReason::Own));
        assert_eq!(judged("dns.google", 443), blocked(BlockReason::Resolver));
        assert_eq!(judged("8.8.8.8", 443), blocked(BlockReason::Resolver));
        assert_eq!(judged("example.com", 853), blocked(BlockReason::Resolver));
        // A resolver under any other name is found by its address.
        let resolver = Err(BlockReason::Resolver);
        assert_eq!(
            rules.judge_address("8.8.8.8".parse().unwrap(), 443),
            resolver
        );
    }
}

#[test]
fn listed_hosts_are_allowed_and_people_are_asked_about_others() {
    let list = rules(
        NetworkMode::Allow,
        &["*.example.com:443", "pypi.org", "9.8.7.0/24:22"],
    );
    let judged = |text: &str, port: u16| list.judge(&host(text), port);
    assert_eq!(judged("www.example.com", 443), NetworkVerdict::Allowed);
    assert_eq!(judged("www.example.com", 80), NetworkVerdict::Asks);
    assert_eq!(judged("example.com", 443), NetworkVerdict::Asks);
    assert_eq!(judged("pypi.org", 8080), NetworkVerdict::Allowed);
    assert_eq!(judged("9.8.7.6", 22), NetworkVerdict::Allowed);
    assert_eq!(judged("9.8.7.6", 23), NetworkVerdict::Asks);
    assert_eq!(judged("10.0.0.1", 22), blocked(BlockReason::Private));
    assert_eq!(
        list.judge_lookup("www.example.com"),
        NetworkVerdict::Allowed
    );
    assert_eq!(list.judge_lookup("evil.net"), NetworkVerdict::Asks);
}

#[test]
fn only_the_deployment_opens_private_addresses() {
    let own_list = rules(NetworkMode::Allow, &["10.0.0.0/8", "db.internal"]);
    assert_eq!(
        own_list.judge(&host("10.0.0.1"), 5432),
        blocked(BlockReason::Private)
    );
    let address: IpAddr = "10.0.0.1".parse().unwrap();
    assert_eq!(
        own_list.judge_address(address, 5432),
        Err(BlockReason::Private)
    );

    for mode in [NetworkMode::Open, NetworkMode::Allow] {
        let opened = bounded(
            NetworkMode::Open,
            &["10.0.0.0/8:5432"],
            mode,
            &["db.internal"],
        );
        assert_eq!(
            opened.judge(&host("10.0.0.1"), 5432),
            NetworkVerdict::Allowed
        );
        assert_eq!(
            opened.judge(&host("10.0.0.1"), 22),
            blocked(BlockReason::Private)
        );
        assert_eq!(opened.judge_address(address, 5432), Ok(()));
        assert!(opened.is_internal(address, 5432));
    }
}

#[test]
fn no_session_exceeds_the_ceiling() {
    let closed = bounded(NetworkMode::Closed, &["a.example"], NetworkMode::Open, &[]);
    assert_eq!(
        closed.judge(&host("a.example"), 443),
        blocked(BlockReason::Closed)
    );

    let listed = bounded(
        NetworkMode::Allow,
        &["a.example"],
        NetworkMode::Open,
        &["b.example"],
    );
    assert_eq!(
        listed.judge(&host("a.example"), 443),
        NetworkVerdict::Allowed
    );
    assert_eq!(
        listed.judge(&host("b.example"), 443),
        blocked(BlockReason::NotListed)
    );
    let allow = bounded(NetworkMode::Allow, &[], NetworkMode::Allow, &["b.example"]);
    assert_eq!(
        allow.judge(&host("b.example"), 443),
        blocked(BlockReason::NotListed)
    );
}

#[test]
fn a_connection_must_use_the_name_that_it_was_opened_for() {
    let open = rules(NetworkMode::Open, &[]);
    let claim = |rules: &NetworkRules, asked: &str, claimed: &str| {
        rules.judge_claim(&host(asked), 443, &host(claimed))
    };
    assert_eq!(claim(&open, "a.example", "a.example"), Ok(()));
    let other = Err(BlockReason::OtherName);
    assert_eq!(claim(&open, "a.example", "b.example"), other);
    assert_eq!(claim(&open, "a.example", "1.2.3.4"), other);
    // By number every name is fine that could have been asked for.
    assert_eq!(claim(&open, "1.2.3.4", "b.example"), Ok(()));
    assert_eq!(claim(&open, "1.2.3.4", "1.2.3.4"), Ok(()));
    assert_eq!(claim(&open, "1.2.3.4", "1.2.3.5"), other);
    assert_eq!(
        claim(&open, "1.2.3.4", "dns.google"),
        Err(BlockReason::Resolver)
    );
    assert_eq!(
        claim(&open, "1.2.3.4", "desk.example.org"),
        Err(BlockReason::Own)
    );
    let list = rules(NetworkMode::Allow, &["1.2.3.4", "a.example"]);
    assert_eq!(claim(&list, "1.2.3.4", "a.example"), Ok(()));
    assert_eq!(claim(&list, "1.2.3.4", "b.example"), other);
}

#[test]
fn a_policy_is_bounded() {
    let policy = |json: &str| serde_json::from_str::<NetworkPolicy>(json);
    let good = policy(r#"{"mode":"allow","allow":["a.example:443"]}"#).unwrap();
    assert_eq!(good.check(), Ok(()));
    assert!(policy(r#"{"mode":"allow","allow":["http://a"]}"#).is_err());
    assert!(policy(r#"{"mode":"wide"}"#).is_err());
    // The list is kept for the day on which the mode changes back.
    let kept = policy(r#"{"mode":"closed","allow":["a.example"]}"#).unwrap();
    assert_eq!(kept.check(), Ok(()));
    let long = NetworkPolicy {
        mode: NetworkMode::Allow,
        allow: vec!["a.example".parse().unwrap(); MOST_NETWORK_RULES + 1],
        block: Vec::new(),
    };
    assert_eq!(long.check(), Err(BadNetworkPolicy::TooMany));
}

#[test]
fn a_host_that_the_settings_name_is_kept_away_only_by_a_closed_network() {
    for mode in [NetworkMode::Allow, NetworkMode::Open] {
        let vouched = bounded(NetworkMode::Allow, &[], mode, &[]).vouched();
        for text in ["localhost", "tools.lan", "127.0.0.1", "10.0.0.1", "9.1.1.2"] {
            assert_eq!(vouched.judge(&host(text), 8000), NetworkVerdict::Allowed);
        }
        for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "9.1.1.2"] {
            let address = address.parse().unwrap();
            assert_eq!(vouched.judge_address(address, 8000), Ok(()));
            assert_eq!(vouched.is_internal(address, 8000), !is_public(address));
        }
        // This server itself is not a host.
        let own = "127.0.0.1".parse().unwrap();
        assert_eq!(vouched.judge_address(own, 7878), Err(BlockReason::Own));
    }
    let closed = rules(NetworkMode::Closed, &[]).vouched();
    assert_eq!(
        closed.judge(&host("tools.lan"), 8000),
        blocked(BlockReason::Closed)
    );
}

#[test]
fn a_blocked_host_is_kept_away_although_the_network_is_open() {
    let json =
        r#"{"mode":"open","block":["ads.example","*.ads.example","9.9.8.0/24","b.example:80"]}"#;
    let policy: NetworkPolicy = serde_json::from_str(json).unwrap();
    let rules = NetworkRules::new(
        Arc::new(NetworkBounds {
            ceiling: NetworkMode::Open,
            ..NetworkBounds::default()
        }),
        policy,
        Vec::new(),
    );
    for name in ["ads.example", "x.ads.example"] {
        assert_eq!(rules.judge(&host(name), 443), blocked(BlockReason::Denied));
        assert_eq!(rules.judge_lookup(name), blocked(BlockReason::Denied));
    }
    // A name that is blocked on one port can be looked up for the others.
    assert_eq!(rules.judge_lookup("b.example"), NetworkVerdict::Allowed);
    assert_eq!(
        rules.judge(&host("b.example"), 80),
        blocked(BlockReason::Denied)
    );
    assert_eq!(
        rules.judge(&host("b.example"), 443),
        NetworkVerdict::Allowed
    );
    let address = "9.9.8.7".parse().unwrap();
    assert_eq!(rules.judge_address(address, 443), Err(BlockReason::Denied));
    assert_eq!(
        rules.judge(&host("good.example"), 443),
        NetworkVerdict::Allowed
    );
}
