//! Requests to an MCP server over HTTP, each on a connection of its own. Redirects are not followed.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use deskhand_core::{
    tasks::Tasks,
    tool_server::{HttpWay, ToolServerError},
};
use futures::{StreamExt, stream::BoxStream};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT},
};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Body, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use rustls::RootCertStore;
use sse_stream::{Sse, SseStream};

use crate::{
    LONGEST_MESSAGE_BYTES,
    problem::{Problem, shortened},
    streams::split,
    tls::HostTls,
};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The longest name of a session of the protocol.
const LONGEST_SESSION: usize = 1024;
/// The most of the body of an error that is read.
const LONGEST_ERROR_BYTES: usize = 4096;

type HttpResult<T> = Result<T, StreamableHttpError<ToolServerError>>;

/// The host of an MCP server. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct HttpHost(Arc<HttpHostParts>);

#[derive(Debug)]
struct HttpHostParts {
    way: HttpWay,
    headers: HeaderMap,
    tls: Option<HostTls>,
    tasks: Tasks,
    problem: Problem,
}

impl HttpHost {
    pub(crate) fn new(
        way: HttpWay,
        roots: &RootCertStore,
        tasks: Tasks,
    ) -> Result<Self, ToolServerError> {
        let tls = HostTls::new(&way, roots)?;
        let headers = headers(&way)?;
        Ok(Self(Arc::new(HttpHostParts {
            way,
            headers,
            tls,
            tasks,
            problem: Problem::default(),
        })))
    }

    /// Returns the path of the server, with the query.
    pub(crate) fn path(&self) -> &str {
        &self.0.way.address.path
    }

    pub(crate) fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Remembers a problem, which the library's own error would hide.
    fn fail(&self, problem: ToolServerError) -> StreamableHttpError<ToolServerError> {
        self.0.problem.set(problem.clone());
        StreamableHttpError::Client(problem)
    }

    fn request(
        &self,
        method: Method,
        body: Vec<u8>,
        session: Option<&str>,
        others: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Request<Full<Bytes>>, ToolServerError> {
        let unusable = |error: http::Error| ToolServerError::Unreachable(error.to_string());
        let mut request = Request::builder()
            .method(method)
            .uri(self.path())
            .body(Full::new(Bytes::from(body)))
            .map_err(unusable)?;
        let headers = request.headers_mut();
        headers.extend(others);
        headers.extend(self.0.headers.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        if let Some(session) = session {
            let value = HeaderValue::from_str(session).map_err(|error| unusable(error.into()))?;
            headers.insert(SESSION, value);
        }
        Ok(request)
    }

    /// Sends a request on a new connection.
    async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ToolServerError> {
        let stream = self.0.way.connector.connect().await?;
        let (reader, writer) = split(stream);
        let plain = tokio::io::join(reader, writer);
        match &self.0.tls {
            None => self.exchange(TokioIo::new(plain), request).await,
            Some(tls) => {
                let encrypted = tls.connector.connect(tls.name.clone(), plain).await;
                let encrypted = encrypted.map_err(|error| {
                    ToolServerError::Unreachable(format!("TLS failed: {error}"))
                })?;
                self.exchange(TokioIo::new(encrypted), request).await
            }
        }
    }

    async fn exchange<C>(
        &self,
        connection: C,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ToolServerError>
    where
        C: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
    {
        let broken = |error: hyper::Error| {
            ToolServerError::Unreachable(format!("the connection failed: {error}"))
        };
        let (mut sender, connection) = http1::handshake(connection).await.map_err(broken)?;
        // It ends with the response, which the caller reads or drops.
        let shutdown = self.0.tasks.shutdown().clone();
        self.0.tasks.spawn("mcp connection", async move {
            let carried = shutdown.run_until_cancelled(connection).await;
            if let Some(Err(error)) = carried {
                tracing::debug!(%error, "a connection to an MCP server failed");
            }
        });
        sender.send_request(request).await.map_err(broken)
    }

    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        others: HashMap<HeaderName, HeaderValue>,
    ) -> HttpResult<StreamableHttpPostResponse> {
        let body = serde_json::to_vec(message)?;
        let request = self.request(Method::POST, body, session, others);
        let request = request.map_err(|problem| self.fail(problem))?;
        let sent = self.send(request).await;
        let response = sent.map_err(|problem| self.fail(problem))?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.refusal(message, response).await;
        }
        let session = session_of(response.headers());
        let kind = response.headers().get(CONTENT_TYPE);
        let is =
            |wanted: &str| kind.is_some_and(|kind| kind.as_bytes().starts_with(wanted.as_bytes()));
        if is(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is(JSON) {
            let problem = "it answered with neither JSON nor events".to_owned();
            return Err(self.fail(ToolServerError::Protocol(problem)));
        }
        let read = read(response, LONGEST_MESSAGE_BYTES).await;
        let body = read.map_err(|problem| self.fail(problem))?;
        let message = serde_json::from_slice(&body);
        let message = message
            .map_err(|error| self.fail(ToolServerError::Protocol(shortened(&error.to_string()))))?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    /// Returns the answer to a request that the server did not accept.
    async fn refusal(
        &self,
        message: &ClientJsonRpcMessage,
        response: Response<Incoming>,
    ) -> HttpResult<StreamableHttpPostResponse> {
        let status = response.status();
        if status.is_redirection() {
            let problem = format!("{status}, and redirects are not followed");
            return Err(self.fail(ToolServerError::Refused(problem)));
        }
        // Only the beginning is of interest, and a body that cannot be read says nothing.
        let body = read(response, LONGEST_ERROR_BYTES)
            .await
            .unwrap_or_default();
        // A server of an older revision refuses this request in its own way. The library wants an error of the protocol.
        if let ClientJsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
            && status.is_client_error()
        {
            let error = ErrorData::invalid_request(status.to_string(), None);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
        let text = shortened(&String::from_utf8_lossy(&body));
        let problem = format!("{status} {text}").trim_end().to_owned();
        Err(self.fail(ToolServerError::Refused(problem)))
    }
}

/// Returns the headers of every request.
fn headers(way: &HttpWay) -> Result<HeaderMap, ToolServerError> {
    let unusable =
        |name: &str| ToolServerError::Unreachable(format!("the header {name} cannot be sent"));
    let mut headers = HeaderMap::new();
    for (name, value) in &way.headers {
        let key = HeaderName::from_bytes(name.as_bytes());
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_bad| unusable(name))?;
        value.set_sensitive(true);
        headers.insert(key.map_err(|_bad| unusable(name))?, value);
    }
    let host = HeaderValue::from_str(&way.address.authority);
    headers.insert(HOST, host.map_err(|_bad| unusable("host"))?);
    headers.insert(USER_AGENT, HeaderValue::from_static("deskhand"));
    Ok(headers)
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    let session = headers.get(SESSION)?.to_str().ok()?;
    (session.len() <= LONGEST_SESSION).then(|| session.to_owned())
}

/// Reads a body of at most this size.
async fn read(response: Response<Incoming>, most: usize) -> Result<Bytes, ToolServerError> {
    let n_announced = usize::try_from(response.body().size_hint().lower());
    if n_announced.is_ok_and(|n_announced| n_announced > most) {
        return Err(ToolServerError::Large(most));
    }
    let body = http_body_util::Limited::new(response.into_body(), most);
    let read = body.collect().await;
    let read = read.map_err(
        |error| match error.downcast::<http_body_util::LengthLimitError>() {
            Ok(_) => ToolServerError::Large(most),
            Err(_broken) => ToolServerError::Gone,
        },
    );
    Ok(read?.to_bytes())
}

/// Returns the events of a response, which all together have a bound.
fn events(response: Response<Incoming>) -> BoxStream<'static, Result<Sse, SseError>> {
    let body = http_body_util::Limited::new(response.into_body(), LONGEST_MESSAGE_BYTES);
    let bytes = body
        .into_data_stream()
        .map(|piece| piece.map_err(std::io::Error::other));
    SseStream::from_bytes_stream(bytes).boxed()
}

impl StreamableHttpClient for HttpHost {
    type Error = ToolServerError;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> HttpResult<StreamableHttpPostResponse> {
        self.post(&message, session.as_deref(), headers).await
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> HttpResult<()> {
        let request = self.request(Method::DELETE, Vec::new(), Some(&session), headers);
        let request = request.map_err(StreamableHttpError::Client)?;
        let sent = self.send(request).await;
        // A server need not support it.
        sent.map(drop).map_err(StreamableHttpError::Client)
    }

    /// Is never used: the server's own requests and notices outside of a call are of no interest, and a response that
    /// broke off is not resumed.
    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session: Option<Arc<str>>,
        _last_event: Option<String>,
        _auth: Option<String>,
        _headers: HashMap<HeaderName, HeaderValue>,
    ) -> HttpResult<BoxStream<'static, Result<Sse, SseError>>> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}
