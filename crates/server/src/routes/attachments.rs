//! Files that people attach to messages.

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use deskhand_api::messages::AttachmentView;
use deskhand_core::id::{AttachmentId, SessionId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::files::{conditions, headers::attachment, streams};
use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Id, Ids, Query},
    paths::{AttachmentPath, SessionPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(add))
        .routes(routes!(read, remove))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttachFileQuery {
    /// The name of the file. Folders and characters that are invalid in a name are removed.
    name: String,
}

/// Uploads a file for a message.
///
/// The body is the file, of at most 32 MiB. A later message of the caller can list it in `attachments`. It is removed if
/// none does within a day.
#[utoipa::path(
    post,
    path = "/sessions/{id}/attachments",
    operation_id = "attach_file",
    tag = "sessions",
    params(SessionPath, AttachFileQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 201, description = "the file is stored", body = AttachmentView),
        (status = 400, description = "`incomplete_body`"),
        (status = 409, description = "`session_ended`"),
        (status = 413, description = "`file_too_large`, `attachments_full`"),
        (status = 429, description = "`too_many_transfers`, `too_many_attachments`"),
        (status = 503, description = "`storage_full`"),
    ),
)]
pub(crate) async fn add(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Query(query): Query<AttachFileQuery>,
    request: Request,
) -> Result<(StatusCode, Json<AttachmentView>), Problem> {
    let length = conditions::length(request.headers());
    let user = pass.identity.user;
    let admission = shared.app.admit(pass.credential, id).await?;
    let body = streams::upload(request.into_body(), admission);
    let attachments = shared.app.attachments();
    let added = attachments.add(user, id, &query.name, length, body).await?;
    Ok((StatusCode::CREATED, Json(added.into())))
}

/// Reads a file that came with a message, or that the caller has uploaded.
///
/// It is kept as long as the session. Browsers save it and never show it.
#[utoipa::path(
    get,
    path = "/sessions/{id}/attachments/{attachment}",
    operation_id = "read_attachment",
    tag = "sessions",
    params(AttachmentPath),
    responses(
        (status = 200, description = "the file", content((Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "`no_attachment`"),
    ),
)]
pub(crate) async fn read(
    State(shared): State<Shared>,
    Caller(user): Caller,
    Ids(id, attached): Ids<SessionId, AttachmentId>,
) -> Result<Response, Problem> {
    let attachments = shared.app.attachments();
    let file = attachments.read(user, id, attached).await?;
    let mut headers = attachment(&file.attachment.name, "application/octet-stream");
    // It never changes, but only the viewer's private cache may keep it.
    let caching = header::HeaderValue::from_static("private, max-age=3600, immutable");
    headers.insert(header::CACHE_CONTROL, caching);
    Ok((headers, file.bytes).into_response())
}

/// Removes a file that the caller has uploaded but not sent.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/attachments/{attachment}",
    operation_id = "remove_attachment",
    tag = "sessions",
    params(AttachmentPath),
    responses(
        (status = 204, description = "it is gone"),
        (status = 404, description = "`no_attachment`"),
    ),
)]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    Caller(user): Caller,
    Ids(id, attached): Ids<SessionId, AttachmentId>,
) -> Result<StatusCode, Problem> {
    let attachments = shared.app.attachments();
    attachments.remove(user, id, attached).await?;
    Ok(StatusCode::NO_CONTENT)
}
