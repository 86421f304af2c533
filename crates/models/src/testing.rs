//! What the tests of all vendors share.

use std::io;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    browser::{BrowserState, ShownPage, TabEntry, TabNumber},
    model::{
        CallResult, Chunk, Image, ImageFormat, Item, ModelError, ModelRequest, Original,
        RequestOptions, ShownFile, ToolCall,
    },
    tool::{ToolSpec, ToolSpecs},
};
use futures::{FutureExt, StreamExt, stream};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use crate::{
    space::Space,
    sse,
    talk::{self, StreamedAnswer},
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
        tools: golden_tools(),
        items,
        page: None,
        options: RequestOptions::default(),
    }
}

/// The tools in the golden requests: those with native forms, and two functions. New tools change no golden request.
fn golden_tools() -> ToolSpecs {
    let golden = ["computer", "bash", "editor", "ask_user", "fill_secret"];
    let all = deskhand_agent::tools::all().specs(SCREEN);
    let is_golden = |spec: &&ToolSpec| golden.contains(&&*spec.name);
    all.iter().filter(is_golden).cloned().collect()
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
        format: ImageFormat::Png,
    }
}

pub(crate) fn file(name: &str, media_type: &'static str) -> ShownFile {
    ShownFile {
        name: name.to_owned(),
        media_type,
        bytes: Bytes::from_static(b"bytes"),
        n_tokens: 1,
    }
}

/// A browser with two tabs.
pub(crate) fn browser_state() -> BrowserState {
    let tab = |number, is_current| TabEntry {
        tab: TabNumber(number),
        url: format!("https://shop.example/{number}"),
        title: format!("Shop {number}"),
        is_current,
    };
    BrowserState {
        tabs: vec![tab(1, false), tab(2, true)],
        changes: Vec::new(),
        dialog: None,
        page: Some(PAGE),
    }
}

/// A page whose picture is half as large.
pub(crate) const PAGE: ShownPage = ShownPage {
    viewport: ScreenSize {
        width: 2000,
        height: 1000,
    },
    shown: ScreenSize {
        width: 1000,
        height: 500,
    },
};

/// The same tools without the computer, and with the browser.
pub(crate) fn browser_tools() -> ToolSpecs {
    let all = deskhand_agent::tools::all().specs(SCREEN);
    let is_kept = |spec: &&ToolSpec| matches!(&*spec.name, "bash" | "browser");
    all.iter().filter(is_kept).cloned().collect()
}

pub(crate) fn result(call: &str, text: &str) -> CallResult {
    CallResult {
        call: call.to_owned(),
        text: text.to_owned(),
        is_error: false,
        image: None,
        browser: None,
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

/// The first half of a stream's events, and then this one.
pub(crate) fn broken_off(body: &str, last: &Value) -> String {
    let events: Vec<&str> = body.split_inclusive("\n\n").collect();
    let half = events[..events.len() / 2].concat();
    half + &self::events(std::slice::from_ref(last))
}

/// The error of an answer that breaks off in its middle with this event, after as much was told of it as was said.
pub(crate) fn after_what_was_said(
    read: impl Fn(&str, &[usize]) -> Vec<Result<Chunk, ModelError>>,
    body: &str,
    last: &Value,
) -> ModelError {
    let is_said = |chunk: &Chunk| !matches!(chunk, Chunk::Usage(_));
    let mut told = read(&broken_off(body, last), &[]);
    let error = told.pop().unwrap().unwrap_err();
    let said: Vec<Chunk> = whole(told).into_iter().filter(is_said).collect();
    let all: Vec<Chunk> = whole(read(body, &[])).into_iter().filter(is_said).collect();
    assert!(!said.is_empty() && all.starts_with(&said), "{said:?}");
    error
}

/// Lengths of the pieces in which a stream comes, many of them shorter than a character.
pub(crate) fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1_usize..4, 1_usize..200], 1..40)
}

/// How a stream is written, which says nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Written {
    Plainly,
    /// Lines end as on another system.
    WithReturns,
    /// Something is sent now and then, so that nobody hangs up.
    WithComments,
}

pub(crate) fn written() -> impl Strategy<Value = Written> {
    use Written::{Plainly, WithComments, WithReturns};
    select(vec![Plainly, WithReturns, WithComments])
}

impl Written {
    pub(crate) fn put(self, body: &str) -> String {
        match self {
            Self::Plainly => body.to_owned(),
            Self::WithReturns => body.replace('\n', "\r\n"),
            Self::WithComments => body.replace("\n\n", "\n\n: still there\n\n"),
        }
    }
}

/// What is read of a stream that comes in pieces of these lengths, over and over. Asked again, nothing comes.
pub(crate) fn read<A: StreamedAnswer>(
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
