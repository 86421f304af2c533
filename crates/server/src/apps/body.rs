//! The body of a program's response. It drives the connection to the program, and ends when the person loses access.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

/// The body of a response. The connection to the program is closed on drop.
pub(super) struct AppBody {
    pub(super) body: Incoming,
    /// Drives the connection. `None` once it has ended.
    pub(super) connection: Option<BoxFuture<'static, ()>>,
    /// Resolves when the person loses access to the service.
    pub(super) lost: BoxFuture<'static, ()>,
}

impl HttpBody for AppBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.lost.as_mut().poll(cx).is_ready() {
            let error = io::Error::other("the person may no longer use this service");
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        if let Some(connection) = &mut self.connection
            && connection.as_mut().poll(cx).is_ready()
        {
            self.connection = None;
        }
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        frame.map(|frame| frame.map(|frame| frame.map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
