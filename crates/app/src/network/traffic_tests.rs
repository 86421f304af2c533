use deskhand_core::network::{
    NetworkHost,
    policy::{NetworkBounds, NetworkMode},
};

use super::*;

fn traffic() -> SessionTraffic {
    let settings = NetworkSettings {
        default: NetworkMode::Open,
        bounds: NetworkBounds::default(),
        connections: 8,
        owner_connections: 8,
        session_bytes: None,
        while_idle: false,
        ask_timeout: Duration::from_secs(1),
    };
    SessionTraffic::new(SessionId::new(), &settings, &[], 0, BlockedHosts::default())
}

#[test]
fn a_connection_is_not_opened_under_rules_that_have_changed() {
    let traffic = traffic();
    let question = NetworkQuestion {
        host: NetworkHost::Name("a.example".to_owned()),
        port: 443,
    };
    let earlier = traffic.rules_version();
    let opened = traffic.open(&question, false, earlier).unwrap();
    let closed = NetworkRules::new(
        Arc::new(NetworkBounds::default()),
        NetworkMode::Closed.into(),
        Vec::new(),
    );
    let version = traffic.begin_recheck();
    assert!(traffic.needs_recheck());
    // A program was allowed to connect by the earlier rules, and only now opens its connection.
    assert!(traffic.open(&question, false, earlier).is_none());
    traffic.close_disallowed(&closed, version);
    assert!(opened.ended.is_cancelled() && !traffic.needs_recheck());
}
