//! A vendor on this machine that speaks as all of them do, and writes down what it is sent.

use std::sync::{Arc, Mutex};

use deskhand_testkit::{Asked, Elsewhere, Line};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

/// Models with this name begin to answer and go on when the test lets them.
pub(crate) const SLOW: &str = "claude-opus-5-5";
/// Models with this name say no, and repeat the key.
pub(crate) const TELLTALE: &str = "claude-haiku-5-5";

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Vec<Asked>>,
    news: Notify,
    /// Whether slow answers may go on.
    goes_on: watch::Sender<bool>,
    /// How many of them were hung up on.
    hung_up: watch::Sender<u32>,
}

#[derive(Debug)]
pub(crate) struct Vendor {
    at: Elsewhere,
    shared: Arc<Shared>,
}

impl Vendor {
    pub(crate) async fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let all = Arc::clone(&shared);
        let at = Elsewhere::start(move |asked, line| answer(asked, line, Arc::clone(&all))).await;
        Self { at, shared }
    }

    /// Settings for a server that has a key for everybody, each with this beginning.
    pub(crate) fn settings(&self, key: &str) -> Vec<(String, String)> {
        let (url, versioned) = (self.at.url.clone(), format!("{}/v1", self.at.url));
        let settings = [
            ("ANTHROPIC_API_KEY", format!("{key}-anthropic")),
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("OPENAI_API_KEY", format!("{key}-openai")),
            ("OPENAI_BASE_URL", versioned.clone()),
            ("GEMINI_API_KEY", format!("{key}-gemini")),
            ("GEMINI_BASE_URL", url),
            ("OLLAMA_API_KEY", format!("{key}-ollama")),
            ("OLLAMA_BASE_URL", versioned),
        ];
        settings
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    pub(crate) fn seen(&self) -> Vec<Asked> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub(crate) async fn asked(&self, n_times: usize) {
        loop {
            let news = self.shared.news.notified();
            if self.seen().len() >= n_times {
                return;
            }
            news.await;
        }
    }

    /// Slow answers come to their end from now on.
    pub(crate) fn go_on(&self) {
        self.shared.goes_on.send_replace(true);
    }

    /// Waits until somebody hung up during a slow answer.
    pub(crate) async fn hung_up(&self) {
        let mut hung_up = self.shared.hung_up.subscribe();
        hung_up.wait_for(|n| *n > 0).await.unwrap();
    }
}

async fn answer(asked: Asked, line: Line, shared: Arc<Shared>) -> std::io::Result<()> {
    shared.seen.lock().unwrap().push(asked.clone());
    shared.news.notify_waiters();
    let path = asked.path.split('?').next().unwrap();
    if asked.body["model"] == TELLTALE {
        let key = asked.headers.get("x-api-key").cloned().unwrap_or_default();
        let told = json!({"type": "error", "error": {"type": "invalid_request_error", "message": format!("not with {key}")}});
        return whole(line, "400 Bad Request", &told).await;
    }
    if path == "/v1/messages" && asked.body["stream"] == true {
        return stream(line, &shared).await;
    }
    let told = match path {
        "/v1/messages" => {
            json!({"type": "message", "content": [{"type": "text", "text": "from anthropic"}], "usage": {"input_tokens": 1000, "output_tokens": 100}})
        }
        "/v1/responses" => {
            json!({"output": [], "said": "from openai", "usage": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 400}, "output_tokens": 100}})
        }
        "/v1/chat/completions" => {
            json!({"choices": [], "said": "from chat", "usage": {"prompt_tokens": 10, "completion_tokens": 20}})
        }
        _ => {
            json!({"candidates": [], "said": "from gemini", "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100}})
        }
    };
    whole(line, "200 OK", &told).await
}

async fn whole(line: Line, status: &str, told: &Value) -> std::io::Result<()> {
    let headers = [
        ("content-type", "application/json"),
        ("set-cookie", "a=b"),
        ("request-id", "req_1"),
    ];
    line.whole(status, &headers, &told.to_string()).await
}

/// Begins, and goes on when it may.
async fn stream(mut line: Line, shared: &Shared) -> std::io::Result<()> {
    line.begin().await?;
    line.event(&json!({"type": "message_start", "message": {"usage": {"input_tokens": 1000, "output_tokens": 1}}}))
        .await?;
    let mut goes_on = shared.goes_on.subscribe();
    tokio::select! {
        _ = goes_on.wait_for(|goes_on| *goes_on) => {}
        () = line.hung_up() => {
            shared.hung_up.send_modify(|n| *n += 1);
            return Ok(());
        }
    }
    line.event(
        &json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "the end"}}),
    )
    .await?;
    line.event(&json!({"type": "message_delta", "usage": {"output_tokens": 100}}))
        .await
}
