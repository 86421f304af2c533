//! The Discord Activity: people in a voice channel get the watch link of its stream.

use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
};
use deskhand_api::activity::{ActivityView, EnterActivityBody, EnteredActivityView};
use deskhand_core::stream::StreamState;
use deskhand_jamie::{ActivityDoor, NotLetIn};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, extract::Body, problem::Problem, routes::streams};

/// The longest code. Those of Discord have 30 characters.
const LONGEST_CODE: usize = 200;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(show_activity, enter_activity))
}

/// Somebody who may try, because there were not too many tries.
pub(crate) struct ActivityVisitor;

impl FromRequestParts<Shared> for ActivityVisitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        shared.rates.count_watcher(parts)?;
        Ok(Self)
    }
}

/// Shows the Activity of this server, if it has one.
#[utoipa::path(
    get,
    path = "/activity",
    tag = "watching",
    security(()),
    responses(
        (status = 200, description = "the Activity", body = ActivityView),
        (status = 409, description = "`no_activity`"),
        (status = 429, description = "`too_fast`"),
    ),
)]
pub(crate) async fn show_activity(
    State(shared): State<Shared>,
    _: ActivityVisitor,
) -> Result<Json<ActivityView>, Problem> {
    let door = door(&shared)?;
    Ok(Json(ActivityView {
        client_id: door.client_id().to_owned(),
        hosts: door.hosts(),
    }))
}

/// Lets somebody watch the stream of the voice channel that they are in. Discord says who they are, and where.
#[utoipa::path(
    post,
    path = "/activity",
    tag = "watching",
    security(()),
    request_body = EnterActivityBody,
    responses(
        (status = 200, description = "the watch link", body = EnteredActivityView),
        (status = 400, description = "`malformed`"),
        (status = 403, description = "`not_let_in`"),
        (status = 404, description = "`no_stream`: nothing is streamed to their voice channel"),
        (status = 408, description = "`too_slow`"),
        (status = 409, description = "`no_activity`"),
        (status = 413, description = "`too_large`"),
        (status = 429, description = "`too_fast`"),
        (status = 500, description = "`internal`"),
        (status = 503, description = "`discord_failed`"),
    ),
)]
pub(crate) async fn enter_activity(
    State(shared): State<Shared>,
    _: ActivityVisitor,
    Body(body): Body<EnterActivityBody>,
) -> Result<Json<EnteredActivityView>, Problem> {
    let door = door(&shared)?;
    if !(1..=LONGEST_CODE).contains(&body.code.expose().len()) {
        return Err(Problem::malformed(format!(
            "code has 1 to {LONGEST_CODE} bytes"
        )));
    }
    let guild = body.guild_id.parse();
    let guild = guild.map_err(|_no_id| Problem::malformed("guild_id is not an id of Discord"))?;
    let channel = door.voice_channel(&body.code, guild).await;
    let channel = channel.map_err(|refused| not_let_in(&refused))?;
    let active = match &shared.settings.streams {
        Some(streams) => streams.sessions().await,
        None => Ok(Vec::new()),
    };
    let active = active.map_err(|error| streams::problem(&error))?;
    let is_here = |channel_id, state| channel_id == channel && state == StreamState::Streaming;
    let stream = active
        .into_iter()
        .find(|stream| is_here(stream.channel_id, stream.status));
    let url = stream.and_then(|stream| stream.watch_url);
    let token = url.as_deref().and_then(|url| url.split_once("/watch/"));
    let (_, token) = token.ok_or_else(|| {
        let message = "nothing is streamed to your voice channel; send the bot a link";
        Problem::refuse(StatusCode::NOT_FOUND, "no_stream", message)
    })?;
    Ok(Json(EnteredActivityView {
        token: token.to_owned(),
    }))
}

fn door(shared: &Shared) -> Result<&ActivityDoor, Problem> {
    let message = "this server has no Discord Activity; jamie.activity turns it on";
    let door = shared.settings.activity.as_deref();
    door.ok_or_else(|| Problem::refuse(StatusCode::CONFLICT, "no_activity", message))
}

fn not_let_in(refused: &NotLetIn) -> Problem {
    match refused {
        NotLetIn::BadCode | NotLetIn::NotInVoice => {
            Problem::refuse(StatusCode::FORBIDDEN, "not_let_in", refused)
        }
        NotLetIn::Discord => {
            Problem::refuse(StatusCode::SERVICE_UNAVAILABLE, "discord_failed", refused)
        }
    }
}
