//! The question about a host that a network policy does not list.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{NetworkHost, rule::NetworkRule};
use crate::decision::{Ask, Choice, DecisionKind, Form, Reply, Subject};

/// The `tool` in the subject of the question.
const SUBJECT: &str = "network";

/// Asks if a program may contact a port of a host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NetworkQuestion {
    pub host: NetworkHost,
    pub port: u16,
}

/// An answer to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkPermission {
    /// The host may be contacted until the turn ends.
    Once,
    /// The host is added to the session's list.
    Session,
    /// The host is added to the list of the session's owner.
    Always,
    No,
}

impl NetworkPermission {
    const ALL: [Self; 4] = [Self::Once, Self::Session, Self::Always, Self::No];

    /// Returns the value of the choice.
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No => "no",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Once => "Allow in this turn",
            Self::Session => "Allow in this session",
            Self::Always => "Always allow",
            Self::No => "No",
        }
    }

    /// Returns the permission that a reply gives, which is no without a reply.
    pub fn of(reply: Option<&Reply>) -> Self {
        let Some(Reply::Choices(chosen)) = reply else {
            return Self::No;
        };
        let chosen = chosen.first().map(String::as_str).unwrap_or_default();
        let mut all = Self::ALL.into_iter();
        all.find(|permission| permission.name() == chosen)
            .unwrap_or(Self::No)
    }
}

impl std::fmt::Display for NetworkQuestion {
    /// Writes the host and its port, as in addresses. The lookup of a name has no port.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        match host {
            _ if *port == 0 => write!(f, "{host}"),
            NetworkHost::Address(address) if address.is_ipv6() => write!(f, "[{address}]:{port}"),
            NetworkHost::Address(_) | NetworkHost::Name(_) => write!(f, "{host}:{port}"),
        }
    }
}

impl NetworkQuestion {
    /// Returns the question as a decision, which defaults to no.
    pub fn ask(&self, expires_at: Timestamp) -> Ask {
        let Self { host, port } = self;
        let choice = |permission: NetworkPermission| Choice {
            value: permission.name().to_owned(),
            label: permission.label().to_owned(),
        };
        let no = NetworkPermission::No.name().to_owned();
        Ask {
            call: None,
            kind: DecisionKind::Network,
            prompt: format!("A program wants to contact {self}. Allow it?"),
            form: Form::Choices {
                choices: NetworkPermission::ALL.map(choice).into(),
                several: false,
            },
            subject: Some(Subject {
                tool: SUBJECT.to_owned(),
                input: serde_json::json!({"host": host.to_string(), "port": port}),
            }),
            over: None,
            rule: None,
            default: Some(Reply::Choices(vec![no])),
            expires_at: Some(expires_at),
        }
    }

    /// Returns the question that a decision asks, if it is one about the network.
    pub fn of(ask: &Ask) -> Option<Self> {
        let subject = ask.subject.as_ref()?;
        if ask.kind != DecisionKind::Network || subject.tool != SUBJECT {
            return None;
        }
        let host = subject.input.get("host")?.as_str()?;
        let host = match host.parse() {
            Ok(address) => NetworkHost::Address(address),
            Err(_) => NetworkHost::Name(host.to_owned()),
        };
        let port = subject.input.get("port")?.as_u64()?;
        let port = u16::try_from(port).ok()?;
        Some(Self { host, port })
    }

    /// Returns the rule that allows exactly this.
    pub fn rule(&self) -> NetworkRule {
        NetworkRule::exactly(&self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_found_again_in_its_decision() {
        let hosts = ["a.example", "9.8.7.6", "2606::1"];
        for host in hosts {
            let host = match host.parse() {
                Ok(address) => NetworkHost::Address(address),
                Err(_) => NetworkHost::Name(host.to_owned()),
            };
            let question = NetworkQuestion { host, port: 443 };
            let ask = question.ask(Timestamp::UNIX_EPOCH);
            assert_eq!(NetworkQuestion::of(&ask).as_ref(), Some(&question));
            assert!(question.rule().covers(&question.host, 443));
        }
    }

    #[test]
    fn any_other_reply_denies() {
        let chosen = |value: &str| Reply::Choices(vec![value.to_owned()]);
        for permission in NetworkPermission::ALL {
            let reply = chosen(permission.name());
            assert_eq!(NetworkPermission::of(Some(&reply)), permission);
        }
        let others = [None, Some(chosen("maybe")), Some(Reply::Yes(true))];
        for reply in others {
            assert_eq!(NetworkPermission::of(reply.as_ref()), NetworkPermission::No);
        }
    }
}
