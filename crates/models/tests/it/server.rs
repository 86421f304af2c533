//! A server that says what it is told to, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use deskhand_testkit::{Asked, Elsewhere, Line, keep_vendor_request};
use serde_json::Value;

/// What is answered to one request.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// How much of the body is sent before the connection breaks.
    sent: usize,
}

impl Reply {
    /// A stream of events.
    pub(crate) fn stream(body: &str) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body: body.to_owned(),
            sent: body.len(),
        }
    }

    /// A refusal.
    pub(crate) fn refusal(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            ..Self::stream(&body.to_string())
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn broken_at(self, sent: usize) -> Self {
        Self { sent, ..self }
    }

    async fn send(self, line: Line) -> std::io::Result<()> {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers.map(|(name, value)| (*name, &**value)).collect();
        let status = format!("{} So", self.status);
        line.part(&status, &headers, &self.body, self.sent).await
    }
}

/// A request as it stands in a snapshot, without what differs from one run to the next.
pub(crate) fn shown(asked: &Asked) -> String {
    let usual = [
        "host",
        "content-length",
        "accept",
        "accept-encoding",
        "user-agent",
    ];
    let headers = asked
        .headers
        .iter()
        .filter(|(name, _)| !usual.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {value}\n"));
    let headers: String = headers.collect();
    format!("POST {}\n{headers}\n{:#}", asked.path, asked.body)
}

/// Gives its replies one after the other, the last one again and again. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _at: Elsewhere,
}

impl Server {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let kept = Arc::clone(&asked);
        let at = Elsewhere::start(move |request, line| {
            keep_vendor_request(&request.path, &request.headers, &request.body);
            let mut kept = kept.lock().unwrap();
            let reply = &replies[kept.len().min(replies.len() - 1)];
            kept.push(request);
            reply.clone().send(line)
        })
        .await;
        Self {
            address: at.url.clone(),
            asked,
            _at: at,
        }
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}
