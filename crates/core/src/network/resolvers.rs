//! Public DNS resolvers that programs could use over HTTPS or TLS instead of ours.
//!
//! The policy sees only names that our resolver answers. A determined program can still tunnel lookups through any
//! allowed connection. This list keeps browsers and tools from bypassing our resolver by default.

use std::net::IpAddr;

/// Resolvers by name, including their subdomains.
const NAMES: &[&str] = &[
    "adguard-dns.com",
    "applied-privacy.net",
    "chrome.cloudflare-dns.com",
    "cleanbrowsing.org",
    "cloudflare-dns.com",
    "controld.com",
    "dns.alidns.com",
    "dns.digitale-gesellschaft.ch",
    "dns.google",
    "dns.google.com",
    "dns.nextdns.io",
    "dns.quad9.net",
    "dns.sb",
    "dns0.eu",
    "dns10.quad9.net",
    "dns11.quad9.net",
    "dns9.quad9.net",
    "doh.cleanbrowsing.org",
    "doh.dns.apple.com",
    "doh.dns.sb",
    "doh.familyshield.opendns.com",
    "doh.libredns.gr",
    "doh.opendns.com",
    "doh.pub",
    "doh.xfinity.com",
    "firefox.dns.nextdns.io",
    "freedns.controld.com",
    "mozilla.cloudflare-dns.com",
    "mullvad.dns.net",
    "dns.mullvad.net",
    "odoh.cloudflare-dns.com",
    "one.one.one.one",
    "private.canadianshield.cira.ca",
    "unfiltered.adguard-dns.com",
];

/// Resolvers by address.
const ADDRESSES: &[&str] = &[
    "1.0.0.1",
    "1.0.0.2",
    "1.0.0.3",
    "1.1.1.1",
    "1.1.1.2",
    "1.1.1.3",
    "8.8.4.4",
    "8.8.8.8",
    "9.9.9.9",
    "9.9.9.10",
    "9.9.9.11",
    "45.90.28.0",
    "45.90.30.0",
    "76.76.2.0",
    "76.76.10.0",
    "94.140.14.14",
    "94.140.15.15",
    "149.112.112.112",
    "185.228.168.9",
    "193.110.81.0",
    "208.67.220.220",
    "208.67.222.222",
    "223.5.5.5",
    "223.6.6.6",
    "2001:4860:4860::8844",
    "2001:4860:4860::8888",
    "2606:4700:4700::1001",
    "2606:4700:4700::1111",
    "2620:fe::9",
    "2620:fe::fe",
];

/// The ports of DNS over TCP, and over TLS.
const PORTS: [u16; 2] = [53, 853];

/// Returns true if resolvers listen on this port.
pub fn is_resolver_port(port: u16) -> bool {
    PORTS.contains(&port)
}

/// Returns true if a resolver has this name.
pub fn is_resolver_name(name: &str) -> bool {
    NAMES.iter().any(|listed| {
        name.strip_suffix(listed)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// Returns true if a resolver has this address.
pub fn is_resolver_address(address: IpAddr) -> bool {
    // The list has the canonical text of each address.
    let text = address.to_string();
    ADDRESSES.contains(&text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_address_is_in_canonical_form() {
        for text in ADDRESSES {
            let address: IpAddr = text.parse().unwrap();
            assert!(is_resolver_address(address), "{text}");
        }
        assert!(!is_resolver_address("1.1.1.4".parse().unwrap()));
    }

    #[test]
    fn subdomains_of_a_resolver_are_blocked() {
        assert!(is_resolver_name("dns.google"));
        assert!(is_resolver_name("abc123.dns.nextdns.io"));
        assert!(!is_resolver_name("notdns.google"));
        assert!(!is_resolver_name("google.com"));
    }
}
