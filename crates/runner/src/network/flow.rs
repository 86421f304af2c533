//! The byte stream of one connection.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use smoltcp::{
    iface::SocketHandle,
    socket::tcp::{RecvError, State},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{packet::Endpoints, stack::Stack};

/// Both directions of a connection. If it is dropped before it was shut down, the program sees a reset.
pub(super) struct Flow {
    ends: Arc<Ends>,
}

/// The direction from the program.
pub(super) struct FlowReader(Arc<Ends>);

/// The direction to the program.
pub(super) struct FlowWriter(Arc<Ends>);

struct Ends {
    stack: Stack,
    handle: SocketHandle,
    endpoints: Endpoints,
    /// True if the direction to the program was shut down.
    is_shut: AtomicBool,
}

impl Flow {
    pub(super) fn new(stack: Stack, handle: SocketHandle, endpoints: Endpoints) -> Self {
        Self {
            ends: Arc::new(Ends {
                stack,
                handle,
                endpoints,
                is_shut: AtomicBool::new(false),
            }),
        }
    }

    pub(super) fn into_split(self) -> (FlowReader, FlowWriter) {
        let reader = FlowReader(Arc::clone(&self.ends));
        (reader, FlowWriter(self.ends))
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let is_shut = self.is_shut.load(Ordering::Relaxed);
        let mut core = self.stack.core();
        core.leave(self.endpoints, self.handle, is_shut);
        drop(core);
        self.stack.wake();
    }
}

impl AsyncRead for FlowReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let ends = &self.0;
        let mut core = ends.stack.core();
        let socket = core.socket(ends.handle);
        let mut n_read = 0;
        // The ring buffer holds the bytes in at most two pieces.
        for _ in 0..2 {
            let received = socket.recv(|bytes| {
                let n = bytes.len().min(buffer.remaining());
                buffer.put_slice(&bytes[..n]);
                (n, n)
            });
            match received {
                Ok(n) => n_read += n,
                Err(RecvError::Finished) => return Poll::Ready(Ok(())),
                Err(RecvError::InvalidState) if n_read == 0 && !is_opening(socket.state()) => {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                }
                Err(RecvError::InvalidState) => {}
            }
        }
        if n_read == 0 {
            socket.register_recv_waker(context.waker());
            return Poll::Pending;
        }
        drop(core);
        ends.stack.wake();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FlowWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let ends = &self.0;
        let mut core = ends.stack.core();
        let socket = core.socket(ends.handle);
        let sent = match socket.send_slice(bytes) {
            Ok(n_sent) => n_sent,
            Err(_) if is_opening(socket.state()) => 0,
            Err(_) => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        };
        if sent == 0 && !bytes.is_empty() {
            socket.register_send_waker(context.waker());
            return Poll::Pending;
        }
        drop(core);
        ends.stack.wake();
        Poll::Ready(Ok(sent))
    }

    /// Waits until the kernel has acknowledged everything.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut core = self.0.stack.core();
        let socket = core.socket(self.0.handle);
        if socket.send_queue() == 0 || !socket.may_send() {
            return Poll::Ready(Ok(()));
        }
        socket.register_send_waker(context.waker());
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ends = &self.0;
        let mut core = ends.stack.core();
        let socket = core.socket(ends.handle);
        if is_opening(socket.state()) {
            socket.register_send_waker(context.waker());
            return Poll::Pending;
        }
        socket.close();
        drop(core);
        ends.is_shut.store(true, Ordering::Relaxed);
        ends.stack.wake();
        Poll::Ready(Ok(()))
    }
}

/// Returns true until the kernel has completed the handshake.
fn is_opening(state: State) -> bool {
    state == State::SynReceived
}
