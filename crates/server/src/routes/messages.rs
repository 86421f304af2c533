//! Messages: sending one, and the conversation in order.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{SendPrompt, Sessions};
use deskhand_core::{
    id::{MessageId, SessionId},
    message::Delivery,
};
use serde::{Deserialize, Serialize};

use crate::{
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
    view::MessageView,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Send {
    content: String,
    #[serde(default)]
    delivery: Delivery,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    limit: Option<u32>,
    after: Option<MessageId>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MessagesView {
    messages: Vec<MessageView>,
    next: Option<MessageId>,
}

/// `POST /api/sessions/{id}/messages`
pub(crate) async fn send(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<Send>,
) -> Result<(StatusCode, Json<MessageView>), Problem> {
    let prompt = SendPrompt {
        content: body.content,
        delivery: body.delivery,
    };
    let message = sessions.send_prompt(user, id, prompt).await?;
    Ok((StatusCode::ACCEPTED, Json(message.into())))
}

/// `GET /api/sessions/{id}/messages`
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(page): Query<Page>,
) -> Result<Json<MessagesView>, Problem> {
    let limit = page_size(page.limit, 200, 1_000)?;
    let page = sessions
        .messages(caller.viewer(), id, page.after, limit)
        .await?;
    let messages = page.messages.into_iter().map(MessageView::from).collect();
    Ok(Json(MessagesView {
        messages,
        next: page.next,
    }))
}
