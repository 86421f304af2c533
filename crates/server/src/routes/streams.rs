//! Streams of the Discord bot as administrators see them: now, earlier, in figures, and how they are set up.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::streams::{
    ActiveStreamsView, StreamCheckState, StreamCheckView, StreamFiguresView, StreamSetupView,
    StreamView, StreamsView,
};
use deskhand_core::id::UserId;
use deskhand_jamie::{
    ControllerError, ErrorCode, Finding, SetupCheck, StreamRecord, StreamRecords,
    contract::StopRequest,
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};
use uuid::Uuid;

use crate::{
    Shared,
    caller::Administrator,
    extract::{Id, Query, page_size},
    paths::StreamPath,
    problem::Problem,
};

/// The reason that the bot and the log know of an end that an administrator asked for.
const BY_ADMINISTRATOR: &str = "administrator_requested";

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list_streams))
        .routes(routes!(active_streams))
        .routes(routes!(stream_figures))
        .routes(routes!(stream_setup))
        .routes(routes!(stop_stream))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamsQuery {
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    before: Option<Uuid>,
}

/// Lists all streams, newest first. A server that runs no streams lists none.
#[utoipa::path(
    get,
    path = "/streams",
    tag = "server",
    params(StreamsQuery),
    responses(
        (status = 200, description = "a page of streams", body = StreamsView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn list_streams(
    State(shared): State<Shared>,
    Administrator(by): Administrator,
    Query(query): Query<StreamsQuery>,
) -> Result<Json<StreamsView>, Problem> {
    let limit = page_size(query.limit, 50, 200)?;
    let Some(streams) = &shared.settings.streams else {
        return Ok(Json(StreamsView::default()));
    };
    let page = streams.history(query.before, limit).await;
    let page = page.map_err(|error| problem(&error))?;
    Ok(Json(StreamsView {
        streams: views(page.records, by.user),
        next: page.next,
    }))
}

/// Lists the streams that have not ended, oldest first.
#[utoipa::path(
    get,
    path = "/streams/active",
    tag = "server",
    responses(
        (status = 200, description = "the streams", body = ActiveStreamsView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn active_streams(
    State(shared): State<Shared>,
    Administrator(by): Administrator,
) -> Result<Json<ActiveStreamsView>, Problem> {
    let Some(streams) = &shared.settings.streams else {
        return Ok(Json(ActiveStreamsView::default()));
    };
    let active = streams.active().await.map_err(|error| problem(&error))?;
    Ok(Json(ActiveStreamsView {
        streams: views(active, by.user),
    }))
}

/// Shows the figures of all streams so far.
#[utoipa::path(
    get,
    path = "/streams/figures",
    tag = "server",
    responses(
        (status = 200, description = "the figures", body = StreamFiguresView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn stream_figures(
    State(shared): State<Shared>,
    _: Administrator,
) -> Result<Json<StreamFiguresView>, Problem> {
    let Some(streams) = &shared.settings.streams else {
        return Ok(Json(StreamFiguresView::default()));
    };
    let figures = streams.figures().await.map_err(|error| problem(&error))?;
    Ok(Json(StreamFiguresView {
        total_sessions: figures.total_sessions,
        successful_sessions: figures.successful_sessions,
        failed_sessions: figures.failed_sessions,
        total_streaming_seconds: figures.total_streaming_seconds,
        total_cost_usd: figures.total_cost_usd,
        avg_start_time_seconds: figures.avg_start_time_seconds,
    }))
}

/// Shows whether this server runs streams, and checks their settings.
#[utoipa::path(
    get,
    path = "/streams/setup",
    tag = "server",
    responses(
        (status = 200, description = "the checks", body = StreamSetupView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn stream_setup(
    State(shared): State<Shared>,
    _: Administrator,
) -> Json<StreamSetupView> {
    let Some(streams) = &shared.settings.streams else {
        let check = SetupCheck::failed(
            "streams",
            "this server runs no streams",
            "set jamie.token for a bot in this server, or jamie.controller = true for one that runs apart, and restart",
        );
        return Json(StreamSetupView {
            is_on: false,
            checks: vec![check_view(check)],
        });
    };
    let checks = streams.checks().await;
    Json(StreamSetupView {
        is_on: true,
        checks: checks.into_iter().map(check_view).collect(),
    })
}

/// Ends a stream. It has ended when this is answered.
#[utoipa::path(
    post,
    path = "/streams/{id}/stop",
    tag = "server",
    params(StreamPath),
    responses(
        (status = 204, description = "the stream has ended"),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_stream`: there is none, or it has ended before"),
        (status = 409, description = "`no_streams`: this server runs none"),
    ),
)]
pub(crate) async fn stop_stream(
    State(shared): State<Shared>,
    _: Administrator,
    Id(id): Id<Uuid>,
) -> Result<StatusCode, Problem> {
    let streams = running(&shared)?;
    let request = StopRequest {
        reason: BY_ADMINISTRATOR.to_owned(),
    };
    let stopped = streams.stop(id, &request).await;
    stopped.map_err(|error| problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

fn running(shared: &Shared) -> Result<&Arc<dyn StreamRecords>, Problem> {
    let message =
        "this server runs no streams: set jamie.token or jamie.controller, and restart it";
    let streams = shared.settings.streams.as_ref();
    streams.ok_or_else(|| Problem::refuse(StatusCode::CONFLICT, "no_streams", message))
}

/// Returns the API's error for one of the controller, which has logged its cause.
pub(crate) fn problem(error: &ControllerError) -> Problem {
    if error.code == ErrorCode::NotFound {
        let message = "there is no such stream, or it has ended";
        return Problem::refuse(StatusCode::NOT_FOUND, "no_stream", message);
    }
    let message = "an internal error occurred; the server's log has the details";
    Problem::refuse(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}

fn views(records: Vec<StreamRecord>, viewer: Option<UserId>) -> Vec<StreamView> {
    let records = records.into_iter();
    records.map(|record| stream_view(record, viewer)).collect()
}

fn stream_view(record: StreamRecord, viewer: Option<UserId>) -> StreamView {
    let StreamRecord {
        view,
        session,
        owner,
    } = record;
    let summary = view.error_code.map(|code| code.row().summary.to_owned());
    StreamView {
        id: view.session_id,
        state: view.status,
        url: view.url,
        guild_id: view.guild_id.to_string(),
        guild_name: view.guild_name,
        channel_id: view.channel_id.to_string(),
        channel_name: view.channel_name,
        requester_id: view.requester_id.map(|id| id.to_string()),
        session: session.filter(|_| viewer == Some(owner)),
        watch_url: view.watch_url,
        error_code: view.error_code.map(|code| code.name().to_owned()),
        error_message: view.error_message.or(summary),
        created_at: view.created_at,
        started_at: view.started_at,
        ended_at: view.ended_at,
        n_steps: view.agent_iterations,
        cost_usd: view.agent_cost_usd,
        n_watchers: view.viewer_count,
    }
}

fn check_view(check: SetupCheck) -> StreamCheckView {
    StreamCheckView {
        name: check.name.to_owned(),
        state: match check.finding {
            Finding::Ok => StreamCheckState::Ok,
            Finding::Warning => StreamCheckState::Warning,
            Finding::Failed => StreamCheckState::Failed,
        },
        message: check.message,
        remedy: check.remedy,
    }
}
