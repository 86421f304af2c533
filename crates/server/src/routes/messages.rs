//! Sending messages, and listing the conversation.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::messages::{MessageView, MessagesView, SendMessageBody};
use deskhand_app::{Queue, SendPrompt, Sessions};
use deskhand_core::id::{MessageId, SessionId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, send))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessagesQuery {
    #[param(minimum = 1, maximum = 1000, default = 200)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    after: Option<MessageId>,
}

/// Sends a message to the agent.
#[utoipa::path(
    post,
    path = "/sessions/{id}/messages",
    operation_id = "send_message",
    tag = "sessions",
    params(SessionPath),
    request_body = SendMessageBody,
    responses(
        (status = 202, description = "the stored message", body = MessageView),
        (status = 400, description = "`empty_message`, `unknown_model`"),
        (status = 409, description = "`session_ended`"),
        (status = 413, description = "`long_message`"),
        (status = 422, description = "`no_attachment`"),
        (status = 429, description = "`queue_full`, `too_many_awake`"),
    ),
)]
pub(crate) async fn send(
    State(queue): State<Queue>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<SendMessageBody>,
) -> Result<(StatusCode, Json<MessageView>), Problem> {
    let prompt = SendPrompt {
        content: body.content,
        delivery: body.delivery,
        model: body.model,
        effort: body.effort,
        attachments: body.attachments,
        start_url: None,
    };
    let message = queue.send(user, id, prompt).await?;
    Ok((StatusCode::ACCEPTED, Json(message.into())))
}

/// Lists the messages of the conversation, in order.
#[utoipa::path(
    get,
    path = "/sessions/{id}/messages",
    operation_id = "list_messages",
    tag = "sessions",
    params(SessionPath, MessagesQuery),
    responses((status = 200, description = "a page of messages", body = MessagesView)),
)]
pub(crate) async fn list(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(page): Query<MessagesQuery>,
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
