//! The gateway reads a request of any shape without taking a multiple of its size. This test has a program of its own,
//! because it counts what is allocated.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(unsafe_code, reason = "only an allocator can count what is allocated")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use deskhand_core::{
    gateway::{GatewayRequest, ModelGateway},
    secret::Secret,
};
use deskhand_models::{AccountSettings, ModelSettings, VendorGateway};

/// The largest body that the gateway takes.
const BODY_BYTES: usize = 32 * 1024 * 1024;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn gateway() -> VendorGateway {
    let account = AccountSettings {
        key: Some(Secret::new("sk-test")),
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        ..AccountSettings::default()
    };
    VendorGateway::new(&ModelSettings {
        anthropic: account.clone(),
        openai: account,
        ..ModelSettings::default()
    })
    .unwrap()
}

/// Fills a body up to the largest size.
fn filled(begin: &str, piece: &str, end: &str) -> Bytes {
    let n_pieces = (BODY_BYTES - begin.len() - end.len()) / piece.len();
    Bytes::from(format!("{begin}{}{end}", piece.repeat(n_pieces)))
}

/// Returns the bytes that were allocated at most while a request was read, and whether it may be passed on.
fn read(gateway: &VendorGateway, path: &str, body: Bytes) -> (usize, bool) {
    let request = GatewayRequest {
        path: path.to_owned(),
        query: String::new(),
        headers: Vec::new(),
        body,
    };
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let call = gateway.read(request);
    (MOST.load(Ordering::Relaxed) - before, call.is_ok())
}

#[test]
fn no_shape_of_a_request_takes_a_multiple_of_its_size() {
    let gateway = gateway();
    let begin = r#"{"model": "claude-opus-5-5", "messages": ["#;
    let small = BODY_BYTES / 2;
    for (piece, end, passes) in [
        ("0,", "0]}", false),
        ("[],", "0]}", false),
        ("{\"a\":0},", "0]}", false),
        // A long text is not copied, and one with escapes is unpacked once.
        ("x", "]}", false),
    ] {
        let (most, is_ok) = read(&gateway, "/v1/messages", filled(begin, piece, end));
        assert!(most < small, "{piece}: {most} bytes");
        assert_eq!(is_ok, passes, "{piece}");
    }
    let text = format!("{begin}{{\"role\": \"user\", \"content\": \"");
    let (most, is_ok) = read(&gateway, "/v1/messages", filled(&text, "x", "\"}]}"));
    assert!(is_ok && most < 64 * 1024, "{most} bytes");
    let (most, is_ok) = read(&gateway, "/v1/messages", filled(&text, "\\n", "\"}]}"));
    assert!(is_ok && most < 2 * BODY_BYTES, "{most} bytes");
    // A field is added to this one, so it is copied.
    let text = r#"{"model": "gpt-6-sol", "stream": true, "messages": [{"content": ""#;
    let body = filled(text, "x", "\"}]}");
    let (most, is_ok) = read(&gateway, "/v1/chat/completions", body);
    assert!(is_ok && most < BODY_BYTES + 64 * 1024, "{most} bytes");
}
