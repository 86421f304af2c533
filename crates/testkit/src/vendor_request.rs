//! Requests to vendors, kept for a check against the types of the vendors' own libraries.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

/// The folder that `scripts/sdk-types` reads.
const FOLDER: &str = "DESKHAND_TEST_REQUESTS";
/// The number of requests that one process keeps. Generated conversations give far more, and they are much alike.
const MOST_REQUESTS: usize = 60;

static N_KEPT: AtomicUsize = AtomicUsize::new(0);

/// Keeps a request if the environment names a folder for it.
pub fn keep_vendor_request(path: &str, headers: &BTreeMap<String, String>, body: &Value) {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let number = N_KEPT.fetch_add(1, Ordering::Relaxed);
    if number >= MOST_REQUESTS {
        return;
    }
    let thread = std::thread::current();
    let beta = headers.get("anthropic-beta");
    let kept = json!({
        "test": thread.name().unwrap_or("a test"),
        "path": path,
        "headers": beta.map(|beta| json!({"anthropic-beta": beta})).unwrap_or(json!({})),
        "body": body,
    });
    let file = format!("{}-{number}.json", std::process::id());
    std::fs::write(Path::new(&folder).join(file), kept.to_string()).unwrap();
}
