//! Messages that a server sends over a `WebSocket`, as they arrive.

use deskhand_core::event::Event;
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::client::PATIENCE;

/// A session's events as they arrive.
#[derive(Debug)]
pub struct EventStream {
    pub(crate) socket: WebSocketStream<TcpStream>,
}

impl EventStream {
    /// Returns the next event as it was sent.
    pub async fn next(&mut self) -> String {
        next_text(&mut self.socket).await
    }

    /// Returns the next event, or a description of the stream's end. It has no timeout.
    pub async fn try_next(&mut self) -> Result<String, String> {
        try_next_text(&mut self.socket).await
    }

    /// Tells the server that a person is looking at the session.
    pub async fn heartbeat(&mut self) {
        let text = Message::text(r#"{"type":"heartbeat"}"#);
        self.socket.send(text).await.unwrap();
    }

    /// Waits until the server closes the stream. Returns the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }

    /// Returns the type and name of the next presence message. Events of the log are skipped.
    pub async fn next_person(&mut self) -> (String, String) {
        loop {
            let message: Value = serde_json::from_str(&self.next().await).unwrap();
            if message.get("seq").is_none() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                return (text(&message["type"]), text(&message["data"]["name"]));
            }
        }
    }

    /// Returns the next event.
    pub async fn next_event(&mut self) -> Event {
        serde_json::from_str(&self.next().await).unwrap()
    }

    /// Returns the events up to and including number `last`.
    pub async fn up_to(&mut self, last: u64) -> Vec<String> {
        let mut events = Vec::new();
        loop {
            let text = self.next().await;
            let seq = serde_json::from_str::<Value>(&text).unwrap()["seq"]
                .as_u64()
                .unwrap();
            events.push(text);
            if seq >= last {
                return events;
            }
        }
    }
}

/// The messages of the bus.
#[derive(Debug)]
pub struct BusStream {
    pub(crate) socket: WebSocketStream<TcpStream>,
}

impl BusStream {
    /// Returns the next message.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&next_text(&mut self.socket).await).unwrap()
    }

    /// Returns the data of the next message of this type. Others are skipped.
    pub async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let mut message = self.next().await;
            if message["type"] == kind {
                return message["data"].take();
            }
        }
    }

    pub async fn send(&mut self, request: &Value) {
        let text = Message::text(request.to_string());
        self.socket.send(text).await.unwrap();
    }

    /// Waits until the server closes the bus. Returns the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }
}

/// Returns the next text from a WebSocket.
async fn next_text(socket: &mut WebSocketStream<TcpStream>) -> String {
    let next = tokio::time::timeout(PATIENCE, try_next_text(socket));
    let next = next.await.expect("a message in time");
    next.unwrap_or_else(|end| panic!("the stream ended: {end}"))
}

/// Returns the next text from a WebSocket, or a description of its end.
async fn try_next_text(socket: &mut WebSocketStream<TcpStream>) -> Result<String, String> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return Err(format!("{other:?}")),
        }
    }
}

/// Waits until the server closes a WebSocket. Returns the code and the reason.
pub(crate) async fn closed(socket: &mut WebSocketStream<TcpStream>) -> (u16, String) {
    let end = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code.into(), frame.reason.to_string());
                }
                Some(Ok(_)) => {}
                other => panic!("the connection ended without a word: {other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, end)
        .await
        .expect("an end in time")
}
