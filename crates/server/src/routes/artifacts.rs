//! Files that the agent has shared with people.

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use deskhand_core::id::SessionId;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::files::headers::attachment;
use crate::{Shared, caller::Caller, extract::Ids, paths::ArtifactPath, problem::Problem};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(read))
}

/// Reads a file that the agent has shared.
///
/// It is kept as long as the session, even after the sandbox has ended. Browsers save it and never show it.
#[utoipa::path(
    get,
    path = "/sessions/{id}/artifacts/{seq}",
    operation_id = "read_artifact",
    tag = "sessions",
    params(ArtifactPath),
    responses(
        (status = 200, description = "the file", content((Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "`no_artifact`"),
    ),
)]
pub(crate) async fn read(
    State(shared): State<Shared>,
    caller: Caller,
    Ids(id, seq): Ids<SessionId, u64>,
) -> Result<Response, Problem> {
    let files = shared.app.files();
    let shared_file = files.artifact(caller.viewer(), id, seq).await?;
    let mut headers = attachment(&shared_file.artifact.name, "application/octet-stream");
    // The file of an event never changes, but only the viewer's private cache may keep it.
    let caching = header::HeaderValue::from_static("private, max-age=3600, immutable");
    headers.insert(header::CACHE_CONTROL, caching);
    Ok((headers, shared_file.bytes).into_response())
}
