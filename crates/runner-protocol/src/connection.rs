//! The byte stream under a link.

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions: a unix socket, a TCP or TLS connection, a pipe pair, or memory in tests.
pub trait ByteChannel: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteChannel for T {}

/// One connection between a runner and its server.
pub type Connection = Box<dyn ByteChannel>;
