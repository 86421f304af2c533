//! What a server sends over a `WebSocket`, as it comes.

use deskhand_core::event::Event;
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::client::PATIENCE;

/// A session's events as they come.
#[derive(Debug)]
pub struct EventStream {
    pub(crate) socket: WebSocketStream<TcpStream>,
}

impl EventStream {
    /// The next event as it was sent.
    pub async fn next(&mut self) -> String {
        next_text(&mut self.socket).await
    }

    /// The same, or how the stream ended. It waits as long as there is a connection.
    pub async fn try_next(&mut self) -> Result<String, String> {
        try_next_text(&mut self.socket).await
    }

    /// Says that somebody looks at the session.
    pub async fn heartbeat(&mut self) {
        let text = Message::text(r#"{"type":"heartbeat"}"#);
        self.socket.send(text).await.unwrap();
    }

    /// Waits until the server closes the stream; answers the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }

    /// Who comes or goes next, as type and name. Events of the log are passed over.
    pub async fn next_person(&mut self) -> (String, String) {
        loop {
            let message: Value = serde_json::from_str(&self.next().await).unwrap();
            if message.get("seq").is_none() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                return (text(&message["type"]), text(&message["data"]["name"]));
            }
        }
    }

    /// The next event.
    pub async fn next_event(&mut self) -> Event {
        serde_json::from_str(&self.next().await).unwrap()
    }

    /// Events up to and including number `last`.
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

/// What the bus tells.
#[derive(Debug)]
pub struct BusStream {
    pub(crate) socket: WebSocketStream<TcpStream>,
}

impl BusStream {
    /// The next message.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&next_text(&mut self.socket).await).unwrap()
    }

    /// The data of the next message of this type. Others are passed over.
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

    /// Waits until the server closes it; answers the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }
}

/// The next text that comes over a WebSocket.
async fn next_text(socket: &mut WebSocketStream<TcpStream>) -> String {
    let next = tokio::time::timeout(PATIENCE, try_next_text(socket));
    let next = next.await.expect("a message in time");
    next.unwrap_or_else(|end| panic!("the stream ended: {end}"))
}

/// The same, or how the stream ended.
async fn try_next_text(socket: &mut WebSocketStream<TcpStream>) -> Result<String, String> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return Err(format!("{other:?}")),
        }
    }
}

/// Waits until the server closes a WebSocket; answers the code and the reason.
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
