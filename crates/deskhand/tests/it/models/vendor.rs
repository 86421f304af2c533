//! A vendor of chat completions that says what a test wants.

use std::sync::{Arc, Mutex};

use deskhand_testkit::{Elsewhere, Line};
use serde_json::{Value, json};

/// What it says to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Say {
    Words(&'static str),
    /// That it has too much to do.
    Overloaded,
}

/// Listens until it is dropped.
pub(crate) struct FakeVendor {
    /// Its base URL.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
    _at: Elsewhere,
}

impl FakeVendor {
    /// Says one of these to each request, in this order.
    pub(crate) async fn start<const N: usize>(says: [Say; N]) -> Self {
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&asked);
        let at = Elsewhere::start(move |request, line| {
            let mut kept = kept.lock().unwrap();
            kept.push(request.body);
            answer(line, says[kept.len() - 1])
        })
        .await;
        Self {
            url: format!("{}/v1", at.url),
            asked,
            _at: at,
        }
    }

    /// What it was told before the conversation, in this request.
    pub(crate) fn told(&self, request: usize) -> String {
        let asked = self.asked.lock().unwrap();
        let first = &asked[request]["messages"][0];
        assert_eq!(first["role"], "system", "{first}");
        first["content"].as_str().unwrap().trim_end().to_owned()
    }

    /// The messages of this request since the model's last answer.
    pub(crate) fn said(&self, request: usize) -> String {
        let asked = self.asked.lock().unwrap();
        let messages = asked[request]["messages"].as_array().unwrap();
        let is_answer = |message: &Value| message["role"] == "assistant";
        let last_answer = messages.iter().rposition(is_answer);
        let rest = &messages[last_answer.map_or(0, |index| index + 1)..];
        let rest = rest.iter().map(|message| message["content"].to_string());
        rest.collect()
    }
}

async fn answer(mut line: Line, say: Say) -> std::io::Result<()> {
    match say {
        Say::Words(words) => {
            line.begin().await?;
            line.event(&json!({"choices": [{"delta": {"content": words}}]}))
                .await?;
            line.event(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
                .await
        }
        Say::Overloaded => {
            let told = json!({"error": {"message": "too much to do"}}).to_string();
            let headers = [("content-type", "application/json")];
            line.whole("503 Service Unavailable", &headers, &told).await
        }
    }
}
