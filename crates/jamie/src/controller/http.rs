//! The controller over HTTP, for a bot that runs apart from the server.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::secret::Secret;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, redirect};
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;
use uuid::Uuid;

use super::{Controller, ControllerError};
use crate::{
    contract::{HealthResponse, Refusal, SessionView, StopRequest, StreamRequest, StreamResponse},
    error_code::ErrorCode,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Questions that are asked before a person is answered.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Talks to the API below `/jamie` of a server.
#[derive(Debug, Clone)]
pub struct HttpController {
    http: Client,
    /// The address of the API, with a slash at its end.
    base: Url,
    token: Secret,
}

/// The address or the client's settings are wrong.
#[derive(Debug, thiserror::Error)]
pub enum BadController {
    #[error("{0} is not the address of a server; use one such as https://deskhand.example")]
    Address(String),
    #[error("could not set up the HTTP client")]
    Client(#[from] reqwest::Error),
}

impl HttpController {
    /// Talks to the server at an address, with a token of its API. The process has installed a provider of cryptography
    /// for rustls before.
    pub fn new(server: &str, token: Secret) -> Result<Self, BadController> {
        let bad_address = || BadController::Address(server.to_owned());
        let base = format!("{}/jamie/", server.trim_end_matches('/'));
        let base = Url::parse(&base).ok().ok_or_else(bad_address)?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(bad_address());
        }
        let http = Client::builder()
            // The token is for this address only.
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .build()?;
        Ok(Self { http, base, token })
    }

    /// Begins a request to a path below `/jamie`.
    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        self.http
            .request(method, url)
            .bearer_auth(self.token.expose())
    }

    async fn ask<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, ControllerError> {
        read(send(self.request(Method::GET, path).timeout(QUESTION_TIMEOUT)).await?).await
    }
}

#[async_trait]
impl Controller for HttpController {
    async fn start(&self, request: &StreamRequest) -> Result<StreamResponse, ControllerError> {
        let request = self.request(Method::POST, &["stream"]).json(request);
        read(send(request).await?).await
    }

    async fn stop(&self, session_id: Uuid, request: &StopRequest) -> Result<(), ControllerError> {
        let path = ["stop", &session_id.to_string()];
        send(self.request(Method::POST, &path).json(request)).await?;
        Ok(())
    }

    async fn session(&self, session_id: Uuid) -> Result<SessionView, ControllerError> {
        self.ask(&["session", &session_id.to_string()]).await
    }

    async fn sessions(&self) -> Result<Vec<SessionView>, ControllerError> {
        self.ask(&["sessions"]).await
    }

    async fn ended_lately(&self) -> Result<Vec<SessionView>, ControllerError> {
        self.ask(&["sessions", "ended"]).await
    }

    async fn health(&self) -> Result<HealthResponse, ControllerError> {
        self.ask(&["health"]).await
    }
}

/// Sends a request. A response with an error becomes the controller's refusal.
async fn send(request: RequestBuilder) -> Result<Response, ControllerError> {
    let response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let refusal = body(response)
        .await
        .ok()
        .and_then(|body| serde_json::from_slice::<RefusalBody>(&body).ok());
    Err(match refusal {
        Some(RefusalBody::Plain(refusal) | RefusalBody::Wrapped { detail: refusal }) => {
            ControllerError {
                code: refusal.error,
                message: refusal.message,
            }
        }
        None => ControllerError::new(ErrorCode::Unknown, without_code(status)),
    })
}

/// Describes an answer that is not of the contract.
fn without_code(status: StatusCode) -> String {
    let number = status.as_u16();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => format!(
            "the controller refused the bot's token with status {number}; \
             set DESKHAND_TOKEN to a token of an administrator with the scope write"
        ),
        _ => format!("the controller answered with status {number}"),
    }
}

/// An error in either form in which controllers send it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RefusalBody {
    Plain(Refusal),
    Wrapped { detail: Refusal },
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, ControllerError> {
    let body = body(response).await?;
    // The body may be anybody's, and the error would quote it to people.
    serde_json::from_slice(&body).map_err(|_quotes| {
        let message = "the controller's answer is not understood";
        ControllerError::new(ErrorCode::Unknown, message)
    })
}

/// Reads a body up to its bound.
async fn body(mut response: Response) -> Result<Vec<u8>, ControllerError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            let message = "the controller's answer is too long";
            return Err(ControllerError::new(ErrorCode::Unknown, message));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Turns an error of the connection into a code. The text of the error is left out, as it has the address.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is used as a function by `map_err`"
)]
fn unreachable(error: reqwest::Error) -> ControllerError {
    if error.is_timeout() {
        return ControllerError::new(ErrorCode::Timeout, "the controller did not answer in time");
    }
    ControllerError::new(ErrorCode::Unknown, "the controller cannot be reached")
}
