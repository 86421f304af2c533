//! Network policies: the hosts that the programs of a sandbox may contact.
//!
//! A destination is judged twice. Its name is judged before it is resolved, so that refused names are not even looked
//! up. Its address is judged before it is dialled, regardless of the name.

mod reason;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::reason::BlockReason;
use super::{
    NetworkHost,
    address::is_public,
    resolvers::{is_resolver_address, is_resolver_name, is_resolver_port},
    rule::NetworkRule,
};

/// The most rules that a list has.
pub const MOST_NETWORK_RULES: usize = 200;

/// The hosts that the programs of a session may contact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkPolicy {
    pub mode: NetworkMode,
    /// Names, `*.name`, addresses and ranges, optionally followed by `:PORT` or `:FIRST-LAST`. They count in the mode
    /// `allow`, and are kept in the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, max_items = 200)]
    pub allow: Vec<NetworkRule>,
    /// Hosts that are never contacted, written like those in `allow`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, max_items = 200)]
    pub block: Vec<NetworkRule>,
}

/// The kind of a policy, from the strictest.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// No host.
    #[default]
    Closed,
    /// Listed hosts. People are asked about others.
    Allow,
    /// Every host of the public internet.
    Open,
}

impl NetworkMode {
    pub const ALL: [Self; 3] = [Self::Closed, Self::Allow, Self::Open];

    /// Returns the name in settings, in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Allow => "allow",
            Self::Open => "open",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl From<NetworkMode> for NetworkPolicy {
    fn from(mode: NetworkMode) -> Self {
        Self {
            mode,
            allow: Vec::new(),
            block: Vec::new(),
        }
    }
}

/// The reason for refusing a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadNetworkPolicy {
    #[error("a list of a network policy has at most {MOST_NETWORK_RULES} rules")]
    TooMany,
}

impl NetworkPolicy {
    pub fn check(&self) -> Result<(), BadNetworkPolicy> {
        if self.allow.len().max(self.block.len()) > MOST_NETWORK_RULES {
            return Err(BadNetworkPolicy::TooMany);
        }
        Ok(())
    }
}

/// The result of judging a destination by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkVerdict {
    Allowed,
    /// A person must allow it.
    Asks,
    Blocked(BlockReason),
}

/// The limits that a deployment's settings impose on every session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkBounds {
    /// The loosest mode that a session can have.
    pub ceiling: NetworkMode,
    /// Hosts that every session may contact unless it is closed. Only ranges in this list open addresses that are not
    /// on the public internet.
    pub allow: Vec<NetworkRule>,
    /// The names of this server, in lower case.
    pub own_names: Vec<String>,
    /// Domains that lead to this server with all names under them, in lower case.
    pub own_domains: Vec<String>,
    /// Addresses that lead to this server, on every port.
    pub own_hosts: Vec<IpAddr>,
    /// The addresses that this server listens on.
    pub own_addresses: Vec<SocketAddr>,
}

/// All rules that apply to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRules {
    mode: NetworkMode,
    bounds: Arc<NetworkBounds>,
    /// The rules of the session and of its owner.
    allow: Vec<NetworkRule>,
    /// The hosts that the session must not contact.
    block: Vec<NetworkRule>,
    /// True for a host that the deployment's settings name: only a closed network keeps it away.
    is_vouched: bool,
}

impl NetworkRules {
    /// Returns the rules for a session with this policy, and the list of its owner.
    pub fn new(
        bounds: Arc<NetworkBounds>,
        policy: NetworkPolicy,
        of_owner: Vec<NetworkRule>,
    ) -> Self {
        let mut allow = policy.allow;
        if bounds.ceiling > NetworkMode::Allow {
            allow.extend(of_owner);
        } else {
            // Under this ceiling only the deployment's own list applies.
            allow.clear();
        }
        Self {
            mode: policy.mode.min(bounds.ceiling),
            bounds,
            allow,
            block: policy.block,
            is_vouched: false,
        }
    }

    /// Returns the rules for a host that the deployment's settings name.
    #[must_use]
    pub fn vouched(self) -> Self {
        Self {
            is_vouched: true,
            ..self
        }
    }

    /// Returns true if these are the rules for a host that the deployment's settings name.
    pub fn is_vouched(&self) -> bool {
        self.is_vouched
    }

    /// Returns the mode that is in force.
    pub fn mode(&self) -> NetworkMode {
        self.mode
    }

    /// Judges a destination as the program named it.
    pub fn judge(&self, host: &NetworkHost, port: u16) -> NetworkVerdict {
        use NetworkVerdict::{Allowed, Asks, Blocked};
        if self.mode == NetworkMode::Closed {
            return Blocked(BlockReason::Closed);
        }
        if self.is_vouched {
            return Allowed;
        }
        if is_resolver_port(port) {
            return Blocked(BlockReason::Resolver);
        }
        if self.block.iter().any(|rule| rule.covers(host, port)) {
            return Blocked(BlockReason::Denied);
        }
        match host {
            NetworkHost::Name(name) => {
                if let Some(reason) = self.blocked_name(name) {
                    return Blocked(reason);
                }
            }
            NetworkHost::Address(address) => {
                if let Err(reason) = self.judge_address(*address, port) {
                    return Blocked(reason);
                }
            }
        }
        let mut rules = self.bounds.allow.iter().chain(&self.allow);
        match self.mode {
            NetworkMode::Closed => Blocked(BlockReason::Closed),
            NetworkMode::Open => Allowed,
            NetworkMode::Allow if rules.any(|rule| rule.covers(host, port)) => Allowed,
            NetworkMode::Allow if self.bounds.ceiling == NetworkMode::Allow => {
                Blocked(BlockReason::NotListed)
            }
            NetworkMode::Allow => Asks,
        }
    }

    /// Judges whether a name may be resolved. In the mode `allow`, a name that is not listed on any port may not;
    /// whether a person allows it is decided when it is dialled.
    pub fn judge_lookup(&self, name: &str) -> NetworkVerdict {
        use NetworkVerdict::{Allowed, Asks, Blocked};
        if self.mode == NetworkMode::Closed {
            return Blocked(BlockReason::Closed);
        }
        if let Some(reason) = self.blocked_name(name) {
            return Blocked(reason);
        }
        let is_blocked = |rule: &NetworkRule| rule.covers_name(name, None) && rule.has_all_ports();
        if self.block.iter().any(is_blocked) {
            return Blocked(BlockReason::Denied);
        }
        let mut rules = self.bounds.allow.iter().chain(&self.allow);
        match self.mode {
            NetworkMode::Closed => Blocked(BlockReason::Closed),
            NetworkMode::Open => Allowed,
            NetworkMode::Allow if rules.any(|rule| rule.covers_name(name, None)) => Allowed,
            NetworkMode::Allow if self.bounds.ceiling == NetworkMode::Allow => {
                Blocked(BlockReason::NotListed)
            }
            NetworkMode::Allow => Asks,
        }
    }

    /// Judges an address before it is dialled, regardless of its name.
    pub fn judge_address(&self, address: IpAddr, port: u16) -> Result<(), BlockReason> {
        let is_own = |own: &SocketAddr| {
            own.port() == port
                && (own.ip() == address || own.ip().is_unspecified() && address.is_loopback())
        };
        let bounds = &self.bounds;
        if bounds.own_addresses.iter().any(is_own) {
            return Err(BlockReason::Own);
        }
        if self.is_vouched {
            return Ok(());
        }
        if bounds.own_hosts.contains(&address) {
            return Err(BlockReason::Own);
        }
        if self
            .block
            .iter()
            .any(|rule| rule.covers_address(address, port))
        {
            return Err(BlockReason::Denied);
        }
        if is_resolver_address(address) {
            return Err(BlockReason::Resolver);
        }
        if is_public(address) || self.is_internal(address, port) {
            return Ok(());
        }
        Err(BlockReason::Private)
    }

    /// Returns true if the deployment opens this address that is not on the public internet.
    pub fn is_internal(&self, address: IpAddr, port: u16) -> bool {
        let mut rules = self.bounds.allow.iter();
        !is_public(address)
            && (self.is_vouched || rules.any(|rule| rule.covers_address(address, port)))
    }

    /// Returns true if this server listens on the port.
    pub fn is_own_port(&self, port: u16) -> bool {
        let mut own = self.bounds.own_addresses.iter();
        own.any(|own| own.port() == port)
    }

    /// Judges a host that a program names on a connection to `host`.
    pub fn judge_claim(
        &self,
        host: &NetworkHost,
        port: u16,
        claimed: &NetworkHost,
    ) -> Result<(), BlockReason> {
        match (host, claimed) {
            (host, claimed) if host == claimed || self.is_vouched => Ok(()),
            // A connection to an address may claim any name that is allowed.
            (NetworkHost::Address(_), NetworkHost::Name(_)) => match self.judge(claimed, port) {
                NetworkVerdict::Allowed => Ok(()),
                NetworkVerdict::Asks => Err(BlockReason::OtherName),
                NetworkVerdict::Blocked(reason) => Err(reason),
            },
            (NetworkHost::Address(_) | NetworkHost::Name(_), _) => Err(BlockReason::OtherName),
        }
    }

    fn blocked_name(&self, name: &str) -> Option<BlockReason> {
        if is_resolver_name(name) {
            return Some(BlockReason::Resolver);
        }
        let is_own = name == "localhost"
            || name.ends_with(".localhost")
            || self.bounds.own_names.iter().any(|own| own == name)
            || self
                .bounds
                .own_domains
                .iter()
                .any(|own| is_within(name, own));
        is_own.then_some(BlockReason::Own)
    }
}

/// Returns true if a name is a domain or below it.
fn is_within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
