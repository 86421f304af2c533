//! The addresses of the network inside a sandbox. The server creates its interface, and the runner emulates everything
//! behind it.
//!
//! All addresses are from 198.18.0.0/15, which is reserved for benchmarks. No host on the internet has one, so none
//! becomes unreachable.

use std::net::Ipv4Addr;

/// The number of connections by which a runner exceeds the server's limit. The server then refuses them and reports
/// that to people. If the runner dropped them, programs would hang.
pub const SPARE_CONNECTIONS: usize = 64;
/// The name of the interface.
pub const INTERFACE: &str = "net0";
/// The sandbox's own address.
pub const SANDBOX_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// The address of the DNS resolver, which the runner implements.
pub const RESOLVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The first address that represents a name.
pub const FIRST_NAME_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);
/// The last address that represents a name.
pub const LAST_NAME_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 19, 254, 255);
/// The length of the network's prefix.
pub const PREFIX_LENGTH: u8 = 15;
/// The largest packet. Large packets are cheaper, and none of them leaves the machine.
pub const MTU: u16 = 65_520;
/// The length of the `virtio_net_hdr` before each packet, which says that checksums are omitted.
pub const PACKET_HEADER_BYTES: usize = 10;
