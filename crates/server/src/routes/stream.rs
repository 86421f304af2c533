//! The event log: a page of it, or all of it as it grows.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use axum::{
    extract::{
        State,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code},
    },
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use deskhand_app::{Admission, Feed, PresenceChange, Present, Sessions};
use deskhand_core::{
    event::LoggedEvent,
    id::{SessionId, UserId},
};
use futures::SinkExt;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Id, Query, page_size},
    problem::Problem,
};

/// How long a client may leave what it was sent unread.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a quiet connection is shown to be alive.
const PING: Duration = Duration::from_secs(20);
/// How long a client may be silent. It answers every ping without being asked to.
const SILENCE: Duration = Duration::from_secs(65);
/// What somebody is told whose connection ends because they may not have it any more.
const NO_LONGER: &str = "you may not see this session any more";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    #[serde(default)]
    after: u64,
    limit: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Follow {
    #[serde(default)]
    after: u64,
    /// Whether to tell who comes and goes.
    #[serde(default)]
    presence: bool,
}

/// What a stream tells besides the log. It has no number and is not kept.
#[derive(Debug, Serialize)]
struct PresenceView {
    r#type: &'static str,
    data: Collaborator,
}

#[derive(Debug, Serialize)]
struct Collaborator {
    id: UserId,
    name: String,
}

impl From<PresenceChange> for PresenceView {
    fn from(change: PresenceChange) -> Self {
        Self {
            r#type: if change.is_here {
                "collaborator_join"
            } else {
                "collaborator_leave"
            },
            data: Collaborator {
                id: change.user,
                name: change.name,
            },
        }
    }
}

/// `GET /api/sessions/{id}/events`
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(query): Query<After>,
) -> Result<impl IntoResponse, Problem> {
    let limit = page_size(query.limit, 500, 5_000)?;
    let events = sessions
        .events(caller.viewer(), id, query.after, limit)
        .await?;
    let events: Vec<_> = events.iter().map(LoggedEvent::wire).collect();
    // The events are JSON already.
    let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// `WS /api/sessions/{id}/stream`
pub(crate) async fn follow(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Query(query): Query<Follow>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    let sessions = shared.app.sessions();
    let feed = sessions.follow(viewer, id, query.after).await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let present = sessions.enter(pass.identity.user, id).await?;
    let client = StreamClient {
        feed,
        present,
        tell_presence: query.presence,
    };
    Ok(upgrade.on_upgrade(move |socket| send_events(socket, client, admission, shared.shutdown)))
}

/// What a client of a stream is to be told.
struct StreamClient {
    feed: Feed,
    present: Present,
    tell_presence: bool,
}

async fn send_events(
    mut socket: WebSocket,
    mut client: StreamClient,
    admission: Admission,
    shutdown: CancellationToken,
) {
    // Begun once: a look at the rights must not be cut short by an event.
    let mut lost = pin!(admission.lost());
    let mut ping = tokio::time::interval(PING);
    ping.reset();
    let mut heard_at = Instant::now();
    loop {
        let sent = tokio::select! {
            events = client.feed.next() => match events {
                Ok(events) => send(&mut socket, events).await,
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a client's events could not be read");
                    close(socket, close_code::ERROR, "the log could not be read; come back").await;
                    return;
                }
            },
            changes = client.present.next(), if client.tell_presence => {
                send(&mut socket, presence_messages(changes)).await
            }
            // Whoever is not there any more must not be shown as present.
            _ = ping.tick() => {
                heard_at.elapsed() < SILENCE && socket.send(Message::Ping(Bytes::new())).await.is_ok()
            }
            // Nothing is expected of a client but signs of life and its leaving.
            received = socket.recv() => {
                heard_at = Instant::now();
                matches!(received, Some(Ok(message)) if !matches!(message, Message::Close(_)))
            }
            () = &mut lost => {
                close(socket, close_code::POLICY, NO_LONGER).await;
                return;
            }
            () = shutdown.cancelled() => {
                close(socket, close_code::AWAY, "the server is shutting down; come back").await;
                return;
            }
        };
        if !sent {
            return;
        }
    }
}

fn presence_messages(changes: Vec<PresenceChange>) -> Vec<Bytes> {
    let views = changes.into_iter().map(PresenceView::from);
    // Names and ids can always be written as JSON.
    views
        .filter_map(|view| serde_json::to_vec(&view).ok())
        .map(Bytes::from)
        .collect()
}

/// Sends a batch in one go; tells whether the client took it.
async fn send(socket: &mut WebSocket, events: Vec<Bytes>) -> bool {
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
    tokio::time::timeout(PATIENCE, batch).await.unwrap_or(false)
}

pub(crate) async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    // Who is not there any more need not be told.
    let _ = socket.send(Message::Close(Some(frame))).await;
}
