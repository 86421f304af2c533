//! The settings of the network of sandboxes.

use std::time::Duration;

use deskhand_core::network::{policy::NetworkMode, rule::NetworkRule};
use deskhand_egress::UpstreamProxy;

use super::reader::Reader;

const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct NetworkConfig {
    pub(crate) default: NetworkMode,
    pub(crate) ceiling: NetworkMode,
    pub(crate) allow: Vec<NetworkRule>,
    pub(crate) while_idle: bool,
    pub(crate) connections: usize,
    /// `None` without a limit.
    pub(crate) session_bytes: Option<u64>,
    pub(crate) connect_timeout: Duration,
    pub(crate) ask_timeout: Duration,
    pub(crate) proxy: Option<UpstreamProxy>,
    /// An environment variable with a proxy that the server cannot use.
    pub(crate) unusable_proxy: Option<&'static str>,
}

pub(super) fn network(reader: &mut Reader<'_>) -> NetworkConfig {
    let session_mib: u64 = reader.integer("network.session_mib", 0..=1_073_741_824);
    let seconds = |reader: &mut Reader<'_>, key: &str, most: u64| {
        Duration::from_secs(reader.integer(key, 1..=most))
    };
    let (proxy, unusable_proxy) = proxy(reader, "network.proxy");
    NetworkConfig {
        default: mode(reader, "network.default"),
        ceiling: mode(reader, "network.ceiling"),
        allow: rules(reader, "network.allow"),
        while_idle: reader.yes_or_no("network.while_idle"),
        connections: reader.integer("network.connections", 1..=4096),
        session_bytes: Some(session_mib * MIB).filter(|bytes| *bytes > 0),
        connect_timeout: seconds(reader, "network.connect_seconds", 300),
        ask_timeout: seconds(reader, "network.ask_seconds", 120),
        proxy,
        unusable_proxy,
    }
}

fn mode(reader: &mut Reader<'_>, key: &str) -> NetworkMode {
    reader.one_of(key, &NetworkMode::ALL.map(|mode| (mode.name(), mode)))
}

/// Reads rules that are separated by commas.
pub(super) fn rules(reader: &mut Reader<'_>, key: &str) -> Vec<NetworkRule> {
    let given = reader.text(key);
    let texts = given.split(',').map(str::trim);
    let mut rules = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        match text.parse::<NetworkRule>() {
            Ok(rule) => rules.push(rule),
            Err(bad) => reader.mistake(key, &bad.to_string()),
        }
    }
    rules
}

/// Reads the proxy. If it is not set, the usual environment variables apply. If one of them has a proxy that the server
/// cannot use, its name is returned instead.
fn proxy(reader: &mut Reader<'_>, key: &str) -> (Option<UpstreamProxy>, Option<&'static str>) {
    if reader.text(key) == "direct" {
        return (None, None);
    }
    if let Some(given) = reader.secret(key) {
        let parsed = UpstreamProxy::parse(given.expose());
        let proxy = parsed.map_err(|bad| reader.mistake(key, &bad.to_string()));
        return (proxy.ok(), None);
    }
    let environment = reader.environment();
    let usual = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let set = |name: &'static str| Some((name, environment.get(name)?));
    let mut found = usual.into_iter().filter_map(set);
    let Some((name, value)) = found.next() else {
        return (None, None);
    };
    let exceptions = ["NO_PROXY", "no_proxy"];
    let exceptions = exceptions.iter().find_map(|name| environment.get(name));
    match UpstreamProxy::parse(value) {
        Ok(proxy) => (Some(proxy.except(exceptions.unwrap_or_default())), None),
        // It may be another kind of proxy, for other programs.
        Err(_) => (None, Some(name)),
    }
}
