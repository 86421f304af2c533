//! Parses the IPv4 packets that programs send, and builds the few that are not part of a connection.

use std::net::{Ipv4Addr, SocketAddrV4};

use deskhand_runner_protocol::network::{RESOLVER_ADDRESS, SANDBOX_ADDRESS};

const IP_BYTES: usize = 20;
const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const ICMP_BYTES: usize = 8;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

const UNREACHABLE: u8 = 3;
const ECHO: u8 = 8;

/// Both ends of a connection. The sandbox's address is always the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Endpoints {
    pub(super) source_port: u16,
    pub(super) target: SocketAddrV4,
}

/// A packet from the sandbox.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    /// A program opens a new connection.
    Syn(Endpoints),
    /// A program resets a connection.
    Reset(Endpoints),
    /// Any other segment of a connection.
    Segment,
    Datagram(Endpoints, &'a [u8]),
    /// A packet that is refused with an error.
    Unwanted,
    /// A packet that gets no answer, such as IPv6 and broadcasts.
    Ignored,
}

/// The reason why a packet is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreachable {
    Host = 1,
    Port = 3,
    Prohibited = 13,
}

impl<'a> Packet<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self::read(bytes).unwrap_or(Self::Ignored)
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let first = *bytes.first()?;
        let header = usize::from(first & 0xf) * 4;
        let length = usize::from(word(bytes, 2)?);
        let is_fragment = word(bytes, 6)? & 0x3fff != 0;
        if first >> 4 != 4 || header < IP_BYTES || is_fragment {
            return None;
        }
        let body = bytes.get(header..length)?;
        let target = address(bytes, 16)?;
        if address(bytes, 12)? != SANDBOX_ADDRESS || target.is_multicast() || target.is_broadcast()
        {
            return None;
        }
        let endpoints = || {
            Some(Endpoints {
                source_port: word(body, 0)?,
                target: SocketAddrV4::new(target, word(body, 2)?),
            })
        };
        match *bytes.get(9)? {
            TCP if body.len() < TCP_BYTES => None,
            TCP if body.get(13)? & (SYN | ACK | RST | FIN) == SYN => Some(Self::Syn(endpoints()?)),
            TCP if body.get(13)? & RST != 0 => Some(Self::Reset(endpoints()?)),
            TCP => Some(Self::Segment),
            UDP => Some(Self::Datagram(endpoints()?, body.get(UDP_BYTES..)?)),
            // Errors must not be answered with errors.
            ICMP if *body.first()? != ECHO => None,
            _ => Some(Self::Unwanted),
        }
    }
}

/// Returns the answer to `syn` that refuses the connection.
pub(super) fn reset(syn: &[u8]) -> Option<Vec<u8>> {
    let header = usize::from(syn.first()? & 0xf) * 4;
    let tcp = syn.get(header..)?;
    let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
    let mut answer = vec![0; TCP_BYTES];
    answer[0..2].copy_from_slice(tcp.get(2..4)?);
    answer[2..4].copy_from_slice(tcp.get(0..2)?);
    answer[8..12].copy_from_slice(&sequence.wrapping_add(1).to_be_bytes());
    answer[12] = 5 << 4;
    answer[13] = RST | ACK;
    let source = address(syn, 16)?;
    let sum = with_ends(source, TCP, &answer);
    answer[16..18].copy_from_slice(&sum.to_be_bytes());
    Some(packet(source, TCP, &answer))
}

/// Returns the ICMP message for a packet that was not delivered.
pub(super) fn unreachable(refused: &[u8], reason: Unreachable) -> Option<Vec<u8>> {
    let header = usize::from(refused.first()? & 0xf) * 4;
    // The kernel finds the socket by the first eight bytes after the header.
    let quoted = refused.get(..header + 8)?;
    let mut message = vec![0; ICMP_BYTES];
    message[0] = UNREACHABLE;
    message[1] = reason as u8;
    message.extend_from_slice(quoted);
    let sum = checksum(&[&message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let source = match reason {
        Unreachable::Port => address(refused, 16)?,
        Unreachable::Host | Unreachable::Prohibited => RESOLVER_ADDRESS,
    };
    Some(packet(source, ICMP, &message))
}

/// Returns a datagram to a program.
pub(super) fn datagram(source: SocketAddrV4, port: u16, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(UDP_BYTES + payload.len()).ok()?;
    let mut body = Vec::with_capacity(usize::from(length));
    for field in [source.port(), port, length, 0] {
        body.extend(field.to_be_bytes());
    }
    body.extend_from_slice(payload);
    let sum = with_ends(*source.ip(), UDP, &body);
    body[6..8].copy_from_slice(&sum.to_be_bytes());
    Some(packet(*source.ip(), UDP, &body))
}

/// Adds the IP header to a packet to the sandbox. All of them are short.
fn packet(source: Ipv4Addr, protocol: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(IP_BYTES + body.len()).unwrap_or(u16::MAX);
    let mut bytes = vec![0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    bytes.extend(source.octets());
    bytes.extend(SANDBOX_ADDRESS.octets());
    let sum = checksum(&[&bytes]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Returns the checksum of a body with the pseudo-header of TCP and UDP.
fn with_ends(source: Ipv4Addr, protocol: u8, body: &[u8]) -> u16 {
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
    let [high, low] = length.to_be_bytes();
    let ends = [source.octets(), SANDBOX_ADDRESS.octets()].concat();
    match checksum(&[&ends, &[0, protocol, high, low], body]) {
        // In UDP, zero means that there is no checksum.
        0 => 0xffff,
        sum => sum,
    }
}

/// Returns the checksum of several parts. All but the last must have an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 = words
        .map(|pair| match *pair {
            [high, low] => u32::from(u16::from_be_bytes([high, low])),
            [high] => u32::from(high) << 8,
            _ => 0,
        })
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    !u16::try_from(folded).unwrap_or(0)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn address(bytes: &[u8], at: usize) -> Option<Ipv4Addr> {
    let octets: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(octets.into())
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
