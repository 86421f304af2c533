//! The user-level bus: all sessions of a user over one WebSocket, and the logs they subscribe to.

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
use deskhand_api::bus::{BusMessage, NoticeData, RefusedData};
use deskhand_app::{Guest, SessionsFeed};
use deskhand_core::{id::SessionId, viewer::Viewer};
use tracing::Instrument;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::stream::{IDLE_TIMEOUT, PING_INTERVAL, TOO_SLOW, close, send};
use crate::{Shared, caller::Pass, metrics::OpenSocket, problem::Problem, sockets, view};
use subscriptions::Subscriptions;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(follow_all))
}

/// The longest message that a client may send.
const LONGEST_MESSAGE_BYTES: usize = 4 * 1024;

/// Follows all your sessions over a WebSocket.
///
/// Sends one `BusMessage` per text message: first a snapshot, then the changes. It is not a log: a client that is slow
/// or reconnects gets the current state, not the states in between. A client sends `BusRequest`s of at most 4 KiB to
/// receive the events of sessions too, of at most 20 at a time. They arrive as in the session's own stream. Each
/// subscription counts like a request over HTTP. The server closes the connection with 1008 if the user is no longer
/// signed in, and with 1013 if the client leaves messages unread for 30 seconds. When it shuts down, it announces
/// that in a notice and closes with 1001.
#[utoipa::path(
    get,
    path = "/events",
    operation_id = "follow_sessions",
    tag = "sessions",
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 429, description = "`too_many_sockets`"),
    ),
)]
pub(crate) async fn follow_all(
    State(shared): State<Shared>,
    pass: Pass,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let counted = shared.sockets.open(pass.identity.user)?;
    let guest = shared.app.welcome(pass.credential).await?;
    let feed = shared.app.sessions().follow_all(pass.identity.user);
    let subscriptions = Subscriptions::new(shared.clone(), pass.identity);
    let span = tracing::Span::current();
    let upgrade = sockets::bounded(upgrade, LONGEST_MESSAGE_BYTES);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let served = Box::pin(serve(socket, shared, guest, feed, subscriptions));
        served.instrument(span).await;
        drop(counted);
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
    // Created once: news must not cancel a check of the identity.
    let mut lost = pin!(guest.lost(feed.refresher()));
    let mut ending = pin!(shared.app.ending().cancelled());
    let mut is_ending = false;
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.reset();
    let mut heard_at = Instant::now();
    loop {
        let messages = tokio::select! {
            () = feed.ready() => match feed.read().await {
                Ok(news) => {
                    let news = news.into_iter().map(view::bus_message);
                    news.chain(subscriptions.look_again(viewer).await).collect()
                }
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "could not read the sessions of a \
                                                                               user");
                    close(socket, close_code::ERROR, "your sessions could not be read; reconnect").await;
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
                if heard_at.elapsed() > IDLE_TIMEOUT || socket.send(Message::Ping(Bytes::new())).await.is_err() {
                    return;
                }
                Vec::new()
            }
            () = &mut lost => {
                close(socket, close_code::POLICY, "you are no longer signed in").await;
                return;
            }
            () = &mut ending, if !is_ending => {
                is_ending = true;
                vec![shutting_down()]
            }
            () = shared.shutdown.cancelled() => {
                close(socket, close_code::AWAY, "the server is shutting down; reconnect").await;
                return;
            }
        };
        let wires = messages.iter().filter_map(wire).collect();
        if !send(&mut socket, wires).await {
            return close(socket, close_code::AGAIN, TOO_SLOW).await;
        }
    }
}

fn wire(message: &BusMessage) -> Option<Bytes> {
    // Our own types can always be serialized as JSON.
    serde_json::to_vec(message).ok().map(Bytes::from)
}

fn refused(session: Option<SessionId>, problem: Problem) -> BusMessage {
    let error = problem.into_error();
    BusMessage::Refused(RefusedData { session, error })
}

fn shutting_down() -> BusMessage {
    BusMessage::Notice(NoticeData {
        code: "shutting_down".to_owned(),
        message: "The server is shutting down. Work goes on when it starts again.".to_owned(),
    })
}
