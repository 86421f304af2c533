//! The event log: a page of it, or all of it as a stream.

mod connection;

use std::time::Duration;

use axum::{
    extract::{State, ws::WebSocketUpgrade},
    http::header,
    response::{IntoResponse, Response},
};
use deskhand_api::events::EventsView;
use deskhand_app::Sessions;
use deskhand_core::id::SessionId;
use serde::Deserialize;
use tracing::Instrument;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Id, Query, page_size},
    paths::SessionPath,
    problem::Problem,
    sockets,
};
use connection::Client;
pub(crate) use connection::{TOO_SLOW, close, send};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(follow))
}

/// The interval between pings.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(20);
/// The timeout for a silent client. `WebSocket` clients answer every ping by themselves.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(65);
/// The size of the read buffer, and the longest message that a client may send. Clients send little.
///
/// The buffer is filled with zeros before each read of the socket, so its size adds to the cost of every delivery.
const READ_BYTES: usize = 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// The number of the last event you saw; 0 is the beginning.
    #[serde(default)]
    after: u64,
    #[param(minimum = 1, maximum = 5000, default = 500)]
    limit: Option<u32>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Follow {
    /// The number of the last event you saw; 0 is the beginning.
    #[serde(default)]
    after: u64,
    /// Also send a message whenever a user comes or goes.
    #[serde(default)]
    presence: bool,
}

/// Lists the events of a session's log, in order.
///
/// A page has at most `limit` events, and fewer if they are longer than 4 MiB together. Ask again after the last one
/// until a page is empty.
#[utoipa::path(
    get,
    path = "/sessions/{id}/events",
    operation_id = "list_events",
    tag = "sessions",
    params(SessionPath, EventsQuery),
    responses(
        (status = 200, description = "a page of events", body = EventsView),
        (status = 400, description = "`after_newest`"),
    ),
)]
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(query): Query<EventsQuery>,
) -> Result<impl IntoResponse, Problem> {
    let limit = page_size(query.limit, 500, 5_000)?;
    let events = sessions
        .events(caller.viewer(), id, query.after, limit)
        .await?;
    // The events are already JSON. A page can be long, so each event is freed once it is written.
    let mut body = String::from(r#"{"events":["#);
    for (nth, event) in events.into_iter().enumerate() {
        if nth > 0 {
            body.push(',');
        }
        body.push_str(&event.wire());
    }
    body.push_str("]}");
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// Follows a session's log over a WebSocket.
///
/// Sends one `SessionEvent` per text message: first the past events after `after`, then new ones as they happen,
/// without gaps or repetitions. With `presence` it also sends a `PresenceMessage` whenever a user comes or goes. The
/// client only has to answer pings. A client that shows the session to a user sends exactly `{"type":"heartbeat"}`
/// every 30 seconds, which keeps the session awake. The server closes the connection with 1008 if the user may no
/// longer see the session, with 1013 if the client leaves messages unread for 30 seconds, and with 1001 when it shuts
/// down. Reconnect with the last number you saw.
#[utoipa::path(
    get,
    path = "/sessions/{id}/stream",
    operation_id = "follow_events",
    tag = "sessions",
    params(SessionPath, Follow),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`after_newest`"),
        (status = 429, description = "`too_many_sockets`"),
    ),
)]
pub(crate) async fn follow(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Query(query): Query<Follow>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let counted = shared.sockets.open(pass.identity.user)?;
    let viewer = pass.viewer();
    let admission = shared.app.admit(pass.credential, id).await?;
    let sessions = shared.app.sessions();
    let feed = sessions.follow(viewer, id, query.after).await?;
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let present = shared.app.sharing().enter(pass.identity.user, id).await?;
    let client = Client {
        session: id,
        sessions: sessions.clone(),
        present,
        _connection: shared.app.control().connect(pass.identity.user, id),
        tell_presence: query.presence,
    };
    let span = tracing::Span::current();
    let upgrade = sockets::bounded(upgrade.read_buffer_size(READ_BYTES), READ_BYTES);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let served = connection::serve(socket, feed, client, admission, shared.shutdown.clone());
        served.instrument(span).await;
        drop(counted);
    }))
}
