//! The event log: a page of it, or all of it as it grows.

use std::time::Duration;

use axum::{
    extract::{
        State,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code},
    },
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use deskhand_app::{Feed, Sessions};
use deskhand_core::{event::LoggedEvent, id::SessionId};
use futures::SinkExt;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Id, Query, page_size},
    metrics::OpenSocket,
    problem::Problem,
    schema::{SessionPath, event::EventsView},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(follow))
}

/// How long a client may leave what it was sent unread.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a quiet connection is shown to be alive.
const PING: Duration = Duration::from_secs(20);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// The number of the last event you saw; 0 is the beginning.
    #[serde(default)]
    after: u64,
    #[param(minimum = 1, maximum = 5000, default = 500)]
    limit: Option<u32>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    /// The number of the last event you saw; 0 is the beginning.
    #[serde(default)]
    after: u64,
}

/// Lists the events of a session's log, in order.
#[utoipa::path(
    get,
    path = "/sessions/{id}/events",
    operation_id = "list_events",
    tag = "sessions",
    params(SessionPath, Page),
    responses(
        (status = 200, description = "a page of events", body = EventsView),
        (status = 400, description = "`after_newest`"),
    ),
)]
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(query): Query<Page>,
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

/// Follows a session's log over a WebSocket.
///
/// Sends one `SessionEvent` per text message: first the past after `after`, then what happens, without gap
/// or repetition. Nothing is expected of the client. One that leaves what it was sent unread for 30 seconds
/// is cut off; when the server shuts down it closes with 1001. Come back with the last number you saw.
#[utoipa::path(
    get,
    path = "/sessions/{id}/stream",
    operation_id = "follow_events",
    tag = "sessions",
    params(SessionPath, After),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`after_newest`"),
    ),
)]
pub(crate) async fn follow(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(query): Query<After>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let feed = shared
        .app
        .sessions()
        .follow(caller.viewer(), id, query.after)
        .await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let span = tracing::Span::current();
    Ok(upgrade
        .on_upgrade(move |socket| send_events(socket, feed, shared.shutdown).instrument(span)))
}

async fn send_events(mut socket: WebSocket, mut feed: Feed, shutdown: CancellationToken) {
    let _counted = OpenSocket::count("events");
    let mut ping = tokio::time::interval(PING);
    ping.reset();
    loop {
        let sent = tokio::select! {
            events = feed.next() => match events {
                Ok(events) => send(&mut socket, events).await,
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a client's events could not be read");
                    close(socket, close_code::ERROR, "the log could not be read; come back").await;
                    return;
                }
            },
            _ = ping.tick() => socket.send(Message::Ping(Bytes::new())).await.is_ok(),
            // Nothing is expected of a client but its leaving.
            received = socket.recv() => matches!(received, Some(Ok(message)) if !matches!(message, Message::Close(_))),
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
