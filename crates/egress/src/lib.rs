//! The way of sandboxes to the network: takes the connections of runners, and makes those that are allowed.
//!
//! A connection begins with one request. The guard decides about it, then its name is resolved, the addresses are
//! judged, and one of them is dialled: the very address that was judged. The first bytes of the program tell which
//! name it uses, and must not contradict the name it asked for.
//!
//! Connections to the hosts of secrets for HTTP APIs end here and begin anew, so that values can be put in the place of
//! their stand-ins ([`exchange`]). In all others, a stand-in ends the connection.

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
