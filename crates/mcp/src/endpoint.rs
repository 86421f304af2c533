//! The transports: streamable HTTP, and lines on a stream as `deskhand mcp` carries them.

use std::{convert::Infallible, fmt::Display, sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::user::Identity;
use http::{HeaderMap, Request, Response, StatusCode, header::HeaderName};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use rmcp::{
    ServerHandler,
    service::serve_server_with_ct,
    transport::{
        async_rw::AsyncRwTransport,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService,
            session::{SessionManager, local::LocalSessionManager},
        },
    },
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::owners::Owners;

/// The longest message of a client. It is also the longest body of a request.
const LONGEST_MESSAGE_BYTES: usize = 1024 * 1024;
/// The time after which an idle MCP session ends. Its client opens another one without a person's help.
const IDLE_TIMEOUT: Duration = Duration::from_mins(30);
/// Names the MCP session of a request.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The body of an answer.
pub(crate) type AnswerBody = BoxBody<Bytes, Infallible>;

/// An MCP server over streamable HTTP. The port that hands it requests has checked `Host`, `Origin` and the caller, whose
/// [`Identity`] is in their extensions. Clones share its sessions.
#[derive(Clone)]
pub struct Endpoint<H> {
    service: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    owners: Arc<Owners>,
}

impl<H> std::fmt::Debug for Endpoint<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

impl<H: ServerHandler + Clone + Sync> Endpoint<H> {
    /// Makes an endpoint whose sessions end with `shutdown`.
    pub fn new(handler: H, shutdown: CancellationToken) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE_TIMEOUT);
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(LONGEST_MESSAGE_BYTES)
            .with_cancellation_token(shutdown);
        let make = move || Ok(handler.clone());
        Self {
            service: StreamableHttpService::new(make, Arc::clone(&sessions), config),
            sessions,
            owners: Arc::default(),
        }
    }

    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: http_body_util::BodyExt<Data: Send + 'static, Error: Display> + Send + 'static,
    {
        let user = request
            .extensions()
            .get::<Identity>()
            .map(|identity| identity.user);
        let named = session(request.headers()).map(str::to_owned);
        if named
            .as_deref()
            .is_some_and(|id| self.owners.is_foreign(id, user))
        {
            return not_found();
        }
        let response = self.service.handle(request).await;
        if named.is_none()
            && let Some(id) = session(response.headers())
        {
            self.note_new(id, user).await;
        }
        response
    }

    /// Records the owner of a new session, and closes the oldest sessions of one who has too many.
    async fn note_new(&self, id: &str, user: Option<deskhand_core::id::UserId>) {
        let over = self.owners.add(id, user);
        for id in over {
            let closed = self.sessions.close_session(&Arc::from(id)).await;
            if let Err(error) = closed {
                tracing::debug!(%error, "could not close an MCP session");
            }
        }
        let alive = self.sessions.sessions.read().await;
        self.owners.keep(|id| alive.contains_key(id));
    }
}

/// Serves one client over a stream of lines until it leaves or `end` fires.
pub async fn converse<H, R, W>(handler: H, (read, write): (R, W), end: CancellationToken)
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = AsyncRwTransport::new_server(read, write);
    let transport = transport.with_max_line_length(LONGEST_MESSAGE_BYTES);
    match serve_server_with_ct(handler, transport, end).await {
        // The reason does not matter: the client is gone, or is told by the end of the stream.
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::debug!(%error, "an MCP client left before it began"),
    }
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Answers as if the session did not exist.
fn not_found() -> Response<AnswerBody> {
    let body = Full::new(Bytes::from_static(b"Not Found: Session not found"));
    let mut response = Response::new(body.boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
