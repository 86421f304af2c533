//! Configures an interface over netlink. The names are those of `rtnetlink(7)`.

use std::{
    io,
    net::Ipv4Addr,
    os::fd::{AsFd, OwnedFd},
};

use libc::{AF_INET, AF_INET6};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice::name_to_index, recv,
    send, socket_with,
};

/// A request that is acknowledged with an error number, which is zero on success.
const REQUEST_AND_ACK: u16 = 0x1 | 0x4;
const CREATE: u16 = 0x400;
const HEADER_BYTES: usize = 16;

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;

const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const IFF_UP: u32 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_BOOT: u8 = 3;
const RTN_UNICAST: u8 = 1;

/// A connection to the kernel about one interface.
pub(super) struct Netlink {
    socket: OwnedFd,
    index: u32,
}

impl Netlink {
    pub(super) fn open(interface: &str) -> io::Result<Self> {
        // The default protocol of this family is `NETLINK_ROUTE`.
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let any = socket_with(
            AddressFamily::INET,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let index = name_to_index(any.as_fd(), interface)?;
        Ok(Self { socket, index })
    }

    /// Sets the MTU and the queue length, and brings the interface up without an IPv6 address.
    pub(super) fn set_up(&mut self, mtu: u32, queue_packets: u32) -> io::Result<()> {
        let mode = attribute(IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]);
        let of_ipv6 = attribute(number(AF_INET6), &mode);
        let sizes = [
            attribute(IFLA_MTU, &mtu.to_ne_bytes()),
            attribute(IFLA_TXQLEN, &queue_packets.to_ne_bytes()),
        ]
        .concat();
        self.ask(RTM_NEWLINK, 0, &[self.link(0), sizes].concat())?;
        // A kernel without IPv6 refuses this, and does not need it.
        let none = attribute(IFLA_AF_SPEC, &of_ipv6);
        let _ = self.ask(RTM_NEWLINK, 0, &[self.link(0), none].concat());
        self.ask(RTM_NEWLINK, 0, &self.link(IFF_UP))
    }

    pub(super) fn add_address(&mut self, address: Ipv4Addr, prefix_length: u8) -> io::Result<()> {
        let mut body = vec![byte(AF_INET), prefix_length, 0, 0];
        body.extend(self.index.to_ne_bytes());
        body.extend(attribute(IFA_LOCAL, &address.octets()));
        body.extend(attribute(IFA_ADDRESS, &address.octets()));
        self.ask(RTM_NEWADDR, CREATE, &body)
    }

    pub(super) fn add_default_route(&mut self, gateway: Ipv4Addr) -> io::Result<()> {
        let family = byte(AF_INET);
        let mut body = vec![family, 0, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, 0, RTN_UNICAST];
        body.extend([0; 4]);
        body.extend(attribute(RTA_GATEWAY, &gateway.octets()));
        body.extend(attribute(RTA_OIF, &self.index.to_ne_bytes()));
        self.ask(RTM_NEWROUTE, CREATE, &body)
    }

    /// Returns the header of a message that sets these flags of the interface.
    fn link(&self, flags: u32) -> Vec<u8> {
        let index = self.index.to_ne_bytes();
        [[0; 4], index, flags.to_ne_bytes(), flags.to_ne_bytes()].concat()
    }

    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(HEADER_BYTES + body.len()).map_err(io::Error::other)?;
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend((REQUEST_AND_ACK | flags).to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        send(&self.socket, &message, SendFlags::empty())?;
        let mut answer = [0; 1024];
        let (_, _) = recv(&self.socket, &mut answer, RecvFlags::empty())?;
        // The header is followed by a negative error number.
        let [.., a, b, c, d] = answer[..HEADER_BYTES + 4] else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        match i32::from_ne_bytes([a, b, c, d]) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

/// Returns an attribute, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn byte(family: i32) -> u8 {
    u8::try_from(family).unwrap_or(u8::MAX)
}

fn number(family: i32) -> u16 {
    u16::try_from(family).unwrap_or(u16::MAX)
}
