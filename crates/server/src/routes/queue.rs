//! The messages that wait for the agent.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::messages::{ChangeMessageBody, QueueView};
use deskhand_app::{ChangeMessage, Choice, Place, Queue};
use deskhand_core::id::{MessageId, SessionId};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids},
    paths::{SessionPath, WaitingPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, clear))
        .routes(routes!(change, remove))
}

/// Lists the waiting messages.
#[utoipa::path(
    get,
    path = "/sessions/{id}/queue",
    operation_id = "list_queue",
    tag = "sessions",
    params(SessionPath),
    responses((status = 200, description = "the queue", body = QueueView)),
)]
pub(crate) async fn list(
    State(queue): State<Queue>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<QueueView>, Problem> {
    Ok(Json(queue.list(caller.viewer(), id).await?.into()))
}

/// Removes all waiting messages that are held. The agent will never see them.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/queue",
    operation_id = "clear_queue",
    tag = "sessions",
    params(SessionPath),
    responses((status = 200, description = "the queue after the change", body = QueueView)),
)]
pub(crate) async fn clear(
    State(queue): State<Queue>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<QueueView>, Problem> {
    Ok(Json(queue.clear_held(user, id).await?.into()))
}

/// Changes a waiting message.
#[utoipa::path(
    patch,
    path = "/sessions/{id}/queue/{message}",
    operation_id = "change_message",
    tag = "sessions",
    params(WaitingPath),
    request_body = ChangeMessageBody,
    responses(
        (status = 200, description = "the queue after the change", body = QueueView),
        (status = 400, description = "`empty_message`, `unknown_model`"),
        (status = 404, description = "`no_message`"),
        (status = 409, description = "`message_taken`"),
        (status = 413, description = "`long_message`"),
    ),
)]
pub(crate) async fn change(
    State(queue): State<Queue>,
    Caller(user): Caller,
    Ids(id, message): Ids<SessionId, MessageId>,
    Body(body): Body<ChangeMessageBody>,
) -> Result<Json<QueueView>, Problem> {
    let change = ChangeMessage {
        content: body.content,
        delivery: body.delivery,
        model: body.model.map(choice),
        effort: body.effort,
        is_held: body.held,
        place: body.before.map(place),
    };
    let queue = queue.change(user, id, message, change).await?;
    Ok(Json(queue.into()))
}

/// Removes a waiting message from the queue. The agent will never see it.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/queue/{message}",
    operation_id = "remove_message",
    tag = "sessions",
    params(WaitingPath),
    responses(
        (status = 204, description = "the message is removed"),
        (status = 404, description = "`no_message`"),
        (status = 409, description = "`message_taken`"),
    ),
)]
pub(crate) async fn remove(
    State(queue): State<Queue>,
    Caller(user): Caller,
    Ids(id, message): Ids<SessionId, MessageId>,
) -> Result<StatusCode, Problem> {
    queue.remove(user, id, message).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn choice(model: Option<String>) -> Choice {
    model.map_or(Choice::TheSessions, Choice::Model)
}

fn place(before: Option<MessageId>) -> Place {
    before.map_or(Place::Last, Place::Before)
}
