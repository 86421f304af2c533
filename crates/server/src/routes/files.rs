//! The files of a session's computer.
//!
//! A path is absolute in the sandbox: `/files/tmp/a.txt` is `/tmp/a.txt`, and `~` as its first part is the home folder.

pub(crate) mod conditions;
pub(crate) mod headers;
pub(crate) mod streams;

use std::pin::pin;

use axum::{
    Json,
    extract::{FromRequestParts, Path, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use deskhand_api::files::{FileActionBody, FileView, FolderView};
use deskhand_app::{FileError, FileUser, WriteFile};
use deskhand_core::{
    file::{ArchiveFormat, FilePath, FileProblemKind, LONGEST_LISTING},
    id::SessionId,
    user::Scope,
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Pass,
    extract::{Body, Id, Query, page_size, read_id},
    paths::{FileInSessionPath, SessionPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list_home))
        .routes(routes!(read, write, remove, act))
}

/// The default number of entries on a page of a folder.
const DEFAULT_LISTING: u32 = 200;

/// A session, and a path in its sandbox.
#[derive(Debug)]
pub(crate) struct FileIn(SessionId, FilePath);

impl<S: Send + Sync> FromRequestParts<S> for FileIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((session, path)) =
            texts.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
        Ok(Self(read_id(&session)?, read_path(&path)?))
    }
}

/// Parses the end of a request's path: `~/a.txt`, `tmp/a.txt`, or `/` for the root folder.
fn read_path(text: &str) -> Result<FilePath, Problem> {
    let is_home = text == "~" || text.starts_with("~/");
    // The end is never empty, so the root folder is written as an encoded slash.
    let path = if is_home || text == "/" {
        text.parse()
    } else {
        format!("/{text}").parse()
    };
    path.map_err(Problem::malformed)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderQuery {
    /// The number of entries of a folder.
    #[param(minimum = 1, maximum = 1000, default = 200)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    after: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadQuery {
    /// The number of entries of a folder.
    #[param(minimum = 1, maximum = 1000, default = 200)]
    limit: Option<u32>,
    /// The `next` of the previous page of a folder.
    after: Option<String>,
    /// `tar.gz` for a folder as an archive.
    #[param(value_type = Option<String>, pattern = "^tar\\.gz$")]
    archive: Option<ArchiveFormat>,
    /// True for the facts about a file or folder, as JSON.
    #[serde(default)]
    info: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteQuery {
    /// True to let the file be run as a program.
    #[serde(default)]
    executable: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoveQuery {
    /// True to remove a folder with everything in it.
    #[serde(default)]
    recursive: bool,
}

/// Lists the home folder.
#[utoipa::path(
    get,
    path = "/sessions/{id}/files",
    operation_id = "list_home",
    tag = "computer",
    params(SessionPath, FolderQuery),
    responses(
        (status = 200, description = "a page of the home folder", body = FolderView),
        (status = 409, description = "`no_sandbox`, `session_ended`, `somebody_else_drives`"),
        (status = 413, description = "`file_too_large`: the folder has too many entries"),
        (status = 429, description = "`too_many_awake`"),
        (status = 503, description = "`no_sandbox`, `file_failed`"),
    ),
)]
pub(crate) async fn list_home(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Query(query): Query<FolderQuery>,
) -> Result<Json<FolderView>, Problem> {
    let limit = page_size(query.limit, DEFAULT_LISTING, LONGEST_LISTING)?;
    let files = shared.app.files();
    let listing = files.list(user(&pass), id, FilePath::home(), query.after, limit);
    Ok(Json(listing.await?.into()))
}

/// Reads a file, or lists a folder.
///
/// A file is sent as an attachment, with its `ETag` and `Last-Modified`; `Range`, `If-Range` and `If-None-Match` are
/// honoured. A folder is sent as JSON, or with `archive` as one file; with `limit` or `after`, only a folder is meant. A
/// sleeping session is woken for those who may send messages.
#[utoipa::path(
    get,
    path = "/sessions/{id}/files/{*path}",
    operation_id = "read_file",
    tag = "computer",
    params(FileInSessionPath, ReadQuery),
    responses(
        (status = 200, description = "the file, or a page of the folder", content(
            (FolderView = "application/json"), (Vec<u8> = "application/octet-stream"), (Vec<u8> = "application/gzip")
        )),
        (status = 206, description = "a part of the file", content((Vec<u8> = "application/octet-stream"))),
        (status = 304, description = "the file is in the version that `If-None-Match` names"),
        (status = 403, description = "`file_denied`"),
        (status = 404, description = "`no_file`"),
        (status = 409, description = "`no_sandbox`, `session_ended`, `somebody_else_drives`, `not_a_file`, `not_a_folder`"),
        (status = 413, description = "`file_too_large`"),
        (status = 416, description = "`bad_range`"),
        (status = 429, description = "`too_many_awake`, `too_many_transfers`"),
        (status = 503, description = "`no_sandbox`, `file_failed`"),
    ),
)]
pub(crate) async fn read(
    State(shared): State<Shared>,
    pass: Pass,
    FileIn(id, path): FileIn,
    Query(query): Query<ReadQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (user, files) = (user(&pass), shared.app.files());
    if query.info {
        let stat = files.stat(user, id, path).await?;
        return Ok(Json(FileView::from(stat)).into_response());
    }
    if let Some(format) = query.archive {
        let archive = files.archive(user, id, path, format).await?;
        let admission = shared.app.admit(pass.credential, id).await?;
        let name = format!("{}.tar.gz", archive.stat.name());
        let body = streams::download(archive, admission);
        return Ok(headers::archive(&name, body));
    }
    // Only a folder has pages, and listing it is not a transfer.
    if query.limit.is_some() || query.after.is_some() {
        let limit = page_size(query.limit, DEFAULT_LISTING, LONGEST_LISTING)?;
        let listing = files.list(user, id, path, query.after, limit).await?;
        return Ok(Json(FolderView::from(listing)).into_response());
    }
    let (range, range_of) = conditions::range(&headers);
    match files.read(user, id, path.clone(), range, range_of).await {
        Ok(file) if conditions::is_known(&headers, &file.stat.version) => {
            Ok(headers::not_modified(&file.stat))
        }
        Ok(file) => {
            let admission = shared.app.admit(pass.credential, id).await?;
            Ok(headers::file(file, admission))
        }
        Err(FileError::Problem(problem)) if problem.kind == FileProblemKind::Folder => {
            let listing = files.list(user, id, path, None, DEFAULT_LISTING).await?;
            Ok(Json(FolderView::from(listing)).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes a file, and creates missing parent folders.
///
/// It appears under its name when all bytes have arrived. `If-Match` with an `ETag` only replaces that version, and
/// `If-None-Match: *` only writes a new file.
#[utoipa::path(
    put,
    path = "/sessions/{id}/files/{*path}",
    operation_id = "write_file",
    tag = "computer",
    params(FileInSessionPath, WriteQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "the file was replaced", body = FileView),
        (status = 201, description = "the file is new", body = FileView),
        (status = 400, description = "`incomplete_body`"),
        (status = 403, description = "`file_denied`"),
        (status = 404, description = "`no_file`"),
        (status = 409, description = "`no_sandbox`, `session_ended`, `somebody_else_drives`, `not_a_file`, `not_a_folder`, `file_exists`"),
        (status = 412, description = "`file_changed`"),
        (status = 413, description = "`file_too_large`"),
        (status = 429, description = "`too_many_awake`, `too_many_transfers`"),
        (status = 503, description = "`no_sandbox`, `storage_full`, `file_failed`"),
    ),
)]
pub(crate) async fn write(
    State(shared): State<Shared>,
    pass: Pass,
    FileIn(id, path): FileIn,
    Query(query): Query<WriteQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let user = user(&pass);
    let file = WriteFile {
        path,
        length: conditions::length(request.headers()),
        condition: conditions::write(request.headers())?,
        is_executable: query.executable,
    };
    let admission = shared.app.admit(pass.credential, id).await?;
    let mut body = pin!(streams::upload(request.into_body(), admission));
    let written = shared.app.files().write(user, id, file, body.as_mut());
    let (stat, is_new) = match written.await {
        Ok(written) => written,
        Err(error) => {
            streams::drain(body).await;
            return Err(error.into());
        }
    };
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let tag = [(header::ETAG, headers::tag(&stat.version))];
    Ok((status, tag, Json(FileView::from(stat))).into_response())
}

/// Removes a file or a folder.
///
/// `If-Match` with an `ETag` removes a file only in that version.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/files/{*path}",
    operation_id = "remove_file",
    tag = "computer",
    params(FileInSessionPath, RemoveQuery),
    responses(
        (status = 204, description = "it is gone"),
        (status = 403, description = "`file_denied`"),
        (status = 404, description = "`no_file`"),
        (status = 409, description = "`no_sandbox`, `session_ended`, `somebody_else_drives`, `folder_not_empty`, `not_a_folder`"),
        (status = 412, description = "`file_changed`"),
        (status = 429, description = "`too_many_awake`"),
        (status = 503, description = "`no_sandbox`, `file_failed`"),
    ),
)]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    pass: Pass,
    FileIn(id, path): FileIn,
    Query(query): Query<RemoveQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let version = conditions::matched(&headers)?;
    let files = shared.app.files();
    files
        .remove(user(&pass), id, path, query.recursive, version)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a folder, or moves something.
#[utoipa::path(
    post,
    path = "/sessions/{id}/files/{*path}",
    operation_id = "change_file",
    tag = "computer",
    params(FileInSessionPath),
    request_body = FileActionBody,
    responses(
        (status = 200, description = "the folder, or the thing at its new path", body = FileView),
        (status = 403, description = "`file_denied`"),
        (status = 404, description = "`no_file`"),
        (status = 409, description = "`no_sandbox`, `session_ended`, `somebody_else_drives`, `file_exists`, `not_a_folder`, `folder_not_empty`"),
        (status = 429, description = "`too_many_awake`"),
        (status = 503, description = "`no_sandbox`, `storage_full`, `file_failed`"),
    ),
)]
pub(crate) async fn act(
    State(shared): State<Shared>,
    pass: Pass,
    FileIn(id, path): FileIn,
    Body(body): Body<FileActionBody>,
) -> Result<Json<FileView>, Problem> {
    let (user, files) = (user(&pass), shared.app.files());
    let stat = match body {
        FileActionBody::MakeFolder => files.make_folder(user, id, path).await?,
        FileActionBody::Move { to } => {
            let to = to.parse::<FilePath>().map_err(Problem::malformed)?;
            files.move_to(user, id, path, to).await?
        }
    };
    Ok(Json(stat.into()))
}

/// Returns the person behind a request. Waking a session needs a token that allows more than reading.
fn user(pass: &Pass) -> FileUser {
    FileUser {
        user: pass.identity.user,
        may_wake: pass.identity.scope >= Scope::Write,
    }
}
