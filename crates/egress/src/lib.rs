//! The egress proxy of sandboxes: accepts connections from runners, and dials the hosts that are allowed.
//!
//! A connection begins with one request. The guard decides about it, the name is resolved, the addresses are judged,
//! and one of the judged addresses is dialled. The first bytes that the program sends may name a host, which must match
//! the host that it asked for.
//!
//! Connections to the hosts of secrets for HTTP APIs are terminated here, so that values can replace their stand-ins
//! ([`exchange`]). On all other connections, a stand-in ends the connection.

mod carry;
mod claim;
mod dial;
mod exchange;
mod issuer;
mod lookups;
mod mask;
mod own;
mod program;
mod proxy;
mod resolve;
mod service;
mod tls;
mod watch;

pub use dial::{ByteChannel, Dialler, Outgoing, TcpDialler};
pub use issuer::SandboxIssuer;
pub use lookups::Lookups;
pub use proxy::{BadProxy, UpstreamProxy};
pub use resolve::{NameResolver, SystemResolver};
pub use service::{Egress, serve};
pub use tls::HostVerifier;
