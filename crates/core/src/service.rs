//! Services of a sandbox that people open in their browsers.

use std::{fmt, num::NonZeroU16, str::FromStr};

use crate::sandbox::StreamTarget;

/// A service of a sandbox. Each has an origin of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// VS Code: `vscode`.
    Code,
    /// A program that listens on a port: `port-3000`.
    Port(NonZeroU16),
}

/// The error for the name of a service that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no service {0:?}; the services are `vscode` and `port-N`, for example `port-3000`"
)]
pub struct UnknownService(pub String);

impl Service {
    /// Returns the endpoint of its streams.
    pub fn target(self) -> StreamTarget {
        match self {
            Self::Code => StreamTarget::Code,
            Self::Port(port) => StreamTarget::Port { port: port.get() },
        }
    }

    /// Returns the port, if the service is one.
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Code => None,
            Self::Port(port) => Some(port.get()),
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code => f.write_str("vscode"),
            Self::Port(port) => write!(f, "port-{port}"),
        }
    }
}

impl FromStr for Service {
    type Err = UnknownService;

    /// Parses a name. Each service has exactly one spelling.
    fn from_str(text: &str) -> Result<Self, UnknownService> {
        let port = || Some(Self::Port(text.strip_prefix("port-")?.parse().ok()?));
        let service = if text == "vscode" {
            Some(Self::Code)
        } else {
            port()
        };
        service
            .filter(|service| service.to_string() == text)
            .ok_or_else(|| UnknownService(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_one_spelling() {
        for name in ["vscode", "port-1", "port-3000", "port-65535"] {
            assert_eq!(name.parse::<Service>().unwrap().to_string(), name);
        }
        for name in [
            "",
            "port",
            "port-",
            "port-0",
            "port-03000",
            "port-+80",
            "port-65536",
            "port--1",
            "VSCODE",
            "vnc",
        ] {
            assert!(name.parse::<Service>().is_err(), "{name}");
        }
    }
}
