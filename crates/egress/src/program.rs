//! The program's end of a connection as `AsyncRead` and `AsyncWrite`.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use deskhand_core::{
    network::{guard::Passage, policy::BlockReason},
    sandbox::ByteStream,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Reads and writes the stream of a program, and counts its bytes.
#[derive(Debug)]
pub(crate) struct ProgramIo {
    stream: ByteStream,
    passage: Passage,
    /// Bytes that were received but not read yet.
    pending: Bytes,
    /// True if the program has ended its direction.
    has_ended: bool,
    /// True if the end of the other direction was sent.
    is_shut: bool,
}

impl ProgramIo {
    /// Wraps a stream whose first bytes were already read.
    pub(crate) fn new(first: Bytes, stream: ByteStream, passage: &Passage) -> io::Result<Self> {
        let program = Self {
            stream,
            passage: passage.clone(),
            pending: Bytes::new(),
            has_ended: false,
            is_shut: false,
        };
        program.count(first.len(), 0)?;
        Ok(Self {
            pending: first,
            ..program
        })
    }

    fn count(&self, n_sent: usize, n_received: usize) -> io::Result<()> {
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        if self.passage.meter.count(number(n_sent), number(n_received)) {
            return Ok(());
        }
        self.passage.meter.blocked(BlockReason::Bytes);
        Err(io::Error::other(BlockReason::Bytes.sentence()))
    }
}

impl AsyncRead for ProgramIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.pending.is_empty() && !self.has_ended {
            match ready!(self.stream.incoming.as_mut().poll_next(context)) {
                // An empty message ends this direction only. A closed stream ends it too.
                Some(piece) if !piece.is_empty() => {
                    self.count(piece.len(), 0)?;
                    self.pending = piece;
                }
                Some(_) | None => self.has_ended = true,
            }
        }
        let n_bytes = self.pending.len().min(buffer.remaining());
        buffer.put_slice(&self.pending[..n_bytes]);
        self.pending.advance(n_bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ProgramIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(self.stream.outgoing.as_mut().poll_ready(context))?;
        self.count(0, bytes.len())?;
        let piece = Bytes::copy_from_slice(bytes);
        self.stream.outgoing.as_mut().start_send(piece)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.outgoing.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_shut {
            ready!(self.stream.outgoing.as_mut().poll_ready(context))?;
            self.stream.outgoing.as_mut().start_send(Bytes::new())?;
            self.is_shut = true;
        }
        self.stream.outgoing.as_mut().poll_flush(context)
    }
}
