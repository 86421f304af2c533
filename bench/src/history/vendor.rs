//! A vendor that answers at once and counts its input tokens as Anthropic would.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex},
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::blob::BlobFormat;
use deskhand_pictures::{DecodedPicture, Picture};
use deskhand_testkit::{Asked, Elsewhere, Line};
use serde_json::{Value, json};

/// The number of blocks before a mark in which an earlier mark is found.
const LOOK_BACK: usize = 20;

/// One request as it is billed, in tokens.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) at: Instant,
    pub(crate) n_bytes: usize,
    pub(crate) n_tokens: usize,
    /// The tokens of these read from the cache, and those written to it.
    n_read: usize,
    n_written: usize,
    /// The same conversation with every picture so far, as it is stored.
    pub(crate) naive: Alternative,
    /// The same conversation with only the newest pictures, as they are stored.
    pub(crate) newest: Alternative,
}

/// A request as another program would send it, without the vendor's cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alternative {
    pub(crate) n_bytes: usize,
    pub(crate) n_tokens: usize,
}

/// A picture of the conversation.
#[derive(Debug, Clone, Copy)]
struct Sent {
    /// Its length in base64 as it is stored.
    n_bytes: usize,
    n_tokens: usize,
}

/// The number of pictures that Anthropic's demo keeps.
const N_NEWEST: usize = 3;

impl Request {
    /// Returns the tokens at the price of uncached ones: reading costs a tenth, writing a quarter more.
    pub(crate) fn billed(&self) -> f64 {
        let [all, read, written] = [self.n_tokens, self.n_read, self.n_written].map(|n| n as f64);
        (all - read - written) + 0.1 * read + 1.25 * written
    }
}

#[derive(Debug, Default)]
struct Ledger {
    requests: Vec<Request>,
    /// The hashes of cached beginnings.
    kept: HashSet<u64>,
    /// The hashes of all pictures so far.
    known: HashSet<u64>,
    /// All pictures so far, oldest first.
    pictures: Vec<Sent>,
}

/// A model that moves the pointer a little in each answer, and then says that it is done.
#[derive(Debug)]
pub(crate) struct Vendor {
    at: Elsewhere,
    ledger: Arc<Mutex<Ledger>>,
}

impl Vendor {
    pub(crate) async fn start(n_steps: usize) -> Self {
        let ledger = Arc::<Mutex<Ledger>>::default();
        let kept = Arc::clone(&ledger);
        let at = Elsewhere::start(move |asked, line| {
            let mut ledger = kept.lock().unwrap();
            let step = ledger.requests.len();
            ledger.count(&asked);
            answer(asked.body, line, (step < n_steps).then_some(step))
        })
        .await;
        Self { at, ledger }
    }

    /// Returns the environment variables for a server that uses this vendor.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("ANTHROPIC_API_KEY", "none".to_owned()),
            ("ANTHROPIC_BASE_URL", self.at.url.clone()),
        ]
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.ledger.lock().unwrap().requests.clone()
    }
}

impl Ledger {
    fn count(&mut self, asked: &Asked) {
        let body = &asked.body;
        let messages = list(&body["messages"]);
        let spoken = messages.flat_map(|message| list(&message["content"]));
        let blocks = list(&body["tools"])
            .chain(list(&body["system"]))
            .chain(spoken);
        let mut hasher = DefaultHasher::new();
        // After each block: the hash of the beginning up to it, its tokens, and true if it is marked.
        let (mut n_tokens, mut beginnings) = (0, Vec::new());
        for block in blocks {
            let mut block = block.clone();
            let is_marked = block
                .as_object_mut()
                .is_some_and(|block| block.remove("cache_control").is_some());
            block.to_string().hash(&mut hasher);
            n_tokens += tokens(&block);
            beginnings.push((hasher.finish(), n_tokens, is_marked));
        }
        let marks = beginnings
            .iter()
            .enumerate()
            .filter(|(_, (_, _, is_marked))| *is_marked);
        let marks: Vec<usize> = marks.map(|(index, _)| index).collect();
        let is_near = |index: usize| {
            let mut marks = marks.iter();
            marks.any(|&mark| index <= mark && mark - index <= LOOK_BACK)
        };
        let found = beginnings
            .iter()
            .enumerate()
            .rev()
            .find(|(index, (beginning, _, _))| is_near(*index) && self.kept.contains(beginning));
        let n_read = found.map_or(0, |(_, (_, n_tokens, _))| *n_tokens);
        let n_kept = marks.last().map_or(0, |&mark| beginnings[mark].1);
        self.kept
            .extend(marks.iter().map(|&mark| beginnings[mark].0));
        let now: Vec<&str> = pictures(&body["messages"]).collect();
        let n_text_bytes = asked.text.len() - now.iter().map(|data| data.len()).sum::<usize>();
        let n_text_tokens = n_tokens - now.iter().map(|data| picture_tokens(data)).sum::<usize>();
        for data in now {
            let mut hasher = DefaultHasher::new();
            data.hash(&mut hasher);
            if self.known.insert(hasher.finish()) {
                self.pictures.push(Sent {
                    n_bytes: stored_bytes(data),
                    n_tokens: picture_tokens(data),
                });
            }
        }
        let with = |pictures: &[Sent]| Alternative {
            n_bytes: n_text_bytes + pictures.iter().map(|one| one.n_bytes).sum::<usize>(),
            n_tokens: n_text_tokens + pictures.iter().map(|one| one.n_tokens).sum::<usize>(),
        };
        let first = self.pictures.len().saturating_sub(N_NEWEST);
        self.requests.push(Request {
            naive: with(&self.pictures),
            newest: with(&self.pictures[first..]),
            at: Instant::now(),
            n_bytes: asked.text.len(),
            n_tokens,
            n_read,
            n_written: n_kept.saturating_sub(n_read),
        });
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Counts about one token per four bytes of text; pictures are counted in squares of 28 pixels.
fn tokens(block: &Value) -> usize {
    match block {
        Value::Object(object) if object.get("type").is_some_and(|kind| kind == "image") => {
            let data = object["source"]["data"].as_str();
            picture_tokens(data.expect("pictures are sent in base64"))
        }
        Value::Object(object) => object.values().map(tokens).sum(),
        Value::Array(blocks) => blocks.iter().map(tokens).sum(),
        Value::String(text) => text.len().div_ceil(4),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Returns the pictures of messages in base64, oldest first.
fn pictures(messages: &Value) -> impl Iterator<Item = &str> {
    fn within<'a>(block: &'a Value, found: &mut Vec<&'a str>) {
        if block["type"] == "image" {
            found.extend(block["source"]["data"].as_str());
        }
        for inner in list(&block["content"]) {
            within(inner, found);
        }
    }
    let mut found = Vec::new();
    for message in list(messages) {
        within(message, &mut found);
    }
    found.into_iter()
}

fn decoded(data: &str) -> Picture {
    let bytes = STANDARD.decode(data).expect("pictures are sent in base64");
    let decoded = DecodedPicture::decode(&bytes).expect("pictures can be decoded");
    decoded.picture
}

/// Returns the length of a picture in base64 as it is stored.
fn stored_bytes(data: &str) -> usize {
    let png = decoded(data).encode(BlobFormat::Png);
    png.expect("a picture can be encoded").len().div_ceil(3) * 4
}

fn picture_tokens(data: &str) -> usize {
    let size = decoded(data).size;
    usize::from(size.width).div_ceil(28) * usize::from(size.height).div_ceil(28)
}

async fn answer(asked: Value, mut line: Line, step: Option<usize>) -> std::io::Result<()> {
    let is_toolset = list(&asked["tools"]).any(|tool| {
        let kind = tool["type"].as_str().unwrap_or_default();
        kind.starts_with("computer_toolset")
    });
    let place = json!([200 + step.unwrap_or_default(), 300]);
    let (block, delta, reason) = match step {
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": "Done."}),
            "end_turn",
        ),
        Some(step) => {
            let mut block = json!({"type": "tool_use", "id": format!("toolu_{step}"), "input": {}});
            let input = if is_toolset {
                block["name"] = json!("mouse_move");
                block["toolset_name"] = json!("computer");
                json!({"coordinate": place})
            } else {
                block["name"] = json!("computer");
                json!({"action": "mouse_move", "coordinate": place})
            };
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            (block, delta, "tool_use")
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    line.begin().await?;
    for event in [
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 30}}),
        json!({"type": "message_stop"}),
    ] {
        line.event(&event).await?;
    }
    Ok(())
}
