//! Terminals: opening, listing, renaming and ending them, and the WebSocket to one.

mod relay;

use axum::{
    Json,
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
    response::Response,
};
use deskhand_api::terminals::{OpenTerminalBody, RenameTerminalBody, TerminalView, TerminalsView};
use deskhand_app::{NewTerminal, Terminals};
use deskhand_core::{id::SessionId, terminal::TerminalNumber};
use serde::Deserialize;
use tracing::Instrument;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use self::relay::{LONGEST_MESSAGE_BYTES, relay};
use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id, Ids, Query},
    paths::{SessionPath, TerminalPath},
    problem::Problem,
    sockets,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, open))
        .routes(routes!(rename, kill, attach))
}

/// The size of the read buffer. It is small because people type little at a time.
const READ_BYTES: usize = 4 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttachQuery {
    /// Watch without typing. Everything that you send is ignored.
    #[serde(default)]
    watch: bool,
}

/// Lists the terminals of a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/terminals",
    operation_id = "list_terminals",
    tag = "computer",
    params(SessionPath),
    responses(
        (status = 200, description = "the terminals", body = TerminalsView),
        (status = 503, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn list(
    State(terminals): State<Terminals>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<TerminalsView>, Problem> {
    let terminals = terminals.list(user, id).await?;
    let terminals = terminals.into_iter().map(TerminalView::from).collect();
    Ok(Json(TerminalsView { terminals }))
}

/// Opens a terminal with a shell, in a sandbox that is started if necessary.
///
/// It runs until its shell ends, somebody ends it, or the sandbox ends. Everybody in the session can watch it.
#[utoipa::path(
    post,
    path = "/sessions/{id}/terminals",
    operation_id = "open_terminal",
    tag = "computer",
    params(SessionPath),
    request_body = OpenTerminalBody,
    responses(
        (status = 201, description = "the terminal", body = TerminalView),
        (status = 400, description = "`bad_terminal`"),
        (status = 409, description = "`somebody_else_drives`, `control_changed`, `session_ended`, `no_sandbox`"),
        (status = 429, description = "`too_many_terminals`, `too_many_awake`"),
        (status = 503, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn open(
    State(terminals): State<Terminals>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<OpenTerminalBody>,
) -> Result<(StatusCode, Json<TerminalView>), Problem> {
    let wanted = NewTerminal {
        name: body.name,
        size: body.size,
        command: body.command,
    };
    let terminal = terminals.open(user, id, wanted).await?;
    Ok((StatusCode::CREATED, Json(terminal.into())))
}

/// Gives a terminal another name.
#[utoipa::path(
    patch,
    path = "/sessions/{id}/terminals/{n}",
    operation_id = "rename_terminal",
    tag = "computer",
    params(TerminalPath),
    request_body = RenameTerminalBody,
    responses(
        (status = 200, description = "the terminal", body = TerminalView),
        (status = 400, description = "`bad_terminal`"),
        (status = 404, description = "`no_terminal`"),
        (status = 409, description = "`somebody_else_drives`, `control_changed`, `no_sandbox`"),
        (status = 503, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn rename(
    State(terminals): State<Terminals>,
    Caller(user): Caller,
    Ids(id, number): Ids<SessionId, TerminalNumber>,
    Body(body): Body<RenameTerminalBody>,
) -> Result<Json<TerminalView>, Problem> {
    let terminal = terminals.rename(user, id, number, &body.name).await?;
    Ok(Json(terminal.into()))
}

/// Ends a terminal with everything that runs in it, and removes it.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/terminals/{n}",
    operation_id = "end_terminal",
    tag = "computer",
    params(TerminalPath),
    responses(
        (status = 204, description = "it is gone"),
        (status = 400, description = "`bad_terminal`"),
        (status = 404, description = "`no_terminal`"),
        (status = 409, description = "`somebody_else_drives`, `control_changed`, `no_sandbox`"),
        (status = 503, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn kill(
    State(terminals): State<Terminals>,
    Caller(user): Caller,
    Ids(id, number): Ids<SessionId, TerminalNumber>,
) -> Result<StatusCode, Problem> {
    terminals.kill(user, id, number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Watches a terminal over a WebSocket, and types into it.
///
/// Binary messages are the terminal's output, and input to it. Text messages are `TerminalMessage`s and
/// `TerminalRequest`s. It begins with the terminal's state and a replay of the last output, at most 1 MiB. A client
/// that reads too slowly misses output and gets a message about it. The server closes the connection with 1000 when the
/// terminal is removed or the sandbox has ended, with 1008 when your right in the session has changed, and with 1001
/// when it shuts down. A message of a client has at most 64 KiB.
#[utoipa::path(
    get,
    path = "/sessions/{id}/terminals/{n}",
    operation_id = "attach_terminal",
    tag = "computer",
    params(TerminalPath, AttachQuery),
    responses(
        (status = 101, description = "the WebSocket is open"),
        (status = 400, description = "`malformed`"),
        (status = 404, description = "`no_terminal`"),
        (status = 409, description = "`no_sandbox`"),
        (status = 429, description = "`too_many_sockets`"),
        (status = 503, description = "`no_sandbox`"),
    ),
)]
pub(crate) async fn attach(
    State(shared): State<Shared>,
    pass: Pass,
    Ids(id, number): Ids<SessionId, TerminalNumber>,
    Query(query): Query<AttachQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::malformed(rejection.body_text()))?;
    let user = pass.identity.user;
    let counted = shared.sockets.open(user)?;
    let admission = shared.app.admit(pass.credential, id).await?;
    let may_type = admission.may_drive() && !query.watch;
    let terminals = shared.app.terminals();
    let stream = terminals.attach(user, id, number, may_type).await?;
    // A person who has control keeps it while a terminal of theirs is connected.
    let connection = shared.app.control().connect(user, id);
    let upgrade = sockets::bounded(upgrade.read_buffer_size(READ_BYTES), LONGEST_MESSAGE_BYTES);
    let span = tracing::Span::current();
    Ok(upgrade.on_upgrade(move |socket| async move {
        let relay = relay(socket, stream, admission, shared.shutdown.clone());
        relay.instrument(span).await;
        drop((counted, connection));
    }))
}
