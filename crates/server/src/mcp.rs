//! The Model Context Protocol at `/mcp`: checks the caller and hands the request to `deskhand_mcp`.
//!
//! Only tokens are accepted, and requests of other sites are refused. The protocol describes itself, so the path is not
//! in the OpenAPI document.

use std::pin::Pin;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::any,
};
use bytes::Bytes;
use deskhand_app::App;
use deskhand_mcp::{Endpoint, Face, Groups, converse};
use futures::StreamExt;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use tokio_util::sync::CancellationToken;

use crate::{
    Shared,
    caller::{Pass, TokenHolder},
    extract::read_body,
    problem::Problem,
};

/// The protocol of a connection that carries a line per message, which `deskhand mcp` asks for.
const LINES: &str = "mcp-lines";

/// The MCP server of all clients. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Mcp {
    endpoint: Endpoint<Face>,
    face: Face,
}

/// Resolves when the caller is signed out.
type Lost = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Mcp {
    pub(crate) fn new(
        app: &App,
        public_url: &str,
        groups: Groups,
        shutdown: CancellationToken,
    ) -> Self {
        let face = Face::new(app.clone(), public_url, groups);
        Self {
            endpoint: Endpoint::new(face.clone(), shutdown),
            face,
        }
    }
}

/// Adds the path to the routes.
pub(crate) fn mount(router: Router<Shared>, shared: &Shared) -> Router<Shared> {
    router.route_service("/mcp", any(answer).with_state(shared.clone()))
}

async fn answer(
    State(shared): State<Shared>,
    TokenHolder(pass): TokenHolder,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    shared.site.refuse_other_sites(&parts)?;
    if wants_lines(&parts.headers) {
        return lines(shared, pass, parts).await;
    }
    // A stream for messages that belong to no request stays open for long.
    let counted = match parts.method {
        Method::GET => Some(shared.sockets.open(pass.identity.user)?),
        _ => None,
    };
    let body = read_body(body).await?;
    parts.extensions.insert(pass.identity);
    let guest = shared.app.welcome(pass.credential).await?;
    let mut lost: Lost = Box::pin(guest.lost(|| {}));
    let request = Request::from_parts(parts, Full::new(Bytes::from(body)));
    let response = tokio::select! {
        response = shared.mcp.endpoint.answer(request) => response,
        () = &mut lost => return Err(Problem::not_signed_in()),
    };
    let (parts, body) = response.into_parts();
    let pieces = Body::new(body).into_data_stream().take_until(lost);
    let pieces = pieces.inspect(move |_| {
        // The stream counts until it ends.
        let _ = &counted;
    });
    Ok(Response::from_parts(parts, Body::from_stream(pieces)))
}

/// Makes the connection one of lines, and serves the client on it.
async fn lines(shared: Shared, pass: Pass, mut parts: Parts) -> Result<Response, Problem> {
    let counted = shared.sockets.open(pass.identity.user)?;
    let query = parts.uri.query().unwrap_or_default();
    let face = shared.mcp.face.of(pass.identity, query);
    let face = face.map_err(Problem::malformed)?;
    let Some(upgrade) = parts.extensions.remove::<hyper::upgrade::OnUpgrade>() else {
        return Err(Problem::malformed("this connection cannot be upgraded"));
    };
    let guest = shared.app.welcome(pass.credential).await?;
    let end = shared.shutdown.child_token();
    shared.tasks.spawn("mcp client", async move {
        match upgrade.await {
            Ok(upgraded) => {
                let stream = tokio::io::split(TokioIo::new(upgraded));
                tokio::select! {
                    () = converse(face, stream, end) => {}
                    () = guest.lost(|| {}) => {}
                }
            }
            Err(error) => tracing::debug!(%error, "an MCP client left before it began"),
        }
        drop(counted);
    });
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(LINES));
    Ok(response)
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    upgrade.is_some_and(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(LINES.as_bytes()))
}
