//! A vendor on this machine that speaks as all of them do, and writes down what it is sent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

/// What a vendor was sent.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

/// Models with this name begin to answer and go on when the test lets them.
pub(crate) const SLOW: &str = "claude-opus-5-5";
/// Models with this name say no, and repeat the key.
pub(crate) const TELLTALE: &str = "claude-telltale";

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Vec<Seen>>,
    news: Notify,
    /// How many slow answers may go on.
    goes_on: watch::Sender<bool>,
    /// How many of them were hung up on.
    hung_up: watch::Sender<u32>,
}

#[derive(Debug)]
pub(crate) struct Vendor {
    pub(crate) url: String,
    shared: Arc<Shared>,
    serving: tokio::task::JoinHandle<()>,
}

impl Vendor {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let all = Arc::clone(&shared);
        let serving = tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                let shared = Arc::clone(&all);
                tokio::spawn(async move {
                    // Whoever hangs up is noted where that matters.
                    let _ = answer(connection, &shared).await;
                });
            }
        });
        Self {
            url,
            shared,
            serving,
        }
    }

    /// Settings for a server that has a key for everybody, each with this beginning.
    pub(crate) fn settings(&self, key: &str) -> Vec<(String, String)> {
        let (url, versioned) = (self.url.clone(), format!("{}/v1", self.url));
        let settings = [
            ("ANTHROPIC_API_KEY", format!("{key}-anthropic")),
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("OPENAI_API_KEY", format!("{key}-openai")),
            ("OPENAI_BASE_URL", versioned.clone()),
            ("GEMINI_API_KEY", format!("{key}-gemini")),
            ("GEMINI_BASE_URL", url),
            ("OPENROUTER_API_KEY", format!("{key}-openrouter")),
            ("OPENROUTER_BASE_URL", versioned),
        ];
        settings
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
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

impl Drop for Vendor {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(connection: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let seen = request(&mut connection).await?;
    let (path, body) = (seen.path.clone(), seen.body.clone());
    let headers = seen.headers.clone();
    shared.seen.lock().unwrap().push(seen);
    shared.news.notify_waiters();
    let path = path.split('?').next().unwrap();
    if body["model"] == TELLTALE {
        let key = headers.get("x-api-key").cloned().unwrap_or_default();
        let told = json!({"type": "error", "error": {"type": "invalid_request_error", "message": format!("not with {key}")}});
        return whole(&mut connection, "400 Bad Request", &told).await;
    }
    if path == "/v1/messages" && body["stream"] == true {
        return stream(&mut connection, shared).await;
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
    whole(&mut connection, "200 OK", &told).await
}

async fn request(connection: &mut BufReader<TcpStream>) -> std::io::Result<Seen> {
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        connection.read_line(&mut line).await?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    Ok(Seen {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

async fn whole(
    connection: &mut BufReader<TcpStream>,
    status: &str,
    told: &Value,
) -> std::io::Result<()> {
    let body = told.to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nset-cookie: a=b\r\nrequest-id: req_1\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(answer.as_bytes()).await
}

/// Begins, and goes on when it may.
async fn stream(connection: &mut BufReader<TcpStream>, shared: &Shared) -> std::io::Result<()> {
    let begin = json!({"type": "message_start", "message": {"usage": {"input_tokens": 1000, "output_tokens": 1}}});
    let delta =
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "the end"}});
    let end = json!({"type": "message_delta", "usage": {"output_tokens": 100}});
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    connection.write_all(head.as_bytes()).await?;
    let event = |event: &Value| format!("data: {event}\n\n");
    connection.write_all(event(&begin).as_bytes()).await?;
    let mut goes_on = shared.goes_on.subscribe();
    tokio::select! {
        _ = goes_on.wait_for(|goes_on| *goes_on) => {}
        // It has said all it had to say, so that only its end can be read.
        _ = connection.read_u8() => {
            shared.hung_up.send_modify(|n| *n += 1);
            return Ok(());
        }
    }
    connection.write_all(event(&delta).as_bytes()).await?;
    connection.write_all(event(&end).as_bytes()).await
}
