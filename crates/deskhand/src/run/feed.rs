//! A session's events in order, over as many connections as it takes.

use std::time::Duration;

use deskhand_core::{event::Event, id::SessionId};
use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{CallError, Client, Socket};

/// The time without a message after which the client pings the server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// The timeout for reaching a lost server again.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The first and the longest pause between attempts to reach it. The pause doubles each time.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Reads a session's events. Reconnects if the connection breaks, and neither misses nor repeats an event.
#[derive(Debug)]
pub(super) struct Feed<'a> {
    client: &'a Client,
    session: SessionId,
    last_seq: u64,
    socket: Option<Socket>,
}

/// One event.
#[derive(Debug)]
pub(super) struct FeedItem {
    /// The JSON as the server sent it.
    pub(super) text: String,
    /// The parsed event. `None` if this program does not know its type, as a newer server may send others.
    pub(super) event: Option<Event>,
}

#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

impl<'a> Feed<'a> {
    pub(super) fn new(client: &'a Client, session: SessionId) -> Self {
        Self {
            client,
            session,
            last_seq: 0,
            socket: None,
        }
    }

    /// Returns the next event. It is cancel safe.
    pub(super) async fn next(&mut self) -> Result<FeedItem, CallError> {
        loop {
            let socket = match &mut self.socket {
                Some(socket) => socket,
                None => {
                    let socket = connect(self.client, self.session, self.last_seq).await?;
                    self.socket.insert(socket)
                }
            };
            match receive(socket).await {
                Some(text) => {
                    if let Some(item) = self.accept(text)? {
                        return Ok(item);
                    }
                }
                None => self.socket = None,
            }
        }
    }

    /// Accepts an event if it is the next one. Drops a repeated one, and reconnects after a gap.
    fn accept(&mut self, text: String) -> Result<Option<FeedItem>, CallError> {
        let strange = |source: serde_json::Error| CallError::Strange {
            url: self.client.address().to_owned(),
            source: source.into(),
        };
        let Numbered { seq } = serde_json::from_str(&text).map_err(strange)?;
        if seq <= self.last_seq {
            return Ok(None);
        }
        if seq > self.last_seq + 1 {
            tracing::warn!(
                seq,
                self.last_seq,
                "events are missing; asking for them again"
            );
            self.socket = None;
            return Ok(None);
        }
        self.last_seq = seq;
        let event = serde_json::from_str(&text).ok();
        Ok(Some(FeedItem { text, event }))
    }
}

/// Returns the next text on a connection, or `None` if the connection is closed, broken or silent.
async fn receive(socket: &mut Socket) -> Option<String> {
    let mut is_asked = false;
    loop {
        match timeout(IDLE_TIMEOUT, socket.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => return Some(text.as_str().to_owned()),
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => is_asked = false,
            Ok(
                Some(Ok(Message::Binary(_) | Message::Close(_) | Message::Frame(_)) | Err(_))
                | None,
            ) => {
                return None;
            }
            Err(_silence) if is_asked => return None,
            Err(_silence) => {
                socket.send(Message::Ping(Vec::new().into())).await.ok()?;
                is_asked = true;
            }
        }
    }
}

/// Connects, and retries for a while if the server cannot be reached.
async fn connect(client: &Client, session: SessionId, after: u64) -> Result<Socket, CallError> {
    let give_up_at = Instant::now() + RECONNECT_TIMEOUT;
    let (mut pause, longest_pause) = PAUSES;
    loop {
        match client.open_stream(session, after).await {
            Ok(socket) => return Ok(socket),
            Err(CallError::Unreachable { .. }) if Instant::now() < give_up_at => {
                sleep(pause).await;
                pause = longest_pause.min(pause * 2);
            }
            Err(error) => return Err(error),
        }
    }
}
