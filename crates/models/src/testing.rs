//! What the tests of all vendors share.

use std::io;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    blob::BlobFormat,
    model::{CallResult, Chunk, Image, Item, ModelError, ModelRequest, Original, ToolCall},
};
use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};

use crate::{
    space::Space,
    sse,
    talk::{self, Answer},
};

pub(crate) const SCREEN: ScreenSize = ScreenSize {
    width: 1280,
    height: 800,
};

pub(crate) fn space() -> Space {
    Space::picture(SCREEN, SCREEN)
}

pub(crate) fn request(items: Vec<Item>) -> ModelRequest {
    ModelRequest {
        system: "You have a computer.".to_owned(),
        screen: SCREEN,
        shown: SCREEN,
        items,
    }
}

pub(crate) fn prompt(text: &str) -> Item {
    Item::Prompt {
        text: text.to_owned(),
    }
}

/// An answer as a vendor sent it.
pub(crate) fn answer(vendor: &str, data: &Value) -> Item {
    Item::Answer {
        thinking: String::new(),
        text: String::new(),
        calls: Vec::new(),
        original: Some(Original {
            vendor: vendor.to_owned(),
            data: data.clone(),
        }),
    }
}

pub(crate) fn picture() -> Image {
    Image {
        bytes: Bytes::from_static(b"png"),
        format: BlobFormat::Png,
    }
}

pub(crate) fn result(call: &str, text: &str) -> CallResult {
    CallResult {
        call: call.to_owned(),
        text: text.to_owned(),
        is_error: false,
        image: None,
    }
}

pub(crate) fn shown(call: &str, text: &str) -> CallResult {
    CallResult {
        image: Some(picture()),
        ..result(call, text)
    }
}

pub(crate) fn failed(call: &str, text: &str) -> CallResult {
    CallResult {
        is_error: true,
        ..shown(call, text)
    }
}

/// Server-sent events with these data.
pub(crate) fn events(data: &[Value]) -> String {
    let events = data.iter().map(|data| format!("data: {data}\n\n"));
    events.collect()
}

/// What is read of a stream that comes in pieces of these lengths, over and over. Asked again, nothing comes.
pub(crate) fn read<A: Answer>(
    body: &str,
    lengths: &[usize],
    answer: impl Fn(Vec<Value>) -> A + Send + 'static,
) -> Vec<Result<Chunk, ModelError>> {
    let mut pieces = Vec::new();
    let mut rest = Bytes::from(body.to_owned());
    let mut lengths = lengths.iter().cycle();
    while !rest.is_empty() {
        let length = lengths.next().map_or(rest.len(), |&length| length);
        let piece = rest.split_to(length.clamp(1, rest.len()));
        pieces.push(Ok::<_, io::Error>(piece));
    }
    let body = std::sync::Mutex::new(Some(pieces));
    let chunks = talk::chunks(move |said| {
        let pieces = body.lock().unwrap().take().unwrap_or_default();
        let answer = answer(said);
        async move { Ok((sse::events(stream::iter(pieces)), answer)) }.boxed()
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(chunks.collect())
}

/// The pieces of an answer that came whole.
pub(crate) fn whole(read: Vec<Result<Chunk, ModelError>>) -> Vec<Chunk> {
    read.into_iter().collect::<Result<_, _>>().unwrap()
}

/// What an answer ended with that did not come whole.
pub(crate) fn error(read: Vec<Result<Chunk, ModelError>>) -> ModelError {
    read.into_iter().find_map(Result::err).unwrap()
}

/// The calls among the pieces.
pub(crate) fn tool_calls(chunks: &[Chunk]) -> Vec<&ToolCall> {
    let mut calls = Vec::new();
    for chunk in chunks {
        if let Chunk::Call(call) = chunk {
            calls.push(call);
        }
    }
    calls
}

/// The same as id, tool and input.
pub(crate) fn calls(chunks: &[Chunk]) -> Vec<Value> {
    let calls = tool_calls(chunks).into_iter();
    calls
        .map(|call| json!([call.id, call.tool, call.input]))
        .collect()
}
