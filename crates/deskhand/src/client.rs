//! A client of the HTTP API, for the commands that talk to a server.

pub(crate) mod decisions;
mod evals;
pub(crate) mod files;
mod mcp;
pub(crate) mod models;
mod network;
pub(crate) mod people;
pub(crate) mod secrets;
pub(crate) mod terminals;
mod tls;
mod transport;

use std::{error::Error, net::IpAddr, path::Path, time::Duration};

use deskhand_api::{
    health::HealthView,
    messages::{MessageView, SendMessageBody},
    problem::ProblemView,
    sessions::{CreateSessionBody, SessionView, SessionsView},
    users::{SignInLinkView, UserView},
};
use deskhand_core::{
    id::{AttachmentId, SessionId},
    message::Delivery,
    secret::Secret,
};
use reqwest::{Method, Url};
use serde::{Serialize, de::DeserializeOwned};
use tokio_tungstenite::{WebSocketStream, tungstenite};
use tungstenite::{client::IntoClientRequest, http::HeaderValue, http::header::AUTHORIZATION};

use self::transport::{RawAnswer, Stream, Transport};

/// The timeout of a request. Ending a session waits for its sandbox.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of a request that calls a model's vendor several times.
const SLOW_REQUEST_TIMEOUT: Duration = Duration::from_secs(180);
/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The status of a server that was asked too often.
const TOO_MANY: u16 = 429;

/// A request without a body.
const NO_BODY: Option<&()> = None;

/// Talks to one server as one user.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    transport: Transport,
    /// The server's address as people see it.
    shown: Url,
    token: Secret,
}

/// A WebSocket to the server: the events of a session, or a terminal.
pub(crate) type Socket = WebSocketStream<Stream>;

/// Reasons why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error(
        "{0:?} is not the address of a server; write one such as https://desk.example or http://localhost:7878"
    )]
    BadAddress(String),
    #[error(
        "{0} is on another machine and not encrypted, so others on the network could read the token; use an https \
         address, or set DESKHAND_ALLOW_PLAIN_HTTP=true"
    )]
    PlainHttp(String),
    #[error("cannot reach the server at {url}")]
    Unreachable {
        url: String,
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server refused. The text is its own.
    #[error("{message}")]
    Refused {
        status: u16,
        code: String,
        message: String,
    },
    #[error("{url} is not a Deskhand server")]
    Strange {
        url: String,
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CallError {
    /// Returns true if the same call may succeed later: the server, or something on the way to it, failed.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Strange { .. } => true,
            Self::Refused { status, .. } => *status == TOO_MANY || *status >= 500,
            Self::BadAddress(_) | Self::PlainHttp(_) => false,
        }
    }
}

impl Client {
    /// Returns a client of the server at an address, which the user named together with the token.
    ///
    /// `may_be_plain` is true if the token may be sent to another machine without encryption.
    pub(crate) fn new(address: &str, token: Secret, may_be_plain: bool) -> Result<Self, CallError> {
        let bad = || CallError::BadAddress(address.to_owned());
        let base = Url::parse(address.trim_end_matches('/')).ok();
        let base = base
            .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
            .ok_or_else(bad)?;
        if base.scheme() == "http" && !may_be_plain && !is_on_this_machine(&base) {
            return Err(CallError::PlainHttp(address.to_owned()));
        }
        let shown = base.clone();
        let transport = Transport::network(base).map_err(|source| CallError::Unreachable {
            url: address.to_owned(),
            source,
        })?;
        Ok(Self {
            transport,
            shown,
            token,
        })
    }

    /// Returns a client of the server of a data folder. `address` is only shown, and nothing is sent there.
    pub(crate) fn local(folder: &Path, address: &str, token: Secret) -> Result<Self, CallError> {
        let shown = Url::parse(address).ok();
        Ok(Self {
            transport: Transport::Local(folder.to_owned()),
            shown: shown.ok_or_else(|| CallError::BadAddress(address.to_owned()))?,
            token,
        })
    }

    /// Returns the server's address, without a slash at the end.
    pub(crate) fn address(&self) -> &str {
        self.shown.as_str().trim_end_matches('/')
    }

    /// Returns the address at which people open the page. Sign-in links name this machine `localhost`, and a browser
    /// that is signed in there is a stranger at 127.0.0.1.
    pub(crate) fn page_address(&self) -> String {
        let mut page = self.shown.clone();
        if is_on_this_machine(&page) {
            // The name is a good host, so this cannot fail.
            let _ = page.set_host(Some("localhost"));
        }
        page.as_str().trim_end_matches('/').to_owned()
    }

    pub(crate) fn port(&self) -> Option<u16> {
        self.shown.port_or_known_default()
    }

    /// Checks that the server responds, is not unhealthy, and accepts the token.
    pub(crate) async fn check(&self) -> Result<(), CallError> {
        let _health: HealthView = self.get("/health").await?;
        let _me: UserView = self.get("/api/me").await?;
        Ok(())
    }

    pub(crate) async fn new_sign_in_link(&self) -> Result<String, CallError> {
        let link: SignInLinkView = self
            .call(Method::POST, "/api/sign-in-links", NO_BODY)
            .await?;
        Ok(link.url)
    }

    pub(crate) async fn create_session(
        &self,
        wanted: &CreateSessionBody,
    ) -> Result<SessionId, CallError> {
        let session: SessionView = self.post("/api/sessions", wanted).await?;
        Ok(session.id)
    }

    pub(crate) async fn send_prompt(
        &self,
        session: SessionId,
        content: &str,
        attachments: Vec<AttachmentId>,
    ) -> Result<(), CallError> {
        let path = format!("/api/sessions/{session}/messages");
        let body = SendMessageBody {
            content: content.to_owned(),
            delivery: Delivery::default(),
            model: None,
            effort: None,
            attachments,
        };
        let _message: MessageView = self.post(&path, &body).await?;
        Ok(())
    }

    /// Stops the turn. Returns false if none was running.
    pub(crate) async fn stop_turn(&self, session: SessionId) -> Result<bool, CallError> {
        let path = format!("/api/sessions/{session}/stop");
        match self.send(Method::POST, &path, NO_BODY).await {
            Ok(_) => Ok(true),
            Err(CallError::Refused { code, .. }) if code == "not_running" => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Ends the session and waits until its sandbox has stopped.
    pub(crate) async fn end_session(&self, session: SessionId) -> Result<(), CallError> {
        let path = format!("/api/sessions/{session}");
        self.delete(&path).await
    }

    /// Lists the newest sessions.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionView>, CallError> {
        let page: SessionsView = self.get("/api/sessions").await?;
        Ok(page.sessions)
    }

    /// Opens the event stream of a session, starting after event number `after`.
    pub(crate) async fn open_stream(
        &self,
        session: SessionId,
        after: u64,
    ) -> Result<Socket, CallError> {
        let path = format!("/api/sessions/{session}/stream?after={after}");
        self.open_socket(&path).await
    }

    async fn open_socket(&self, path: &str) -> Result<Socket, CallError> {
        let unreachable = |source: Box<dyn Error + Send + Sync>| CallError::Unreachable {
            url: self.address().to_owned(),
            source,
        };
        let address = self.address();
        let http = address.strip_prefix("http").unwrap_or(address);
        let mut request = format!("ws{http}{path}")
            .into_client_request()
            .map_err(|error| unreachable(error.into()))?;
        let bearer = HeaderValue::try_from(format!("Bearer {}", self.token.expose()))
            .map_err(|error| unreachable(error.into()))?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        let connect = async {
            let socket = self.transport.connect().await?;
            tokio_tungstenite::client_async(request, socket).await
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, connect).await {
            Ok(Ok((stream, _response))) => Ok(stream),
            Ok(Err(tungstenite::Error::Http(response))) if response.status().as_u16() < 500 => {
                Err(refusal(
                    self.address(),
                    response.status().as_u16(),
                    response.body().as_deref().unwrap_or_default(),
                ))
            }
            Ok(Err(error)) => Err(unreachable(error.into())),
            Err(elapsed) => Err(unreachable(elapsed.into())),
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.call(Method::GET, path, NO_BODY).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CallError> {
        self.call(Method::POST, path, Some(body)).await
    }

    async fn delete(&self, path: &str) -> Result<(), CallError> {
        self.send(Method::DELETE, path, NO_BODY).await.map(drop)
    }

    /// Sends a request and parses the body of a successful response.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, CallError> {
        let answer = self.send(method, path, body).await?;
        serde_json::from_slice(&answer).map_err(|source| CallError::Strange {
            url: self.address().to_owned(),
            source: source.into(),
        })
    }

    /// Sends a request and returns the body of a successful response.
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Vec<u8>, CallError> {
        let unreachable = |source: Box<dyn Error + Send + Sync>| CallError::Unreachable {
            url: self.address().to_owned(),
            source,
        };
        let body = body.map(serde_json::to_vec).transpose();
        let body = body.map_err(|source| unreachable(source.into()))?;
        let sent = self.transport.send(method, path, &self.token, body).await;
        let RawAnswer { status, body } = sent.map_err(unreachable)?;
        if (200..300).contains(&status) {
            Ok(body.into())
        } else {
            Err(refusal(self.address(), status, &body))
        }
    }
}

fn is_on_this_machine(address: &Url) -> bool {
    let name = address.host_str().unwrap_or_default();
    let number = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.ends_with(".localhost")
        || number
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Turns an error response into an error, with the server's own message if the body has one.
fn refusal(url: &str, status: u16, body: &[u8]) -> CallError {
    match serde_json::from_slice::<ProblemView>(body) {
        Ok(ProblemView { error }) => CallError::Refused {
            status,
            code: error.code,
            message: error.message,
        },
        Err(_) => match serde_json::from_slice::<HealthView>(body) {
            Ok(health) => CallError::Refused {
                status,
                code: "unhealthy".to_owned(),
                message: format!("the server at {url} is {}", health.status),
            },
            Err(_) => CallError::Strange {
                url: url.to_owned(),
                source: format!("it answered with status {status}").into(),
            },
        },
    }
}
