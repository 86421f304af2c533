//! The network inside a sandbox. The server makes its interface, and the runner answers for everything behind it.
//!
//! All addresses are from 198.18.0.0/15, which is set aside for measurements: no host has one, so none that a program
//! wants is hidden.

use std::net::Ipv4Addr;

/// The connections that a runner makes beyond those that the server allows, so that the server refuses and tells people
/// about it. Without an answer a program would just hang.
pub const SPARE_CONNECTIONS: usize = 64;
/// The name of the interface.
pub const INTERFACE: &str = "net0";
/// The sandbox's own address.
pub const SANDBOX_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// The address of the resolver, which the runner plays.
pub const RESOLVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The first address that stands for a name.
pub const FIRST_NAME_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);
/// The last address that stands for a name.
pub const LAST_NAME_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 19, 254, 255);
/// The length of the network's prefix.
pub const PREFIX_LENGTH: u8 = 15;
/// The largest packet. Few large packets cost less than many small ones, and none of them meets a real wire.
pub const MTU: u16 = 65_520;
/// The length of the header before each packet, in which the kernel and the runner leave out checksums.
pub const PACKET_HEADER_BYTES: usize = 10;
