//! One client of a session's stream.
//!
//! Two tasks serve it. One only writes, so that an event costs little even with many clients. The other does
//! everything else and queues other messages for the first.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use deskhand_app::{Admission, Connection, Feed, PresenceChange, Present, Sessions};
use deskhand_core::id::SessionId;
use futures::{Sink, SinkExt, StreamExt};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{IDLE_TIMEOUT, PING_INTERVAL};
use crate::{metrics::OpenSocket, view};

/// The timeout for a client to read the messages it was sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The message of a client while a user looks at the session.
const HEARTBEAT: &str = r#"{"type":"heartbeat"}"#;
/// The reason given when a user loses access to the session.
const NO_LONGER: &str = "you may no longer see this session";
/// The reason given when a client leaves messages unread for too long.
pub(crate) const TOO_SLOW: &str =
    "the client read too slowly; reconnect with the last number it saw";
/// The timeout for sending the close message.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most messages, besides events, that wait for the writing task.
const MOST_OUTGOING: usize = 8;

/// A client, and the sources of messages besides the log.
pub(super) struct Client {
    pub(super) session: SessionId,
    pub(super) sessions: Sessions,
    pub(super) present: Present,
    /// Keeps the user's control alive, if they have it.
    pub(super) _connection: Connection,
    pub(super) tell_presence: bool,
}

/// A message to write besides events.
enum Outgoing {
    Messages(Vec<Bytes>),
    Ping,
    /// Ends the connection. Nothing is written after it.
    Close(u16, &'static str),
}

pub(super) async fn serve(
    socket: WebSocket,
    feed: Feed,
    client: Client,
    admission: Admission,
    shutdown: CancellationToken,
) {
    let _counted = OpenSocket::count("events");
    let (sink, stream) = socket.split();
    let (outgoing, queued) = mpsc::channel(MOST_OUTGOING);
    // Dropping the set aborts the writer, so it never outlives this connection.
    let mut writer = JoinSet::new();
    writer.spawn(write(sink, feed, queued));
    let last = tokio::select! {
        last = attend(stream, client, admission, shutdown, &outgoing) => last,
        _ = writer.join_next() => return,
    };
    if let Some((code, reason)) = last
        && outgoing.send(Outgoing::Close(code, reason)).await.is_ok()
    {
        // The writer gives up on a client that does not read events or the close message.
        writer.join_next().await;
    }
}

/// Does everything but writing, until the connection has to end.
///
/// Returns the close code and reason, or `None` if the client is no longer there.
async fn attend(
    mut stream: impl futures::Stream<Item = Result<Message, axum::Error>> + Unpin,
    mut client: Client,
    admission: Admission,
    shutdown: CancellationToken,
    outgoing: &mpsc::Sender<Outgoing>,
) -> Option<(u16, &'static str)> {
    // Created once: other events must not cancel a check of the rights.
    let mut lost = pin!(admission.lost());
    let mut shut_down = pin!(shutdown.cancelled());
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.reset();
    let mut heard_at = Instant::now();
    loop {
        let next = tokio::select! {
            changes = client.present.next(), if client.tell_presence => {
                Outgoing::Messages(presence_messages(changes))
            }
            // A user who is no longer there must not be shown as present.
            _ = ping.tick() => {
                if heard_at.elapsed() > IDLE_TIMEOUT {
                    return None;
                }
                Outgoing::Ping
            }
            // A client only sends heartbeats, pongs and its leaving.
            received = stream.next() => {
                heard_at = Instant::now();
                match received {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                    Some(Ok(Message::Text(text))) if text.as_str() == HEARTBEAT => {
                        client.sessions.note_visible(client.session);
                    }
                    Some(Ok(_)) => {}
                }
                continue;
            }
            () = &mut lost => return Some((close_code::POLICY, NO_LONGER)),
            () = &mut shut_down => {
                return Some((close_code::AWAY, "the server is shutting down; reconnect"));
            }
        };
        if outgoing.send(next).await.is_err() {
            return None;
        }
    }
}

/// Writes events and queued messages until the connection ends.
async fn write(
    mut sink: impl Sink<Message> + Unpin,
    mut feed: Feed,
    mut outgoing: mpsc::Receiver<Outgoing>,
) {
    loop {
        let taken = tokio::select! {
            events = feed.next() => match events {
                Ok(events) => send(&mut sink, events).await,
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "could not read events for a client");
                    close(sink, close_code::ERROR, "the log could not be read; reconnect").await;
                    return;
                }
            },
            next = outgoing.recv() => match next {
                Some(Outgoing::Messages(messages)) => send(&mut sink, messages).await,
                Some(Outgoing::Ping) => sink.send(Message::Ping(Bytes::new())).await.is_ok(),
                Some(Outgoing::Close(code, reason)) => return close(sink, code, reason).await,
                None => return,
            },
        };
        if !taken {
            return close(sink, close_code::AGAIN, TOO_SLOW).await;
        }
    }
}

fn presence_messages(changes: Vec<PresenceChange>) -> Vec<Bytes> {
    let views = changes.into_iter().map(view::presence);
    // Names and ids can always be serialized as JSON.
    views
        .filter_map(|view| serde_json::to_vec(&view).ok())
        .map(Bytes::from)
        .collect()
}

/// Sends a batch of messages with one flush. Returns false if that failed or timed out.
pub(crate) async fn send(socket: &mut (impl Sink<Message> + Unpin), events: Vec<Bytes>) -> bool {
    let batch = async {
        for event in events {
            let Ok(text) = Utf8Bytes::try_from(event) else {
                return false;
            };
            if socket.feed(Message::Text(text)).await.is_err() {
                return false;
            }
        }
        socket.flush().await.is_ok()
    };
    tokio::time::timeout(SEND_TIMEOUT, batch)
        .await
        .unwrap_or(false)
}

pub(crate) async fn close(mut socket: impl Sink<Message> + Unpin, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    // A failure does not matter: the client is no longer there.
    let closing = socket.send(Message::Close(Some(frame)));
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
}
