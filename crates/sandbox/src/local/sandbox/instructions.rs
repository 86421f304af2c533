//! Builds the runner's configuration and sends it into the sandbox.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use deskhand_core::{sandbox::Network, secret::Secret};
use deskhand_runner_protocol::{
    RunnerConfig, RunnerGateway, RunnerNetwork, descriptor, network::SPARE_CONNECTIONS,
};

use super::{LocalExtras, LocalSpec};
use crate::{
    code_server,
    local::{browser, bubblewrap, host::Host},
};

/// Returns the settings of the runner.
pub(super) fn runner_config(
    host: &Host,
    token: Secret,
    spec: LocalSpec,
    extras: LocalExtras,
    gateway: Option<RunnerGateway>,
) -> RunnerConfig {
    // The fallback is longer than any reasonable wait.
    let ms =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    RunnerConfig {
        socket: bubblewrap::SOCKET.to_owned(),
        token,
        computer: spec.computer,
        screen: spec.screen,
        settle_quiet_ms: ms(host.settings.settle_quiet),
        settle_max_ms: ms(host.settings.settle_max),
        shell_output_bytes: host.settings.shell_output_bytes,
        browser: browser::command_line(spec.computer),
        browser_scripts: host.settings.browser_scripts,
        is_alone: true,
        gateway,
        // Without an interface, programs have to use proxies.
        network: (spec.network == Network::Connected).then_some(RunnerNetwork::Proxies),
        network_connections: host.settings.network_connections + SPARE_CONNECTIONS,
        code: host
            .settings
            .code_server
            .iter()
            .flat_map(|_| code_server::command())
            .collect(),
        variables: extras.variables(),
    }
}

/// Writes the runner's configuration to its standard input, with the interface if it has one. It fits into the socket,
/// so this does not block.
pub(super) fn instruct(
    stdin: &UnixStream,
    mut config: RunnerConfig,
    interface: Option<&OwnedFd>,
) -> io::Result<()> {
    if interface.is_some() {
        config.network = Some(RunnerNetwork::Interface);
    }
    let mut line = serde_json::to_vec(&config)?;
    line.push(b'\n');
    match descriptor::send(stdin, &line, interface.map(AsFd::as_fd)) {
        // The runner has already exited, and its exit is reported elsewhere.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
