//! `deskhand network`: shows the hosts that programs of a session contacted, and changes its network policy.

use deskhand_api::network::{DestinationView, NetworkView};
use deskhand_core::network::{
    policy::{NetworkMode, NetworkPolicy},
    rule::NetworkRule,
};

use crate::{
    cli::NetworkArgs,
    client::Client,
    config::{Config, Environment},
    find::running_server,
    output,
};

/// Changes the network policy of a session as requested, and prints it with one line per host. Without a session, does the
/// same for the user's own list.
pub(crate) async fn network(
    args: &NetworkArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    let Some(session) = args.session else {
        return own_list(args, &client).await;
    };
    let mut network = client.network(session).await?;
    let mut wanted = network.policy.clone();
    wanted.mode = args.mode.unwrap_or(wanted.mode);
    change(&mut wanted.allow, args)?;
    if wanted != network.policy {
        client.set_network(session, wanted).await?;
        network = client.network(session).await?;
    }
    output::say(&summary(&network));
    for destination in network.destinations.iter().rev() {
        output::answer(&line(destination))?;
    }
    Ok(())
}

/// Changes the user's own list as requested, and prints it.
async fn own_list(args: &NetworkArgs, client: &Client) -> anyhow::Result<()> {
    let mut list = client.own_network().await?;
    let before = list.clone();
    change(&mut list.allow, args)?;
    if list != before {
        client.set_own_network(&list).await?;
    }
    if list.allow.is_empty() {
        output::say("No host is allowed in all your sessions.");
    }
    for rule in &list.allow {
        output::answer(&rule.to_string())?;
    }
    Ok(())
}

/// Adds and removes rules.
fn change(list: &mut Vec<NetworkRule>, args: &NetworkArgs) -> anyhow::Result<()> {
    for rule in &args.remove {
        let n_before = list.len();
        list.retain(|listed| listed != rule);
        anyhow::ensure!(
            list.len() < n_before,
            "{rule} is not on the list; `deskhand network` without --remove shows it"
        );
    }
    for rule in &args.allow {
        if !list.contains(rule) {
            list.push(rule.clone());
        }
    }
    Ok(())
}

fn summary(network: &NetworkView) -> String {
    let rules = network.policy.allow.iter();
    let rules: Vec<_> = rules.map(ToString::to_string).collect();
    let listed = if rules.is_empty() {
        String::new()
    } else {
        format!(" ({})", rules.join(", "))
    };
    format!("The network is {}{listed}.", network.in_force.name())
}

fn line(destination: &DestinationView) -> String {
    let at = destination.last_at.strftime("%F %T");
    let verdict = match &destination.reason {
        Some(reason) => format!(
            "blocked {}: {reason}",
            counted(destination.blocked_connections, "time")
        ),
        None => format!(
            "{}, {} sent, {} received",
            counted(destination.connections, "connection"),
            counted(destination.sent_bytes, "byte"),
            counted(destination.received_bytes, "byte")
        ),
    };
    format!("{at}\t{}\t{verdict}", place(destination))
}

/// Formats a host with its port, as in addresses. A lookup has no port.
fn place(DestinationView { host, port, .. }: &DestinationView) -> String {
    match (port, host.contains(':')) {
        (0, _) => host.clone(),
        (_, true) => format!("[{host}]:{port}"),
        (_, false) => format!("{host}:{port}"),
    }
}

fn counted(n: u64, thing: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{plural}")
}

/// Parses `open`, `closed`, `allow` or `allow=HOST,HOST`.
pub(crate) fn parse_policy(text: &str) -> Result<NetworkPolicy, String> {
    let (mode, hosts) = match text.split_once('=') {
        Some((mode, hosts)) => (mode, hosts),
        None => (text, ""),
    };
    let mode = NetworkMode::from_name(mode)
        .ok_or_else(|| "give open, closed, or allow=HOST,HOST".to_owned())?;
    let hosts = hosts
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty());
    let allow = hosts.map(|host| host.parse::<NetworkRule>().map_err(|bad| bad.to_string()));
    let policy = NetworkPolicy {
        mode,
        allow: allow.collect::<Result<_, String>>()?,
        ..NetworkPolicy::default()
    };
    policy.check().map_err(|bad| bad.to_string())?;
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_a_run_is_parsed() {
        assert_eq!(parse_policy("open"), Ok(NetworkMode::Open.into()));
        assert_eq!(parse_policy("closed"), Ok(NetworkMode::Closed.into()));
        let listed = parse_policy("allow=pypi.org, *.example.com:443").unwrap();
        assert_eq!(listed.mode, NetworkMode::Allow);
        let rules: Vec<_> = listed.allow.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["pypi.org", "*.example.com:443"]);
        for bad in ["", "wide", "allow=http://a"] {
            assert!(parse_policy(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_host_is_shown_as_in_addresses() {
        let shown = |host: &str, port: u16, n_blocked: u64| {
            let blocked = n_blocked > 0;
            let destination = serde_json::json!({
                "host": host, "port": port, "connections": 1, "blocked_connections": n_blocked,
                "sent_bytes": 1, "received_bytes": 20,
                "reason": blocked.then_some("a person refused this host"),
                "first_at": "2026-01-02T03:04:05Z", "last_at": "2026-01-02T03:04:05Z",
            });
            line(&serde_json::from_value(destination).unwrap())
        };
        let at = "2026-01-02 03:04:05";
        let one = "1 connection, 1 byte sent, 20 bytes received";
        assert_eq!(
            shown("2606::1", 443, 0),
            format!("{at}\t[2606::1]:443\t{one}")
        );
        let blocked = "blocked 1 time: a person refused this host";
        assert_eq!(
            shown("a.example", 0, 1),
            format!("{at}\ta.example\t{blocked}")
        );
    }
}
