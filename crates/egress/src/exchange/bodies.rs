//! Bodies of requests and responses. They are streamed, and checked or masked on the way.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap,
    body::{Body, Frame, Incoming, SizeHint},
};

use super::{Refused, Visit};
use crate::{mask::ValueMask, watch::StandInWatch};

/// The body of a response to a program.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, io::Error>;

/// The body of a request. It fails if it contains a stand-in.
#[derive(Debug)]
pub(super) struct WatchedBody {
    body: Incoming,
    watch: StandInWatch,
    visit: Arc<Visit>,
    /// Set when it contains a stand-in.
    is_refused: Arc<AtomicBool>,
}

impl WatchedBody {
    /// Returns the body, and a flag that is set when it contains a stand-in.
    pub(super) fn new(body: Incoming, visit: &Arc<Visit>) -> (Self, Arc<AtomicBool>) {
        let is_refused = Arc::<AtomicBool>::default();
        let body = Self {
            body,
            watch: visit.watch(),
            visit: Arc::clone(visit),
            is_refused: Arc::clone(&is_refused),
        };
        (body, is_refused)
    }

    fn is_clean(&mut self, frame: &Frame<Bytes>) -> bool {
        match (frame.data_ref(), frame.trailers_ref()) {
            (Some(data), _) => !self.watch.sees(data),
            (None, Some(trailers)) => !trailers.iter().any(|(name, value)| {
                self.watch.is_in(name.as_str().as_bytes()) || self.watch.is_in(value.as_bytes())
            }),
            (None, None) => true,
        }
    }
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(frame) => frame.map_err(io::Error::other)?,
        };
        if self.is_clean(&frame) {
            return Poll::Ready(Some(Ok(frame)));
        }
        self.is_refused.store(true, Ordering::Release);
        self.visit.report(&Refused::StandIn);
        Poll::Ready(Some(Err(io::Error::other(Refused::StandIn))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, in which stand-ins replace values. Its length stays the same.
#[derive(Debug)]
struct MaskedBody {
    body: Incoming,
    mask: ValueMask,
    /// Trailers that must follow the bytes held back.
    trailers: Option<HeaderMap>,
    has_ended: bool,
}

/// Returns the body of a response as the program gets it.
pub(super) fn masked(body: Incoming, mask: ValueMask) -> AnswerBody {
    let body = MaskedBody {
        body,
        mask,
        trailers: None,
        has_ended: false,
    };
    body.boxed_unsync()
}

/// Returns a short text as the body of a response.
pub(super) fn text(text: String) -> AnswerBody {
    // It cannot fail.
    Full::from(text)
        .map_err(|never| match never {})
        .boxed_unsync()
}

impl Body for MaskedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if self.has_ended {
                let rest = self.mask.finish();
                if !rest.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(rest))));
                }
                let trailers = self.trailers.take();
                return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
            }
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => {
                    self.has_ended = true;
                    continue;
                }
                Some(frame) => frame.map_err(io::Error::other)?,
            };
            match frame.into_data() {
                Ok(data) => {
                    let clean = self.mask.push(data);
                    if !clean.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(clean))));
                    }
                }
                Err(other) => {
                    let mut trailers = other.into_trailers().unwrap_or_default();
                    clean_headers(&mut trailers, &self.mask);
                    self.trailers = Some(trailers);
                    self.has_ended = true;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && !self.mask.holds() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.mask.holds() {
            // The inner body no longer includes the bytes that are held back.
            return SizeHint::new();
        }
        self.body.size_hint()
    }
}

/// Replaces values in headers by their stand-ins.
pub(super) fn clean_headers(headers: &mut HeaderMap, mask: &ValueMask) {
    for (_, value) in headers.iter_mut() {
        if let Some(clean) = mask.clean(value.as_bytes())
            && let Ok(clean) = hyper::header::HeaderValue::from_bytes(&clean)
        {
            *value = clean;
        }
    }
}
