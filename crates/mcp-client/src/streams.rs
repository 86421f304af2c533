//! Byte streams as readers and writers.

use std::{future::ready, io};

use bytes::Bytes;
use deskhand_core::sandbox::ByteStream;
use futures::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::{CopyToBytes, SinkWriter, StreamReader};

/// Returns both directions of a stream. An empty message ends a direction.
pub(crate) fn split(
    stream: ByteStream,
) -> (
    impl AsyncRead + Send + Unpin + 'static,
    impl AsyncWrite + Send + Unpin + 'static,
) {
    let ByteStream { incoming, outgoing } = stream;
    let incoming = incoming
        .take_while(|piece: &Bytes| ready(!piece.is_empty()))
        .map(io::Result::Ok);
    let reader = StreamReader::new(incoming);
    let writer = SinkWriter::new(CopyToBytes::new(outgoing));
    (reader, writer)
}
