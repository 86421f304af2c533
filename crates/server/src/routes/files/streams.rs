//! The bodies of requests and responses, which end when the caller loses access.

use std::{pin::Pin, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use deskhand_app::{Admission, BodyError, FileDownload, FileError};
use futures::{FutureExt, Stream, StreamExt, future::BoxFuture, stream::BoxStream};
use tokio::time::timeout;

/// The timeout for the next piece of a body.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size and time of reading on after a body was refused.
const MOST_DRAINED_BYTES: usize = 64 * 1024 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the content of a file as a body. It ends with an error when the caller may no longer see the session.
pub(super) fn download(file: FileDownload, admission: Admission) -> Body {
    let lost: BoxFuture<'static, ()> = admission.lost().boxed();
    let pieces: BoxStream<'static, _> = file.into_stream().boxed();
    let body = futures::stream::unfold(Some((pieces, lost)), |state| async move {
        let (mut pieces, mut lost) = state?;
        let piece = tokio::select! {
            biased;
            () = &mut lost => Some(Err(FileError::Cut)),
            piece = pieces.next() => piece,
        };
        let piece = piece?;
        let rest = piece.is_ok().then_some((pieces, lost));
        Some((piece, rest))
    });
    Body::from_stream(body)
}

/// Reads on for a short time after a refusal. Otherwise a client that is still sending would see a closed connection
/// instead of the reason.
pub(super) async fn drain(mut body: Pin<&mut impl Stream<Item = Result<Bytes, BodyError>>>) {
    let rest = async {
        let mut n_bytes = 0;
        while let Some(Ok(piece)) = body.next().await {
            n_bytes += piece.len();
            if n_bytes > MOST_DRAINED_BYTES {
                return;
            }
        }
    };
    // The response is sent in any case.
    let _ = timeout(DRAIN_TIMEOUT, rest).await;
}

/// Returns the pieces of a body. They end with an error when the caller's right in the session changes.
pub(crate) fn upload(
    body: Body,
    admission: Admission,
) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
    let changed: BoxFuture<'static, ()> = admission.changed().boxed();
    let pieces = body.into_data_stream();
    futures::stream::unfold(Some((pieces, changed)), |state| async move {
        let (mut pieces, mut changed) = state?;
        let piece = tokio::select! {
            biased;
            () = &mut changed => Some(Err(BodyError::Cut)),
            piece = timeout(PIECE_TIMEOUT, pieces.next()) => match piece {
                Err(_elapsed) => Some(Err(BodyError::Slow)),
                Ok(piece) => piece.map(|piece| piece.map_err(|_cut| BodyError::Cut)),
            },
        };
        let piece = piece?;
        let rest = piece.is_ok().then_some((pieces, changed));
        Some((piece, rest))
    })
}
