//! The API of streams below `/jamie`: checks the caller and hands the request to the controller.
//!
//! It is the contract of the Discord bot, with errors in the bot's own shape, so it is described in `docs/guide/jamie.md`
//! and not in the OpenAPI document. Only tokens of administrators are accepted.

mod receiver;

use std::time::Instant;

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
    routing::any,
};
use deskhand_core::user::Scope;
use deskhand_jamie::{
    Controller, ControllerError, ErrorCode,
    contract::{InvalidRequest, Refusal, StopRequest, StreamRequest},
};
use uuid::Uuid;

pub use self::receiver::{StatusReceiver, serve_status};
use crate::{Shared, caller::TokenHolder, extract::read_body, problem::Problem};

/// The answer of a server without streams.
const RUNS_NONE: &str = "this server runs no streams: set jamie.token, or jamie.controller = true for a bot that runs apart";

/// Adds the paths to the routes.
pub(crate) fn mount(router: Router<Shared>, shared: &Shared) -> Router<Shared> {
    router.route_service("/jamie/{*path}", any(answer).with_state(shared.clone()))
}

async fn answer(
    State(shared): State<Shared>,
    TokenHolder(pass): TokenHolder,
    request: Request,
) -> Result<Response, Problem> {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    shared.site.refuse_other_sites(&parts)?;
    pass.require_administrator()?;
    if parts.method != Method::GET {
        pass.require(Scope::Write)?;
    }
    let path = parts.uri.path();
    let route = StreamRoute::find(&parts.method, path)?;
    let response = match &shared.settings.streams {
        Some(controller) => route.answer(&**controller, body).await?,
        None => refusal(&ControllerError::new(ErrorCode::NoBotToken, RUNS_NONE)),
    };
    tracing::info!(
        event = "http.request",
        method = %parts.method,
        path,
        status_code = response.status().as_u16(),
        duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "a request about streams was answered"
    );
    Ok(response)
}

/// An operation of the contract.
#[derive(Debug, PartialEq, Eq)]
enum StreamRoute {
    Start,
    Stop(Uuid),
    One(Uuid),
    All,
    EndedLately,
    Health,
}

impl StreamRoute {
    fn find(method: &Method, path: &str) -> Result<Self, Problem> {
        let segments: Vec<&str> = path.split('/').skip(2).collect();
        let (route, needed) = match segments[..] {
            ["stream"] => (Self::Start, Method::POST),
            ["stop", id] => (Self::Stop(crate::extract::read_id(id)?), Method::POST),
            ["session", id] => (Self::One(crate::extract::read_id(id)?), Method::GET),
            ["sessions"] => (Self::All, Method::GET),
            ["sessions", "ended"] => (Self::EndedLately, Method::GET),
            ["health"] => (Self::Health, Method::GET),
            _ => return Err(Problem::no_route()),
        };
        if *method == needed {
            Ok(route)
        } else {
            Err(Problem::wrong_method())
        }
    }

    async fn answer(self, controller: &dyn Controller, body: Body) -> Result<Response, Problem> {
        let answered = match self {
            Self::Start => {
                let body = read_body(body).await?;
                match StreamRequest::from_json(&body) {
                    Ok(request) => controller.start(&request).await.map(json),
                    Err(invalid) => Err(bad_request(&invalid)?),
                }
            }
            Self::Stop(id) => {
                let request = stop_request(&read_body(body).await?)?;
                let stopped = controller.stop(id, &request).await;
                stopped.map(|()| StatusCode::NO_CONTENT.into_response())
            }
            Self::One(id) => controller.session(id).await.map(json),
            Self::All => controller.sessions().await.map(json),
            Self::EndedLately => controller.ended_lately().await.map(json),
            Self::Health => controller.health().await.map(json),
        };
        Ok(answered.unwrap_or_else(|error| refusal(&error)))
    }
}

fn json<T: serde::Serialize>(view: T) -> Response {
    Json(view).into_response()
}

/// Reads the reason of an end. An empty body has the usual one.
fn stop_request(body: &[u8]) -> Result<StopRequest, Problem> {
    if body.is_empty() {
        return Ok(StopRequest::default());
    }
    let read = serde_json::from_slice(body);
    read.map_err(|error| Problem::malformed(format!("the body is not valid: {error}")))
}

/// Returns the contract's error, or a problem for a request that the contract has no code for.
fn bad_request(invalid: &InvalidRequest) -> Result<ControllerError, Problem> {
    match invalid.code() {
        Some(code) => Ok(ControllerError::new(code, invalid.to_string())),
        None => Err(Problem::malformed(invalid)),
    }
}

/// Writes an error of the contract.
fn refusal(error: &ControllerError) -> Response {
    let row = error.code.row();
    let status = StatusCode::from_u16(row.http_status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let message = error.message.as_deref().unwrap_or(row.summary);
    let refusal = Refusal {
        error: error.code,
        message: Some(message.to_owned()),
    };
    (status, Json(refusal)).into_response()
}
