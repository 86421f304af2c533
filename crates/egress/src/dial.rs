//! Dials addresses.

use std::{io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use rustix::net::sockopt;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UdpSocket},
};

/// The time without a byte after which a host is asked whether it is still there, and the time between further ones.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(120);
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(30);

/// A connection to a host.
pub type Outgoing = Box<dyn ByteChannel>;

/// Bytes in both directions.
pub trait ByteChannel: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteChannel for T {}

/// Makes connections to addresses.
#[async_trait]
pub trait Dialler: Send + Sync + std::fmt::Debug {
    /// Connects to exactly this address.
    async fn dial(&self, address: SocketAddr) -> io::Result<Outgoing>;

    /// Returns true if this machine itself has the address.
    async fn is_own(&self, address: SocketAddr) -> bool;
}

/// Dials with TCP.
#[derive(Debug, Clone, Copy, Default)]
pub struct TcpDialler;

#[async_trait]
impl Dialler for TcpDialler {
    async fn dial(&self, address: SocketAddr) -> io::Result<Outgoing> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // A host that disappeared would otherwise hold its connection for ever.
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, KEEP_ALIVE_AFTER)?;
        sockopt::set_tcp_keepintvl(&stream, KEEP_ALIVE_EVERY)?;
        Ok(Box::new(stream))
    }

    async fn is_own(&self, address: SocketAddr) -> bool {
        // A datagram socket that is connected sends nothing, but has the address that it would send from. That is the
        // other end's own address only for an address of this machine.
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
            SocketAddr::V6(_) => ([0; 16], 0).into(),
        };
        let connected = async {
            let socket = UdpSocket::bind(any).await?;
            socket.connect(address).await?;
            socket.local_addr()
        };
        connected
            .await
            .is_ok_and(|local: SocketAddr| local.ip() == address.ip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn this_machine_knows_its_own_addresses() {
        assert!(TcpDialler.is_own(([127, 0, 0, 1], 80).into()).await);
        assert!(!TcpDialler.is_own(([192, 0, 2, 1], 80).into()).await);
    }
}
