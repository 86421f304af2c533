//! Server-sent events whose data is JSON.

use deskhand_core::model::ModelError;
use futures::{Stream, StreamExt, stream::BoxStream};
use serde_json::Value;
use sse_stream::SseStream;

/// The events of a stream, as JSON.
pub(crate) type Events = BoxStream<'static, Result<Value, ModelError>>;

/// Marks the end for vendors whose streams have no other end.
const DONE: &str = "[DONE]";

/// Returns the events of a response. Errors do not contain its URL.
pub(crate) fn of(response: reqwest::Response) -> Events {
    let body = response.bytes_stream();
    events(body.map(|piece| piece.map_err(reqwest::Error::without_url)))
}

/// Returns the events of a response's body, split into pieces of any size.
pub(crate) fn events<B, E>(body: B) -> Events
where
    B: Stream<Item = Result<bytes::Bytes, E>> + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    let events = SseStream::from_bytes_stream(body.boxed());
    let data = events.filter_map(async |event| match event {
        Ok(event) => event
            .data
            .filter(|data| !data.is_empty() && data != DONE)
            .map(|data| serde_json::from_str(&data).map_err(|error| broken(&error))),
        Err(error) => Some(Err(broken(&error))),
    });
    data.boxed()
}

fn broken(error: &dyn std::error::Error) -> ModelError {
    ModelError::unavailable(format!("its answer ended early: {error}"))
}
