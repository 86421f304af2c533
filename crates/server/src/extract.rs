//! Extractors that refuse malformed requests with our own errors instead of the framework's.

use std::{str::FromStr, time::Duration};

use axum::{
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{StatusCode, request::Parts},
};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{LONGEST_BODY_BYTES, problem::Problem};

/// The most bytes of a too long body that are read before the connection is closed.
const MOST_BYTES_READ: usize = 16 * LONGEST_BODY_BYTES;

/// The timeout for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A JSON body. An empty one counts as `{}`.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read_body(request.into_body()).await?;
        let json: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let read = serde_json::from_slice(json);
        read.map(Self)
            .map_err(|error| Problem::malformed(format!("the body is not valid: {error}")))
    }
}

/// Reads a body to its end, in the time and up to the length that every body may have.
pub(crate) async fn read_body(body: axum::body::Body) -> Result<Vec<u8>, Problem> {
    let read = timeout(BODY_TIMEOUT, read_whole(body)).await;
    read.map_err(|_late| {
        let seconds = BODY_TIMEOUT.as_secs();
        let message = format!("the body did not arrive within {seconds} s");
        Problem::refuse(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
    })?
}

/// Reads a body to its end.
///
/// A body that is too long is not kept, but still read for a while: a client that is still sending would otherwise
/// see a broken connection instead of our response.
async fn read_whole(body: axum::body::Body) -> Result<Vec<u8>, Problem> {
    let mut pieces = body.into_data_stream();
    let (mut bytes, mut n_bytes) = (Vec::new(), 0);
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_cut| Problem::malformed("the body ended early"))?;
        n_bytes += piece.len();
        if n_bytes <= LONGEST_BODY_BYTES {
            bytes.extend_from_slice(&piece);
        } else if n_bytes > MOST_BYTES_READ {
            break;
        }
    }
    if n_bytes > LONGEST_BODY_BYTES {
        let message = format!("a request body has at most {LONGEST_BODY_BYTES} bytes");
        return Err(Problem::refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            message,
        ));
    }
    Ok(bytes)
}

/// The query string.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query
            .map(|query| Self(query.0))
            .map_err(|rejection| Problem::malformed(rejection.body_text()))
    }
}

/// The id in the path. A malformed id names nothing, so the response is 404.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = Path::<String>::from_request_parts(parts, state).await.ok();
        read_id(&text.map(|Path(text)| text).unwrap_or_default()).map(Self)
    }
}

/// The two ids in the path.
#[derive(Debug)]
pub(crate) struct Ids<A, B>(pub(crate) A, pub(crate) B);

impl<S: Send + Sync, A: FromStr, B: FromStr> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await;
        let (first, second) = texts.ok().map(|Path(texts)| texts).unwrap_or_default();
        Ok(Self(read_id(&first)?, read_id(&second)?))
    }
}

/// The name in the path. Any text is accepted.
#[derive(Debug)]
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = Path::<String>::from_request_parts(parts, state).await.ok();
        Ok(Self(text.map(|Path(text)| text).unwrap_or_default()))
    }
}

pub(crate) fn read_id<T: FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_no_id: T::Err| {
        // The cause would only repeat that the text is not an id.
        let message = format!("there is nothing with the id {text:?}");
        Problem::refuse(StatusCode::NOT_FOUND, "bad_id", message)
    })
}

/// Returns the size of a page: `limit`, or the default. Refuses a limit that is 0 or over `most`.
pub(crate) fn page_size(limit: Option<u32>, default: u32, most: u32) -> Result<u32, Problem> {
    match limit {
        None => Ok(default),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(limit) => Err(Problem::malformed(format!(
            "limit must be from 1 to {most}, not {limit}"
        ))),
    }
}
