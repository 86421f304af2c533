//! The server name in a TLS `ClientHello` (RFC 8446, RFC 6066).

use super::{Claim, parse_host};

/// The first byte of a record with a handshake message.
pub(super) const HANDSHAKE: u8 = 22;
/// The first bytes of records that some servers skip before the `ClientHello`.
pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(super) const ALERT: u8 = 21;
const MAJOR_VERSION: u8 = 3;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// Finds the server name. Bytes that are not TLS after all name no host.
pub(super) fn server_name(bytes: &[u8]) -> Claim {
    let hello = match client_hello(bytes) {
        Ok(hello) => hello,
        Err(other) => return other,
    };
    let Some(names) = names(&hello) else {
        return Claim::Unreadable;
    };
    let hosts: Option<Vec<_>> = names.iter().map(|name| parse_host(name)).collect();
    match hosts {
        Some(hosts) if hosts.is_empty() => Claim::None,
        Some(hosts) => Claim::Hosts(hosts),
        None => Claim::Unreadable,
    }
}

/// Judges bytes that begin like another kind of record. No client begins with one.
pub(super) fn other_record(bytes: &[u8]) -> Claim {
    match bytes.get(1) {
        None => Claim::Unfinished,
        Some(&MAJOR_VERSION) => Claim::Unreadable,
        Some(_) => Claim::None,
    }
}

/// Joins the message from its records, which may split it anywhere.
fn client_hello(bytes: &[u8]) -> Result<Vec<u8>, Claim> {
    let mut message = Vec::new();
    let mut rest = Fields(bytes);
    let is_tls = bytes.get(1).is_none_or(|version| *version == MAJOR_VERSION);
    if !is_tls {
        return Err(Claim::None);
    }
    loop {
        let head = rest.take(3).ok_or(Claim::Unfinished)?;
        // Servers ignore the minor version.
        if head[0] != HANDSHAKE || head[1] != MAJOR_VERSION {
            return Err(Claim::Unreadable);
        }
        let length = rest.u16().ok_or(Claim::Unfinished)?;
        let here = rest.0.len().min(usize::from(length));
        message.extend_from_slice(rest.take(here).unwrap_or_default());
        if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Err(Claim::Unreadable);
        }
        if let [_, high, middle, low, body @ ..] = message.as_slice() {
            let length =
                (usize::from(*high) << 16) | (usize::from(*middle) << 8) | usize::from(*low);
            if let Some(body) = body.get(..length) {
                return Ok(body.to_vec());
            }
        }
        if here < usize::from(length) {
            return Err(Claim::Unfinished);
        }
    }
}

/// Returns the server names in the message, or `None` if it is malformed.
fn names(hello: &[u8]) -> Option<Vec<String>> {
    let mut hello = Fields(hello);
    // Version, random, session id, cipher suites, compression.
    hello.take(2 + 32)?;
    hello.short_list()?;
    hello.list()?;
    hello.short_list()?;
    if hello.0.is_empty() {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let mut extensions = Fields(hello.list()?);
    while !extensions.0.is_empty() {
        let kind = extensions.u16()?;
        let data = extensions.list()?;
        if kind != SERVER_NAME {
            continue;
        }
        let mut listed = Fields(Fields(data).list()?);
        while !listed.0.is_empty() {
            let kind = listed.take(1)?[0];
            let name = listed.list()?;
            if kind == HOST_NAME {
                found.push(std::str::from_utf8(name).ok()?.to_owned());
            }
        }
    }
    Some(found)
}

/// Bytes that are read from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Takes bytes that follow their length of two bytes.
    fn list(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    /// Takes bytes that follow their length of one byte.
    fn short_list(&mut self) -> Option<&'a [u8]> {
        let length = self.take(1)?[0];
        self.take(usize::from(length))
    }
}
