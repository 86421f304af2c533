//! The byte stream under a link, and byte streams over its `WebSockets`.

use std::{future::ready, io};

use bytes::Bytes;
use deskhand_core::sandbox::ByteStream;
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message},
};

/// Bytes in both directions: a unix socket, a TCP or TLS connection, a pipe pair, or memory in tests.
pub trait ByteChannel: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteChannel for T {}

/// One connection between a runner and its server.
pub type Connection = Box<dyn ByteChannel>;

/// Returns both directions of `socket` as plain bytes.
///
/// Nothing is buffered beyond the connection itself: a piece is read when the consumer polls for it, and a producer
/// waits until the connection accepts its piece. A slow watcher therefore slows down the X server's updates and costs
/// no memory.
pub fn bytes_of(socket: WebSocketStream<Connection>) -> ByteStream {
    let (sink, stream) = socket.split();
    let incoming = stream
        .take_while(|message| ready(matches!(message, Ok(message) if !message.is_close())))
        .filter_map(|message| {
            let piece = message.ok().filter(Message::is_binary);
            ready(piece.map(Message::into_data))
        });
    let outgoing = sink
        .sink_map_err(io_error)
        .with(|piece: Bytes| ready(Ok::<_, io::Error>(Message::Binary(piece))));
    ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing),
    }
}

fn io_error(error: tungstenite::Error) -> io::Error {
    if let tungstenite::Error::Io(error) = error {
        error
    } else {
        io::Error::other(error)
    }
}
