//! The messages that wait for the agent.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{ChangeMessage, Place, Sessions};
use deskhand_core::{
    id::{MessageId, SessionId},
    message::{Delivery, Message},
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    caller::Caller,
    extract::{Body, Id, Ids},
    problem::Problem,
    view::MessageView,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    content: Option<String>,
    delivery: Option<Delivery>,
    /// The message to stand before; null for the end of the queue.
    #[serde(default, deserialize_with = "place")]
    before: Option<Place>,
}

#[derive(Debug, Serialize)]
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

/// `GET /api/sessions/{id}/queue`
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<QueueView>, Problem> {
    Ok(Json(sessions.queue(caller.viewer(), id).await?.into()))
}

/// `PATCH /api/sessions/{id}/queue/{message}`
pub(crate) async fn change(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Ids(id, message): Ids<SessionId, MessageId>,
    Body(body): Body<Change>,
) -> Result<Json<QueueView>, Problem> {
    let change = ChangeMessage {
        content: body.content,
        delivery: body.delivery,
        place: body.before,
    };
    let queue = sessions.change_message(user, id, message, change).await?;
    Ok(Json(queue.into()))
}

/// `DELETE /api/sessions/{id}/queue/{message}`
pub(crate) async fn remove(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Ids(id, message): Ids<SessionId, MessageId>,
) -> Result<StatusCode, Problem> {
    sessions.remove_message(user, id, message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A field that is there: null says something too.
fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Place>, D::Error> {
    let before = Option::<MessageId>::deserialize(deserializer)?;
    Ok(Some(before.map_or(Place::Last, Place::Before)))
}
