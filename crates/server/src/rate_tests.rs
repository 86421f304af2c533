use std::net::IpAddr;

use super::*;
use crate::ConnectionLimits;

fn rates_with(wrong_tokens_per_minute: u32) -> Rates {
    Rates::new(&Settings {
        public_url: String::new(),
        apps_domain: None,
        allowed_hosts: Vec::new(),
        requests_per_second: 1,
        sign_ins_per_minute: 1,
        wrong_tokens_per_minute,
        connections: ConnectionLimits::NONE,
        mcp_groups: deskhand_mcp::Groups::default(),
        streams: None,
        activity: None,
    })
}

fn from(address: &str) -> Parts {
    let (mut parts, ()) = axum::http::Request::new(()).into_parts();
    let ip: IpAddr = address.parse().unwrap();
    parts
        .extensions
        .insert(ConnectInfo(SocketAddr::from((ip, 1))));
    parts
}

#[test]
fn wrong_tokens_are_limited_for_a_whole_network() {
    let rates = rates_with(2);
    let tries = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1"];
    let refused = tries.map(|address| rates.count_wrong_token(&from(address)).is_err());
    assert_eq!(refused, [false, false, true, false]);
}

#[test]
fn the_list_of_callers_becomes_shorter_without_further_requests() {
    // A limit that is so high that everybody may ask again at once.
    let rates = rates_with(u32::MAX);
    for n in 0..100 {
        let address = from(&format!("192.0.2.{n}"));
        rates.count_wrong_token(&address).unwrap();
    }
    let limiter = rates.wrong_tokens.clone().unwrap();
    assert_eq!(limiter.len(), 100);
    while !limiter.is_empty() {
        rates.sweep();
    }
}
