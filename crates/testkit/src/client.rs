//! A client of the HTTP API, as a user's program would be.

use std::time::Duration;

use deskhand_core::event::{Event, EventBody};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::{
    Document,
    sockets::{BusStream, EventStream},
};

/// The longest a test waits for an event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How much is read of a WebSocket at once. It is filled with zeros before each look, and a thousand clients
/// look often.
const READ_BYTES: usize = 16 * 1024;

/// Says who encrypts, which every HTTP client of this process wants to know before it is made.
pub(crate) fn choose_tls() {
    // It fails only where it was chosen before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Talks to one server with one token.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
}

/// An answer, whatever it is.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The seconds after which it is worth trying again.
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

    /// The code of a problem.
    pub fn code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The body, if the answer is a good one.
    pub fn good(&self) -> Value {
        assert!(
            (200..300).contains(&self.status),
            "{} {}",
            self.status,
            String::from_utf8_lossy(&self.body)
        );
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
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

    /// The same server with another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.clone()
        }
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.try_send(method, path, body).await.unwrap()
    }

    /// The same where the server may be away: then nobody knows what became of the request.
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

    /// The server's OpenAPI document.
    pub async fn document(&self) -> Document {
        Document(self.get("/api/openapi.json").await.good())
    }

    /// Makes a session with this model.
    pub async fn new_session(&self, model: &str) -> Session {
        let session = self
            .post("/api/sessions", json!({"model": model}))
            .await
            .good();
        self.session(session["id"].as_str().unwrap())
    }

    /// A session that exists.
    pub fn session(&self, id: &str) -> Session {
        Session {
            client: self.clone(),
            id: id.to_owned(),
        }
    }

    /// Makes a user, as an administrator, and signs them in as their browser and program would.
    pub async fn new_user(&self, name: &str) -> Client {
        let user = self.post("/api/users", json!({"name": name})).await.good();
        let path = format!("/api/users/{}/sign-in-links", user["id"].as_str().unwrap());
        let link = self.post(&path, json!({})).await.good();
        let (_, code) = link["url"].as_str().unwrap().split_once("?code=").unwrap();
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
        let made: Value = serde_json::from_slice(&made.bytes().await.unwrap()).unwrap();
        self.with_token(made["token"].as_str().unwrap())
    }

    /// Signs a browser in; answers what it sends as `Cookie` from then on.
    pub async fn sign_in(&self, code: &str) -> String {
        let signed_in = self
            .http
            .post(format!("{}/api/sign-in", self.url))
            .body(json!({"code": code}).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(signed_in.status(), 204);
        let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// What a request for a WebSocket is answered when there is none.
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

    /// Follows all sessions of whoever this is.
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

    /// Follows a session's log as a browser does that was signed in with [`Client::sign_in`].
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

    async fn try_socket_with(
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

/// A session as a client sees it.
#[derive(Debug, Clone)]
pub struct Session {
    pub client: Client,
    pub id: String,
}

impl Session {
    pub fn path(&self, rest: &str) -> String {
        format!("/api/sessions/{}{rest}", self.id)
    }

    pub async fn show(&self) -> Value {
        self.client.get(&self.path("")).await.good()
    }

    /// Sends a prompt; answers its id.
    pub async fn prompt(&self, content: &str) -> String {
        let message = self
            .client
            .post(&self.path("/messages"), json!({"content": content}))
            .await;
        assert_eq!(message.status, 202, "{}", message.json());
        message.json()["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message in some way: `queue`, `steer` or `interrupt`.
    pub async fn send(&self, content: &str, delivery: &str) -> Answer {
        let message = json!({"content": content, "delivery": delivery});
        self.client.post(&self.path("/messages"), message).await
    }

    /// The conversation so far.
    pub async fn messages(&self) -> Vec<Value> {
        let messages = self.client.get(&self.path("/messages")).await.good();
        messages["messages"].as_array().unwrap().clone()
    }

    /// Does one thing by hand.
    pub async fn act(&self, tool: &str, input: Value) -> Value {
        self.client
            .post(
                &self.path("/actions"),
                json!({"tool": tool, "input": input}),
            )
            .await
            .good()
    }

    /// Runs a shell command in the sandbox; answers its text.
    pub async fn shell(&self, command: &str) -> String {
        let done = self
            .act("bash", json!({"shell": "run", "command": command}))
            .await;
        done["text"].as_str().unwrap().to_owned()
    }

    /// The log after `after`, as it is sent.
    pub async fn events(&self, after: u64) -> Vec<Value> {
        let answer = self
            .client
            .get(&self.path(&format!("/events?after={after}&limit=5000")))
            .await;
        answer.good()["events"].as_array().unwrap().clone()
    }

    /// Follows the log from after `after`.
    pub async fn follow(&self, after: u64) -> EventStream {
        EventStream {
            socket: self
                .client
                .socket(&self.path(&format!("/stream?after={after}")))
                .await,
        }
    }

    /// The same where the server may be away.
    pub async fn try_follow(&self, after: u64) -> Result<EventStream, tungstenite::Error> {
        let path = self.path(&format!("/stream?after={after}"));
        let bearer = format!("Bearer {}", self.client.token);
        let headers = [("authorization", &*bearer)];
        let socket = self.client.try_socket_with(&path, &headers).await?;
        Ok(EventStream { socket })
    }

    /// The same, with who comes and goes.
    pub async fn follow_with_people(&self, after: u64) -> EventStream {
        let path = self.path(&format!("/stream?after={after}&presence=true"));
        EventStream {
            socket: self.client.socket(&path).await,
        }
    }

    /// Waits for an event that was or comes after `after`.
    pub async fn wait_for(&self, after: u64, wanted: impl Fn(&EventBody) -> bool) -> Event {
        let mut stream = self.follow(after).await;
        loop {
            let event = stream.next_event().await;
            if wanted(&event.body) {
                return event;
            }
        }
    }

    /// Waits for the next end of a turn after `after`.
    pub async fn turn_end(&self, after: u64) -> Event {
        let ends = |body: &EventBody| {
            let has_failed = matches!(body, EventBody::Error(failure) if failure.turn.is_some());
            has_failed || matches!(body, EventBody::Complete(_))
        };
        self.wait_for(after, ends).await
    }

    /// Takes control for so many seconds.
    pub async fn take_control(&self, seconds: u32) -> Answer {
        let body = json!({"seconds": seconds});
        self.client.put(&self.path("/lease"), body).await
    }

    /// Gives control back.
    pub async fn hand_back(&self) -> Answer {
        self.client.delete(&self.path("/lease")).await
    }

    pub async fn terminate(&self) {
        self.client.delete(&self.path("")).await.good();
    }
}
