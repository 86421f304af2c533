//! The body of a response, which tells when the response is finished.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{Response, StatusCode},
};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::places::InProgress;

/// A body that keeps its request in progress until it is sent.
pub(super) struct TrackedBody {
    body: Body,
    _in_progress: Option<InProgress>,
}

impl TrackedBody {
    pub(super) fn track(response: Response<Body>, in_progress: InProgress) -> Response<Self> {
        let in_progress = if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            in_progress.forever();
            None
        } else {
            Some(in_progress)
        };
        response.map(|body| Self {
            body,
            _in_progress: in_progress,
        })
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
