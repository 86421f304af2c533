//! Connects a sandbox to the network.

use std::{io, os::fd::OwnedFd};

use deskhand_core::sandbox::Network;
use deskhand_runner_protocol::network::SPARE_CONNECTIONS;
use rustix::process::Pid;
use tokio::task::spawn_blocking;

use super::LocalSpec;
use crate::{
    local::{host::Host, interface},
    network::NetworkDoor,
};

/// Returns the entrance to the server's end of the network, if the sandbox is connected.
pub(super) fn door(host: &Host, spec: LocalSpec) -> Option<NetworkDoor> {
    let entrance = host.settings.network.clone()?;
    let n_hosts = host.settings.network_connections + SPARE_CONNECTIONS;
    (spec.network == Network::Connected).then(|| NetworkDoor::new(spec.session, entrance, n_hosts))
}

/// Creates the interface of the sandbox whose first process is `first`, if it has a network.
pub(super) async fn interface(host: &Host, spec: LocalSpec, first: Option<Pid>) -> Option<OwnedFd> {
    let first = match spec.network {
        Network::Closed => return None,
        Network::Connected => first?,
    };
    let program = host.settings.runner.clone();
    let made = spawn_blocking(move || interface::ask(&program, first)).await;
    let made = made.map_err(io::Error::from).flatten();
    made.inspect_err(|error| {
        tracing::warn!(%error, session.id = %spec.session, "a sandbox has no interface, so its programs use a proxy");
    })
    .ok()
}
