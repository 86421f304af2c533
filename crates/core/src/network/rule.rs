//! Rules of a network policy: names, addresses and ports that may be contacted.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{NetworkHost, address::IpRange};

/// The longest name of a host in DNS.
pub const LONGEST_NAME: usize = 253;
/// The longest part of a name between two dots.
const LONGEST_LABEL: usize = 63;

/// Hosts and ports that may be contacted: `example.com`, `*.example.com:443`, `10.0.0.0/8:5432` or `[fd00::]/8:80-99`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NetworkRule {
    hosts: RuleHosts,
    /// Without it, the rule covers all ports.
    ports: Option<(u16, u16)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RuleHosts {
    Name(String),
    /// Every subdomain of this name.
    Below(String),
    Range(IpRange),
}

/// The error for a text that is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a rule for the network: give a name, *.name, an address or a range such as 10.0.0.0/8, optionally \
     followed by :PORT or :FIRST-LAST"
)]
pub struct BadNetworkRule(String);

impl NetworkRule {
    /// Returns the rule for one port of one host.
    pub fn exactly(host: &NetworkHost, port: u16) -> Self {
        let hosts = match host {
            NetworkHost::Name(name) => RuleHosts::Name(name.clone()),
            NetworkHost::Address(address) => RuleHosts::Range(IpRange::only(*address)),
        };
        Self {
            hosts,
            ports: Some((port, port)),
        }
    }

    /// Returns true if the rule covers this host: by name if it has one, otherwise by address.
    pub fn covers(&self, host: &NetworkHost, port: u16) -> bool {
        match host {
            NetworkHost::Name(name) => self.covers_name(name, Some(port)),
            NetworkHost::Address(address) => self.covers_address(*address, port),
        }
    }

    /// Returns true if the rule covers this name on this port, or on any port if `port` is absent.
    pub fn covers_name(&self, name: &str, port: Option<u16>) -> bool {
        let is_listed = match &self.hosts {
            RuleHosts::Name(listed) => name == listed,
            RuleHosts::Below(listed) => name
                .strip_suffix(listed.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            RuleHosts::Range(_) => false,
        };
        is_listed && port.is_none_or(|port| self.covers_port(port))
    }

    /// Returns true if the rule covers this address on this port.
    pub fn covers_address(&self, address: IpAddr, port: u16) -> bool {
        let is_listed = match &self.hosts {
            RuleHosts::Range(range) => range.contains(address),
            RuleHosts::Name(_) | RuleHosts::Below(_) => false,
        };
        is_listed && self.covers_port(port)
    }

    /// Returns true if the rule is not for single ports.
    pub(super) fn has_all_ports(&self) -> bool {
        self.ports.is_none()
    }

    fn covers_port(&self, port: u16) -> bool {
        self.ports
            .is_none_or(|(first, last)| (first..=last).contains(&port))
    }
}

impl FromStr for NetworkRule {
    type Err = BadNetworkRule;

    fn from_str(text: &str) -> Result<Self, BadNetworkRule> {
        let bad = || BadNetworkRule(text.chars().take(LONGEST_NAME).collect());
        let (hosts, ports) = split(text.trim()).ok_or_else(bad)?;
        let hosts = match (hosts.parse::<IpRange>(), hosts.strip_prefix("*.")) {
            (Ok(range), _) => RuleHosts::Range(range),
            (Err(_), Some(name)) => RuleHosts::Below(host_name(name).ok_or_else(bad)?),
            (Err(_), None) => RuleHosts::Name(host_name(&hosts).ok_or_else(bad)?),
        };
        let ports = ports.map(|ports| port_range(ports).ok_or_else(bad));
        Ok(Self {
            hosts,
            ports: ports.transpose()?,
        })
    }
}

/// Splits a rule into its hosts and its ports.
fn split(text: &str) -> Option<(String, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        // An IPv6 address in brackets, with the length of a range behind them.
        let (address, rest) = rest.split_once(']')?;
        return match rest.split_once(':') {
            Some((n_bits, ports)) => Some((format!("{address}{n_bits}"), Some(ports))),
            None => Some((format!("{address}{rest}"), None)),
        };
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.contains(':') => Some((text.to_owned(), None)),
        Some((hosts, ports)) => Some((hosts.to_owned(), Some(ports))),
        None => Some((text.to_owned(), None)),
    }
}

/// Parses `443` or `8000-8999`.
fn port_range(text: &str) -> Option<(u16, u16)> {
    let port = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>()
            .ok()
            .filter(|port| is_plain && *port > 0)
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (port(first)?, port(last)?),
        None => (port(text)?, port(text)?),
    };
    (first <= last).then_some((first, last))
}

/// Normalizes the name of a host: lower case, without a trailing dot. Returns `None` if it is not a valid name.
///
/// A name whose last label is a number is refused, since programs would parse it as an address.
pub fn host_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(is_plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last
            .strip_prefix("0x")
            .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_name = name.len() <= LONGEST_NAME && name.split('.').all(is_label) && !is_number;
    is_name.then_some(name)
}

impl fmt::Display for NetworkRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            RuleHosts::Name(name) => write!(f, "{name}")?,
            RuleHosts::Below(name) => write!(f, "*.{name}")?,
            RuleHosts::Range(range) => {
                let text = range.to_string();
                match text.split_once('/') {
                    _ if self.ports.is_none() || !text.contains(':') => write!(f, "{text}")?,
                    Some((address, n_bits)) => write!(f, "[{address}]/{n_bits}")?,
                    None => write!(f, "[{text}]")?,
                }
            }
        }
        match self.ports {
            None => Ok(()),
            Some((first, last)) if first == last => write!(f, ":{first}"),
            Some((first, last)) => write!(f, ":{first}-{last}"),
        }
    }
}

impl Serialize for NetworkRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NetworkRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
