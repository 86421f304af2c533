//! Dials addresses.

use std::{io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use rustix::net::sockopt;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UdpSocket},
};

/// The idle time before the first keep-alive probe, and the interval between further ones.
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

    /// Returns true if the address belongs to this machine.
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
        // Without keep-alive, a connection to a host that disappeared would stay open forever.
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, KEEP_ALIVE_AFTER)?;
        sockopt::set_tcp_keepintvl(&stream, KEEP_ALIVE_EVERY)?;
        Ok(Box::new(stream))
    }

    async fn is_own(&self, address: SocketAddr) -> bool {
        // Connecting a datagram socket sends nothing, but selects the source address. Source and destination are the
        // same only for an address of this machine.
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
