//! Finds the host that a program names in its first bytes: the server name of TLS, or the `Host` of HTTP/1.
//!
//! Other protocols pass unread. Servers are lenient, so everything that one of them could accept as a request is
//! treated as one. A malformed request is [`Claim::Unreadable`] and does not pass.

mod http;
mod tls;

use std::net::IpAddr;

use deskhand_core::network::{NetworkHost, rule::host_name};

/// The most bytes that are parsed.
pub(crate) const MOST_BYTES: usize = 64 * 1024;

/// The hosts that the first bytes of a program name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No line is complete yet, and the bytes may be the beginning of a request. A host cannot act on them.
    FirstLine,
    /// More bytes are needed.
    Unfinished,
    /// The bytes name no host.
    None,
    /// The bytes name these hosts.
    Hosts(Vec<NetworkHost>),
    /// The bytes are malformed, or name something that cannot be a host.
    Unreadable,
}

/// Parses the first bytes of a program.
pub(crate) fn claim(bytes: &[u8]) -> Claim {
    match bytes.first() {
        None => Claim::Unfinished,
        Some(&tls::HANDSHAKE) => tls::server_name(bytes),
        Some(&(tls::CHANGE_CIPHER_SPEC | tls::ALERT)) => tls::other_record(bytes),
        Some(_) => http::host(bytes),
    }
}

/// Returns true if the first bytes of a program are a message of TLS.
pub(crate) fn is_tls(bytes: &[u8]) -> bool {
    bytes.first() == Some(&tls::HANDSHAKE)
}

/// Returns true if the first bytes of a program are a request of HTTP/1.
pub(crate) fn is_http(bytes: &[u8]) -> bool {
    !is_tls(bytes) && http::is_request(bytes)
}

/// Parses a host as programs write it: a name, or an address.
fn parse_host(text: &str) -> Option<NetworkHost> {
    let unbracketed = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address: Option<IpAddr> = unbracketed.unwrap_or(text).parse().ok();
    match address {
        Some(address) => Some(NetworkHost::Address(address)),
        None => host_name(text).map(NetworkHost::Name),
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
