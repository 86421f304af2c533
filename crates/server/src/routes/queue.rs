//! The messages that wait for the agent.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{ChangeMessage, Choice, Place, Queue};
use deskhand_core::{
    id::{MessageId, SessionId},
    message::{Delivery, Message},
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids},
    problem::Problem,
    schema::{self, SessionPath, WaitingPath},
    view::MessageView,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(change, remove))
}

/// What to change of a message that waits. At least one of them.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeMessage)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// At most 256 KiB in UTF-8.
    #[schema(min_length = 1, max_length = 262144, nullable = false)]
    content: Option<String>,
    #[schema(value_type = Option<schema::Delivery>, nullable = false)]
    delivery: Option<Delivery>,
    /// Which model works on it, as `vendor/name`; null for the session's.
    #[serde(default, deserialize_with = "choice")]
    #[schema(value_type = Option<String>)]
    model: Option<Choice>,
    /// The message to stand before; null for the end of the queue.
    #[serde(default, deserialize_with = "place")]
    #[schema(value_type = Option<Uuid>)]
    before: Option<Place>,
}

/// The messages that wait, in the order in which the agent will take them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Queue)]
pub(crate) struct QueueView {
    messages: Vec<MessageView>,
}

impl From<Vec<Message>> for QueueView {
    fn from(messages: Vec<Message>) -> Self {
        Self {
            messages: messages.into_iter().map(MessageView::from).collect(),
        }
    }
}

/// Lists the messages that wait.
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

/// Changes a message that waits.
#[utoipa::path(
    patch,
    path = "/sessions/{id}/queue/{message}",
    operation_id = "change_message",
    tag = "sessions",
    params(WaitingPath),
    request_body = Change,
    responses(
        (status = 200, description = "the queue as it is then", body = QueueView),
        (status = 400, description = "`empty_message`, `unknown_model`, `malformed`"),
        (status = 404, description = "`no_message`"),
        (status = 409, description = "`message_taken`"),
        (status = 413, description = "`long_message`"),
    ),
)]
pub(crate) async fn change(
    State(queue): State<Queue>,
    Caller(user): Caller,
    Ids(id, message): Ids<SessionId, MessageId>,
    Body(body): Body<Change>,
) -> Result<Json<QueueView>, Problem> {
    let change = ChangeMessage {
        content: body.content,
        delivery: body.delivery,
        model: body.model,
        place: body.before,
    };
    let queue = queue.change(user, id, message, change).await?;
    Ok(Json(queue.into()))
}

/// Takes a message that waits out of the queue. The agent will never see it.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/queue/{message}",
    operation_id = "remove_message",
    tag = "sessions",
    params(WaitingPath),
    responses(
        (status = 204, description = "it is gone"),
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

/// A field that is there: null says something too.
fn choice<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Choice>, D::Error> {
    let model = Option::<String>::deserialize(deserializer)?;
    Ok(Some(model.map_or(Choice::TheSessions, Choice::Model)))
}

/// The same for a place.
fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Place>, D::Error> {
    let before = Option::<MessageId>::deserialize(deserializer)?;
    Ok(Some(before.map_or(Place::Last, Place::Before)))
}
