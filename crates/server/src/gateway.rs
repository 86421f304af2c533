//! The API for programs in sandboxes: the paths of models, and nothing else of this server.
//!
//! It cannot be reached over the network. Each connection arrives through the link of one sandbox, and accepts only
//! that sandbox's token.

mod door;

use std::time::Duration;

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, Response, StatusCode, header},
};
use bytes::{Bytes, BytesMut};
use deskhand_app::Gateway;
use deskhand_core::{
    gateway::{
        GatewayAnswer, GatewayConnection, GatewayRefusal, GatewayRefusalKind, GatewayRequest,
        Passing,
    },
    secret::Secret,
};
use futures::{StreamExt, future};
use subtle::ConstantTimeEq;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use self::door::Peer;

/// The longest request. It is also the longest that vendors accept.
const LONGEST_BODY_BYTES: usize = 32 * 1024 * 1024;
/// The timeout for receiving the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Serves connections until `shutdown` fires.
pub async fn serve_gateway(
    connections: mpsc::Receiver<GatewayConnection>,
    gateway: Gateway,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    // The vendors define the paths, so every path goes to one handler.
    let router = Router::new().fallback(answer).with_state(gateway);
    door::serve(connections, router, shutdown).await;
    Ok(())
}

async fn answer(
    State(gateway): State<Gateway>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let answered = pass(&gateway, &peer, request).await;
    let answer = answered.unwrap_or_else(|refusal| {
        tracing::debug!(session.id = %peer.session, problem = %refusal, "the model gateway refused a request");
        gateway.refuse(&path, &refusal)
    });
    written(answer)
}

/// Passes a request on to its vendor.
///
/// Checks the token, the path and the permission before it reads the body.
async fn pass(
    gateway: &Gateway,
    peer: &Peer,
    request: Request,
) -> Result<GatewayAnswer, GatewayRefusal> {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    if !shows(&peer.token, &parts.headers, query) {
        let problem = "this key does not belong to this sandbox: use the one in the environment";
        return Err(GatewayRefusal::new(GatewayRefusalKind::Token, problem));
    }
    let path = parts.uri.path();
    if !gateway.serves(parts.method.as_str(), path) {
        let problem = format!("the model gateway has no {} {path}", parts.method);
        return Err(GatewayRefusal::new(GatewayRefusalKind::Path, problem));
    }
    let mut admitted = gateway.admit(peer.session).await?;
    let length = body.size_hint().exact();
    let length = length.and_then(|length| usize::try_from(length).ok());
    let reserve = |n_bytes: usize| admitted.reserve(n_bytes);
    let read = timeout(BODY_TIMEOUT, whole(body, length, reserve)).await;
    let body = read.unwrap_or_else(|_late| {
        let problem = format!(
            "the request did not arrive within {} s",
            BODY_TIMEOUT.as_secs()
        );
        Err(GatewayRefusal::new(GatewayRefusalKind::Request, problem))
    })?;
    let text = |value: &axum::http::HeaderValue| value.to_str().ok().map(str::to_owned);
    let headers = parts.headers.iter();
    let request = GatewayRequest {
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
            .collect(),
        body,
    };
    gateway.ask(admitted, request).await
}

/// Returns true if a request carries the token, in any of the places where vendors' programs put their key.
fn shows(token: &Secret, headers: &HeaderMap, query: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
    });
    let in_query = query.split('&').find_map(|pair| pair.strip_prefix("key="));
    let shown = [text("x-api-key"), text("x-goog-api-key"), bearer, in_query];
    let is_it = |key: &str| bool::from(key.as_bytes().ct_eq(token.expose().as_bytes()));
    shown.into_iter().flatten().any(is_it)
}

/// Reads the body. Memory is reserved before it is used.
///
/// Reads a body that is refused to its end, without keeping it: a program that is still writing would not see the
/// refusal.
async fn whole(
    body: Body,
    length: Option<usize>,
    mut reserve: impl FnMut(usize) -> Result<(), GatewayRefusal>,
) -> Result<Bytes, GatewayRefusal> {
    let mut whole = room(BytesMut::new(), length.unwrap_or(0), &mut reserve);
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            GatewayRefusal::new(
                GatewayRefusalKind::Request,
                format!("the request ended early: {error}"),
            )
        })?;
        whole = whole.and_then(|whole| {
            let n_bytes = whole.len().saturating_add(piece.len());
            let mut whole = room(whole, n_bytes, &mut reserve)?;
            whole.extend_from_slice(&piece);
            Ok(whole)
        });
    }
    whole.map(BytesMut::freeze)
}

/// Makes room for a body of `n_bytes`.
fn room(
    mut body: BytesMut,
    n_bytes: usize,
    reserve: &mut impl FnMut(usize) -> Result<(), GatewayRefusal>,
) -> Result<BytesMut, GatewayRefusal> {
    if n_bytes > LONGEST_BODY_BYTES {
        let mib = LONGEST_BODY_BYTES / (1024 * 1024);
        let problem = format!("a request has at most {mib} MiB");
        return Err(GatewayRefusal::new(GatewayRefusalKind::TooLarge, problem));
    }
    if n_bytes > body.capacity() {
        // A body of unknown length doubles, so that it is not copied for each piece.
        let capacity = n_bytes.max(body.capacity() * 2).min(LONGEST_BODY_BYTES);
        reserve(capacity)?;
        body.reserve(capacity - body.len());
    }
    Ok(body)
}

fn written(answer: GatewayAnswer) -> Response<Body> {
    let bytes = answer.body.filter_map(|passing| {
        future::ready(match passing {
            Ok(Passing::Bytes(bytes)) => Some(Ok(bytes)),
            Ok(Passing::Usage(_)) => None,
            Err(error) => Some(Err(error)),
        })
    });
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = answer.headers.iter();
    let response = headers.fold(
        Response::builder().status(status),
        |response, (name, value)| response.header(name, value),
    );
    let body = Body::from_stream(bytes);
    response.body(body).unwrap_or_else(|error| {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "could not pass on the answer of a vendor"
        );
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}
