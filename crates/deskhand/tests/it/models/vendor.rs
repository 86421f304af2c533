//! A vendor of chat completions that says what a test wants.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// What it says to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Say {
    Words(&'static str),
    /// That it has too much to do.
    Overloaded,
}

/// Listens until the test ends.
pub(crate) struct FakeVendor {
    /// Its base URL.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl FakeVendor {
    /// Says one of these to each request, in this order.
    pub(crate) async fn start<const N: usize>(says: [Say; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&asked);
        let answering = async move {
            for say in says {
                let (stream, _) = listener.accept().await.unwrap();
                let request = answer(stream, say).await;
                kept.lock().unwrap().push(request);
            }
        };
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
        tokio::spawn(answering);
        Self { url, asked }
    }

    /// What it was told before the conversation, in this request.
    pub(crate) fn told(&self, request: usize) -> String {
        let asked = self.asked.lock().unwrap();
        let first = &asked[request]["messages"][0];
        assert_eq!(first["role"], "system", "{first}");
        first["content"].as_str().unwrap().trim_end().to_owned()
    }
}

/// Reads one request, answers it and closes the connection.
async fn answer(stream: TcpStream, say: Say) -> Value {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let (status, kind, text) = match say {
        Say::Words(words) => {
            let piece = json!({"choices": [{"delta": {"content": words}}]});
            let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
            let text = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
            ("200 OK", "text/event-stream", text)
        }
        Say::Overloaded => {
            let text = json!({"error": {"message": "too much to do"}}).to_string();
            ("503 Service Unavailable", "application/json", text)
        }
    };
    let length = text.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    );
    stream.write_all(response.as_bytes()).await.unwrap();
    serde_json::from_slice(&body).unwrap()
}
