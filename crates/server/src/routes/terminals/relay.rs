//! Relays messages between a viewer's WebSocket and a terminal.

use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use deskhand_api::terminals::{TerminalMessage, TerminalRequest};
use deskhand_app::{Admission, TerminalStream, TerminalTypist, TerminalUpdates};
use deskhand_core::terminal::{TerminalInput, TerminalSize, TerminalUpdate};
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::{
    metrics::OpenSocket,
    routes::stream::{IDLE_TIMEOUT, PING_INTERVAL, close},
};

/// The maximum length of a client's message. Clients split what people paste.
pub(super) const LONGEST_MESSAGE_BYTES: usize = 64 * 1024;
/// The timeout for a client to take a piece of output.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

const GONE: &str = "the terminal is no longer there";
const AWAY: &str = "the server is shutting down; reconnect";
const OTHER_RIGHT: &str = "your right in this session has changed";
const BAD_MESSAGE: &str = "a text message has to be a TerminalRequest";

/// Relays messages in both directions until one side ends.
///
/// Each direction waits for its receiver only. A slow client slows down neither the terminal nor other viewers: the
/// runner lets it skip output.
pub(super) async fn relay(
    socket: WebSocket,
    stream: TerminalStream,
    admission: Admission,
    shutdown: CancellationToken,
) {
    let _counted = OpenSocket::count("terminal");
    let (mut to_client, mut from_client) = socket.split();
    let (code, reason) = tokio::select! {
        end = down(stream.updates, &mut to_client) => end,
        end = up(&mut from_client, stream.typist) => end,
        () = admission.changed() => (close_code::POLICY, OTHER_RIGHT),
        () = shutdown.cancelled() => (close_code::AWAY, AWAY),
    };
    close(to_client, code, reason).await;
}

async fn down(
    mut updates: TerminalUpdates,
    to_client: &mut (impl Sink<Message> + Unpin),
) -> (u16, &'static str) {
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.reset();
    loop {
        let message = tokio::select! {
            update = updates.next() => match update {
                Some(update) => message_of(update),
                None => return (close_code::NORMAL, GONE),
            },
            _ = ping.tick() => Some(Message::Ping(Bytes::new())),
        };
        let Some(message) = message else { continue };
        let sent = tokio::time::timeout(SEND_TIMEOUT, to_client.send(message)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return (close_code::AGAIN, "the client read too slowly; reconnect");
        }
    }
}

async fn up(
    from_client: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
    mut typist: TerminalTypist,
) -> (u16, &'static str) {
    loop {
        // Clients answer every ping, so a silent one is gone.
        let received = tokio::time::timeout(IDLE_TIMEOUT, from_client.next()).await;
        let input = match received {
            Ok(Some(Ok(Message::Binary(bytes)))) => TerminalInput::Typed(bytes),
            Ok(Some(Ok(Message::Text(text)))) => match serde_json::from_str(&text) {
                Ok(TerminalRequest::Resize { cols, rows }) => {
                    TerminalInput::Resize(TerminalSize { cols, rows })
                }
                Err(_) => return (close_code::INVALID, BAD_MESSAGE),
            },
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => {
                return (close_code::NORMAL, "the client left");
            }
        };
        if typist.send(input).await.is_err() {
            return (close_code::NORMAL, GONE);
        }
    }
}

fn message_of(update: TerminalUpdate) -> Option<Message> {
    let message = match update {
        TerminalUpdate::Output(bytes) => return Some(Message::Binary(bytes)),
        TerminalUpdate::Replay(replay) => TerminalMessage::Replay {
            missed: replay.missed,
        },
        TerminalUpdate::State(viewed) => viewed.into(),
    };
    // Names and numbers can always be serialized as JSON.
    let text = serde_json::to_string(&message).ok()?;
    Some(Message::Text(Utf8Bytes::from(text)))
}
