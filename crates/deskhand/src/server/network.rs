//! Sets up the network of sandboxes according to the settings.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use deskhand_app::{App, NetworkSettings};
use deskhand_core::{
    network::{NetworkConnection, policy::NetworkBounds},
    tasks::Tasks,
};
use deskhand_egress::{Egress, HostVerifier, Lookups, SystemResolver, TcpDialler};

use tokio::sync::mpsc;

use crate::{config::Config, descriptors};

/// Returns the bounds of the network of every session.
pub(super) fn bounds(config: &Config, address: SocketAddr, public_url: &str) -> NetworkBounds {
    let own = OwnHosts::of(public_url, &config.port.allowed_hosts);
    let domain = config.apps.domain.as_deref();
    NetworkBounds {
        ceiling: config.network.ceiling,
        allow: config.network.allow.clone(),
        own_names: own.names,
        own_domains: domain.map(lower_case).into_iter().collect(),
        own_hosts: own.addresses,
        own_addresses: vec![address],
    }
}

/// The hosts under which people reach the server.
#[derive(Debug, Default, PartialEq, Eq)]
struct OwnHosts {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl OwnHosts {
    fn of(public_url: &str, allowed_hosts: &[String]) -> Self {
        let hosts = host_of(public_url).into_iter();
        let hosts = hosts.chain(allowed_hosts.iter().map(String::as_str));
        let mut own = Self::default();
        for host in hosts {
            match host.parse() {
                Ok(address) => own.addresses.push(address),
                Err(_) => own.names.push(lower_case(host)),
            }
        }
        own
    }
}

fn lower_case(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Returns the host of an address, without scheme, port and path.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let place = rest.split(['/', '?', '#']).next()?;
    let place = place.rsplit('@').next()?;
    match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => place.split(':').next(),
    }
}

/// Serves the connections of sandboxes to the network.
pub(super) fn serve(
    contacted: mpsc::Receiver<NetworkConnection>,
    config: &Config,
    n_descriptors: u64,
    app: &App,
    connections: &Tasks,
) -> anyhow::Result<()> {
    if let Some(variable) = config.network.unusable_proxy {
        tracing::warn!(
            variable,
            "this is not the address of an HTTP proxy, so sandboxes reach the internet directly; set network.proxy"
        );
    }
    let own_names = app.network().bounds().own_names.clone();
    let egress = Egress {
        guard: Arc::new(app.network().clone()),
        lookups: Lookups::new(Arc::new(SystemResolver::default()), own_names),
        dialler: Arc::new(TcpDialler),
        proxy: config.network.proxy.clone(),
        most_connections: descriptors::for_sandboxes(n_descriptors),
        verifier: HostVerifier::of_machine(),
        connect_timeout: config.network.connect_timeout,
    };
    let end = connections.shutdown().clone();
    connections.spawn("network", deskhand_egress::serve(contacted, egress, end));
    Ok(())
}

/// Returns the settings of the network of sessions.
pub(super) fn settings(
    config: &Config,
    bounds: NetworkBounds,
    n_descriptors: u64,
) -> NetworkSettings {
    NetworkSettings {
        default: config.network.default,
        bounds,
        connections: config.network.connections,
        // One owner cannot use up the connections of all others.
        owner_connections: descriptors::for_sandboxes(n_descriptors).div_ceil(2),
        session_bytes: config.network.session_bytes,
        while_idle: config.network.while_idle,
        ask_timeout: config.network.ask_timeout,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_the_server_are_read_from_its_addresses() {
        let own = |url: &str, allowed: &[&str]| {
            let allowed: Vec<_> = allowed.iter().map(|name| (*name).to_owned()).collect();
            let OwnHosts { names, addresses } = OwnHosts::of(url, &allowed);
            let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
            (names.join(" "), addresses.join(" "))
        };
        let expected = |names: &str, addresses: &str| (names.to_owned(), addresses.to_owned());
        assert_eq!(
            own(
                "https://Desk.Example:8443/x",
                &["Other.Example", "203.0.113.9"]
            ),
            expected("desk.example other.example", "203.0.113.9")
        );
        assert_eq!(
            own("http://203.0.113.5:80", &[]),
            expected("", "203.0.113.5")
        );
        assert_eq!(
            own("https://[2001:db8::5]:443/", &[]),
            expected("", "2001:db8::5")
        );
    }
}
