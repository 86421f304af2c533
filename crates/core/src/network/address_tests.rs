use super::*;

#[test]
fn only_the_public_internet_is_public() {
    let public = [
        "1.2.3.4",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "128.0.0.1",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.1",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1",
        "2001:4860:4860::8888",
        "2a00::1",
        "3ffe::1",
    ];
    for address in public {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
    let others = [
        // This network, private, CGNAT, loopback, link-local.
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        // Assignments, documentation, relays, benchmarks.
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        // Multicast, reserved, broadcast.
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        // The same with IPv6.
        "::",
        "::1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        // Addresses of IPv4 in IPv6: mapped, compatible, translated, NAT64, its local form, 6to4, Teredo, ISATAP of
        // link-local.
        "::ffff:169.254.169.254",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "fe80::5efe:a00:1",
    ];
    for address in others {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn ranges_are_parsed_and_shown() {
    let shown = |text: &str| text.parse::<IpRange>().map(|range| range.to_string());
    assert_eq!(shown("10.1.2.3/8").unwrap(), "10.0.0.0/8");
    assert_eq!(shown("10.1.2.3").unwrap(), "10.1.2.3");
    assert_eq!(shown("10.1.2.3/32").unwrap(), "10.1.2.3");
    assert_eq!(shown("0.0.0.0/0").unwrap(), "0.0.0.0/0");
    assert_eq!(shown("fd00:1::5/32").unwrap(), "fd00:1::/32");
    assert_eq!(shown("::/0").unwrap(), "::/0");
    for bad in [
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/+8",
        "10.0.0/8",
        "::1/129",
        "host/8",
        "",
    ] {
        assert!(shown(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_range_contains_its_addresses_and_no_others() {
    let within = |range: &str, address: &str| {
        let range: IpRange = range.parse().unwrap();
        range.contains(address.parse().unwrap())
    };
    assert!(within("10.0.0.0/8", "10.255.0.1"));
    assert!(!within("10.0.0.0/8", "11.0.0.1"));
    assert!(within("10.1.2.3", "10.1.2.3"));
    assert!(!within("10.1.2.3", "10.1.2.4"));
    assert!(within("0.0.0.0/0", "255.1.1.1"));
    assert!(!within("0.0.0.0/0", "::1"), "another version of IP");
    assert!(!within("::/0", "1.1.1.1"));
    assert!(within("fd00::/8", "fdff::1"));
}
