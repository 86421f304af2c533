//! A client of the HTTP API, like a user's program.

use std::time::Duration;

use deskhand_api::{
    problem::ProblemView,
    tokens::MadeTokenView,
    users::{SignInLinkView, UserView},
};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::{
    Document, Session,
    sockets::{BusStream, EventStream},
};

/// The timeout for an event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The size of the buffer for reading a WebSocket. It is zeroed before each read, and a thousand clients read often.
const READ_BYTES: usize = 16 * 1024;

/// Installs the TLS provider that every HTTP client of this process needs.
pub fn choose_tls() {
    // This fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client of one server with one token.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
}

/// A response of any status.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The seconds after which a retry is worthwhile.
    pub retry_after: Option<u64>,
    pub body: Vec<u8>,
}

impl Answer {
    async fn read(response: reqwest::Response) -> Result<Self, reqwest::Error> {
        let wait = response.headers().get("retry-after");
        Ok(Self {
            status: response.status().as_u16(),
            retry_after: wait.map(|wait| wait.to_str().unwrap().parse().unwrap()),
            body: response.bytes().await?.to_vec(),
        })
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Returns the code of an error response, or nothing if there is none.
    pub fn code(&self) -> String {
        let problem = serde_json::from_slice::<ProblemView>(&self.body);
        problem
            .map(|problem| problem.error.code)
            .unwrap_or_default()
    }

    /// Returns the body of a successful response.
    pub fn good(&self) -> Value {
        self.assert_good();
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// Parses the body of a successful response as a type of the API.
    pub fn view<T: DeserializeOwned>(&self) -> T {
        self.assert_good();
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    fn assert_good(&self) {
        assert!(
            (200..300).contains(&self.status),
            "{} {}",
            self.status,
            String::from_utf8_lossy(&self.body)
        );
    }
}

impl Client {
    pub fn new(url: impl Into<String>, token: impl Into<String>) -> Self {
        choose_tls();
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Self {
            http,
            url: url.into(),
            token: token.into(),
        }
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns a client of the same server with another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.clone()
        }
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.try_send(method, path, body).await.unwrap()
    }

    /// Sends a request to a server that may be down. After an error, the fate of the request is unknown.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await?;
        Answer::read(response).await
    }

    /// Sends a request with these headers, and returns the response before its body was read.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> reqwest::Response {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let mut request = request.bearer_auth(&self.token).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    }

    /// Sends a request that may fail halfway.
    pub async fn try_request(
        &self,
        method: Method,
        path: &str,
        body: impl Into<reqwest::Body>,
    ) -> reqwest::Result<reqwest::Response> {
        let request = self.http.request(method, format!("{}{path}", self.url));
        request.bearer_auth(&self.token).body(body).send().await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body.to_string().into_bytes()))
            .await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body.to_string().into_bytes()))
            .await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body.to_string().into_bytes()))
            .await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Returns the server's OpenAPI document.
    pub async fn document(&self) -> Document {
        Document(self.get("/api/openapi.json").await.good())
    }

    /// Creates a session with this model.
    pub async fn new_session(&self, model: &str) -> Session {
        let made = self.post("/api/sessions", json!({"model": model})).await;
        // The benchmarks' other servers answer with fewer fields, so only the id is read.
        self.session(made.good()["id"].as_str().unwrap())
    }

    /// Creates a session whose computer has no screen and starts no browser. It is cheap, for tests that need neither.
    pub async fn new_plain_session(&self, model: &str) -> Session {
        let body = json!({"model": model, "computer": "browser"});
        let made = self.post("/api/sessions", body).await;
        self.session(made.good()["id"].as_str().unwrap())
    }

    /// Returns a handle to an existing session.
    pub fn session(&self, id: &str) -> Session {
        Session {
            client: self.clone(),
            id: id.to_owned(),
        }
    }

    /// Creates a user, as an administrator, and signs them in as their browser and program would.
    pub async fn new_user(&self, name: &str) -> Client {
        let user: UserView = self.post("/api/users", json!({"name": name})).await.view();
        let path = format!("/api/users/{}/sign-in-links", user.id);
        let link: SignInLinkView = self.post(&path, json!({})).await.view();
        let (_, code) = link.url.split_once("#code=").unwrap();
        let cookie = self.sign_in(code).await;
        let made = self
            .http
            .post(format!("{}/api/tokens", self.url))
            .header("Cookie", cookie)
            .header("Origin", &self.url)
            .body(json!({"name": "test", "scope": "admin"}).to_string())
            .send()
            .await
            .unwrap();
        let made: MadeTokenView = Answer::read(made).await.unwrap().view();
        self.with_token(made.token.expose())
    }

    /// Signs a browser in. Returns the `Cookie` header that it sends from then on.
    pub async fn sign_in(&self, code: &str) -> String {
        let signed_in = self.send_sign_in(json!({"code": code}), &[]).await;
        assert_eq!(signed_in.status(), 204);
        let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Tries to sign a browser in that sends these headers besides its `Origin`.
    pub async fn try_sign_in(&self, body: Value, headers: &[(&str, &str)]) -> Answer {
        Answer::read(self.send_sign_in(body, headers).await)
            .await
            .unwrap()
    }

    async fn send_sign_in(&self, body: Value, headers: &[(&str, &str)]) -> reqwest::Response {
        let mut request = self.http.post(format!("{}/api/sign-in", self.url));
        request = request.header("Origin", &self.url).body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    }

    /// Sends a request as the page does in a browser with this cookie.
    pub async fn in_browser(&self, method: Method, path: &str, cookie: &str) -> Answer {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let request = request.header("Cookie", cookie).header("Origin", &self.url);
        Answer::read(request.send().await.unwrap()).await.unwrap()
    }

    /// Returns the response to a WebSocket request that is refused.
    pub async fn upgrade(&self, path: &str) -> Answer {
        let request = self
            .http
            .get(format!("{}{path}", self.url))
            .bearer_auth(&self.token)
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        let response = request.send().await.unwrap();
        assert_ne!(response.status(), 101, "there is one");
        Answer::read(response).await.unwrap()
    }

    /// Follows all sessions of this client's user.
    pub async fn bus(&self) -> BusStream {
        BusStream {
            socket: self.socket("/api/events").await,
        }
    }

    /// Opens a WebSocket.
    pub async fn socket(&self, path: &str) -> WebSocketStream<TcpStream> {
        let bearer = format!("Bearer {}", self.token);
        self.socket_with(path, &[("authorization", &bearer)]).await
    }

    /// Follows a session's log like a browser that was signed in with [`Client::sign_in`].
    pub async fn follow_in_browser(&self, session: &str, cookie: &str) -> EventStream {
        let path = format!("/api/sessions/{session}/stream");
        let headers = [("cookie", cookie), ("origin", &self.url)];
        EventStream {
            socket: self.socket_with(&path, &headers).await,
        }
    }

    /// Signs a browser out.
    pub async fn sign_out(&self, cookie: &str) {
        let request = self.http.post(format!("{}/api/sign-out", self.url));
        let request = request.header("Cookie", cookie).header("Origin", &self.url);
        assert_eq!(request.send().await.unwrap().status(), 204);
    }

    async fn socket_with(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> WebSocketStream<TcpStream> {
        self.try_socket_with(path, headers).await.unwrap()
    }

    /// Opens a WebSocket with these headers, if the server lets it.
    pub async fn try_socket_with(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut request = format!("ws://{address}{path}")
            .into_client_request()
            .unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        let config = WebSocketConfig::default().read_buffer_size(READ_BYTES);
        let opened = tokio_tungstenite::client_async_with_config(request, tcp, Some(config)).await;
        opened.map(|(socket, _)| socket)
    }
}
