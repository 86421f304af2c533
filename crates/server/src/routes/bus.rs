//! The user-level bus: all sessions of somebody over one WebSocket, and the logs they ask for.

mod subscriptions;

use std::{pin::pin, time::Instant};

use axum::{
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade, close_code},
    },
    response::Response,
};
use bytes::Bytes;
use deskhand_app::{Guest, News, Notice, SessionsFeed};
use deskhand_core::{
    id::{DecisionId, SessionId},
    viewer::Viewer,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tracing::Instrument;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::{PING, SILENCE, TOO_SLOW, close, send};
use crate::{
    Shared,
    caller::Pass,
    metrics::OpenSocket,
    problem::{ErrorView, Problem},
    schema,
    view::SessionView,
};
use subscriptions::Subscriptions;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(follow_all))
}

/// The longest message of a client.
const LONGEST_MESSAGE_BYTES: usize = 4 * 1024;

/// What the bus tells.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub(crate) enum BusMessage {
    /// Your newest sessions, at most 200, newest first. It comes once, first of all.
    Snapshot(SnapshotData),
    /// A session is new or different.
    Session(Box<BusSession>),
    /// You cannot see a session any more.
    SessionGone(SessionData),
    /// Something to know at once.
    Notice(NoticeData),
    /// The events of a session follow.
    Subscribed(SessionData),
    /// No more events of a session follow.
    Unsubscribed(SessionData),
    /// What you asked for cannot be had, or cannot be had any more.
    Refused(RefusedData),
    /// An event of a session you asked for.
    Event(EventData),
}

/// What a client says.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = BusRequest)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum BusRequest {
    /// Send me the events of a session: the past after `after`, then what happens.
    Subscribe {
        #[schema(value_type = Uuid)]
        session: SessionId,
        /// The number of the last event you saw; 0 is the beginning.
        #[serde(default)]
        after: u64,
    },
    /// Send me no more of them.
    Unsubscribe {
        #[schema(value_type = Uuid)]
        session: SessionId,
    },
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusSnapshot)]
pub(crate) struct SnapshotData {
    sessions: Vec<BusSession>,
}

/// A session, and whether it waits for you.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BusSession {
    #[serde(flatten)]
    session: SessionView,
    /// Whether the agent waits for something that you may give it.
    needs_me: bool,
    /// The decisions that it waits for and you may answer, oldest first.
    #[schema(value_type = Vec<Uuid>)]
    decisions: Vec<DecisionId>,
}

/// Names a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusSessionId)]
pub(crate) struct SessionData {
    #[schema(value_type = Uuid)]
    session: SessionId,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusNotice)]
pub(crate) struct NoticeData {
    /// `too_many_awake`, `too_many_today` or `shutting_down`. A newer server may send others.
    code: &'static str,
    /// A sentence for people.
    message: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusRefusal)]
pub(crate) struct RefusedData {
    /// Absent when the message could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    session: Option<SessionId>,
    error: ErrorView,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusEvent)]
pub(crate) struct EventData {
    #[schema(value_type = Uuid)]
    session: SessionId,
    #[schema(value_type = schema::event::Event)]
    event: Box<RawValue>,
}

impl From<deskhand_app::BusSession> for BusSession {
    fn from(seen: deskhand_app::BusSession) -> Self {
        Self {
            needs_me: !seen.decisions.is_empty(),
            session: seen.session.into(),
            decisions: seen.decisions,
        }
    }
}

impl From<News> for BusMessage {
    fn from(news: News) -> Self {
        match news {
            News::Snapshot(sessions) => Self::Snapshot(SnapshotData {
                sessions: sessions.into_iter().map(BusSession::from).collect(),
            }),
            News::Session(session) => Self::Session(Box::new(BusSession::from(*session))),
            News::Gone(session) => Self::SessionGone(SessionData { session }),
            News::Notice(Notice { code, message }) => Self::Notice(NoticeData { code, message }),
        }
    }
}

impl BusMessage {
    fn refused(session: Option<SessionId>, problem: Problem) -> Self {
        let error = problem.into_error();
        Self::Refused(RefusedData { session, error })
    }

    fn wire(&self) -> Option<Bytes> {
        // What cannot be written as JSON is none of our types.
        serde_json::to_vec(self).ok().map(Bytes::from)
    }
}

/// Follows all your sessions over a WebSocket.
///
/// Sends one `BusMessage` per text message: first a snapshot, then what changes. It is not a log: who is slow, or comes
/// back, is told how things are and not what they were in between. A client sends `BusRequest`s of at most 4 KiB to have the events
/// of sessions too, of at most 20 at a time; they come as in the session's own stream, and each request counts like one over HTTP. Who is not signed in any more is cut off with 1008, who leaves
/// what it was sent unread for 30 seconds with 1013; when the server shuts down it says so in a notice and closes with 1001.
#[utoipa::path(
    get,
    path = "/events",
    operation_id = "follow_sessions",
    tag = "sessions",
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
    ),
)]
pub(crate) async fn follow_all(
    State(shared): State<Shared>,
    pass: Pass,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let guest = shared.app.welcome(pass.credential).await?;
    let feed = shared.app.sessions().follow_all(pass.identity.user);
    let subscriptions = Subscriptions::new(shared.clone(), pass.identity);
    let span = tracing::Span::current();
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE_BYTES);
    Ok(upgrade.on_upgrade(move |socket| {
        Box::pin(serve(socket, shared, guest, feed, subscriptions)).instrument(span)
    }))
}

async fn serve(
    mut socket: WebSocket,
    shared: Shared,
    guest: Guest,
    mut feed: SessionsFeed,
    mut subscriptions: Subscriptions,
) {
    let _counted = OpenSocket::count("bus");
    let viewer = Viewer::User(guest.identity().user);
    // Begun once: a look at who it is must not be cut short by news.
    let mut lost = pin!(guest.lost(feed.refresher()));
    let mut ending = pin!(shared.app.ending().cancelled());
    let mut is_ending = false;
    let mut ping = tokio::time::interval(PING);
    ping.reset();
    let mut heard_at = Instant::now();
    loop {
        let messages = tokio::select! {
            () = feed.ready() => match feed.read().await {
                Ok(news) => {
                    let news = news.into_iter().map(BusMessage::from);
                    news.chain(subscriptions.look_again(viewer).await).collect()
                }
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "somebody's sessions could not be read");
                    close(socket, close_code::ERROR, "your sessions could not be read; come back").await;
                    return;
                }
            },
            events = subscriptions.next() => events,
            received = socket.recv() => {
                heard_at = Instant::now();
                match received {
                    Some(Ok(Message::Text(text))) => vec![subscriptions.ask(viewer, &text).await],
                    Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => Vec::new(),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                }
            }
            _ = ping.tick() => {
                if heard_at.elapsed() > SILENCE || socket.send(Message::Ping(Bytes::new())).await.is_err() {
                    return;
                }
                Vec::new()
            }
            () = &mut lost => {
                close(socket, close_code::POLICY, "you are not signed in any more").await;
                return;
            }
            () = &mut ending, if !is_ending => {
                is_ending = true;
                vec![shutting_down()]
            }
            () = shared.shutdown.cancelled() => {
                close(socket, close_code::AWAY, "the server is shutting down; come back").await;
                return;
            }
        };
        let wires = messages.iter().filter_map(BusMessage::wire).collect();
        if !send(&mut socket, wires).await {
            return close(socket, close_code::AGAIN, TOO_SLOW).await;
        }
    }
}

fn shutting_down() -> BusMessage {
    BusMessage::Notice(NoticeData {
        code: "shutting_down",
        message: "The server is being stopped. Work goes on when it is started again.".to_owned(),
    })
}
