//! A program in a sandbox that listens on a port, and browsers that use it.

use std::net::SocketAddr;

use deskhand_core::tasks::Tasks;
use deskhand_testkit::Session;
use deskhand_world::World;
use reqwest::{Method, Response, header::HeaderMap};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

/// Headers with which a program tries to reach beyond its origin.
const GREEDY: &str = "Set-Cookie: own=1; Domain=localhost; Path=/\r\n\
    Set-Cookie: deskhand=stolen; Path=/\r\n\
    Set-Cookie: deskhand-app=stolen; Path=/\r\n\
    Access-Control-Allow-Origin: *\r\n\
    Access-Control-Allow-Credentials: true\r\n\
    Service-Worker-Allowed: /\r\n\
    Clear-Site-Data: \"*\"\r\n\
    Strict-Transport-Security: max-age=9; includeSubDomains\r\n\
    X-Frame-Options: DENY\r\n\
    Content-Security-Policy: frame-ancestors *; img-src 'self'\r\n";

/// A small web server of the test.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    /// Receives the path of every connection that was closed while an answer went on.
    pub(super) cut_off: mpsc::UnboundedReceiver<String>,
    tasks: Tasks,
}

impl Listener {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, cut_off) = mpsc::unbounded_channel();
        let tasks = Tasks::default();
        let all = tasks.clone();
        tasks.spawn("program", async move {
            while let Ok((connection, _)) = listener.accept().await {
                let cut = cut.clone();
                all.spawn("connection", async move { answer(connection, cut).await });
            }
        });
        Self {
            address,
            cut_off,
            tasks,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

/// Answers one request: at `/events` for ever, at `/ws` as a WebSocket that repeats all bytes, and elsewhere with the
/// request itself.
async fn answer(mut connection: TcpStream, cut: mpsc::UnboundedSender<String>) {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") && !contains(&seen, b"\r\n\r\n") {
        if connection.read_buf(&mut seen).await.unwrap_or_default() == 0 {
            return;
        }
    }
    let text = String::from_utf8_lossy(&seen).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length
        .map(|length| length.parse().unwrap())
        .unwrap_or_default();
    match path.as_str() {
        "/events" => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n";
            connection.write_all(head.as_bytes()).await.unwrap();
            wait_for_end(&mut connection).await;
            let _ = cut.send(path);
        }
        "/ws" => {
            // The key and the answer are those of the example in RFC 6455.
            let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
            connection.write_all(head.as_bytes()).await.unwrap();
            let (mut reader, mut writer) = connection.split();
            let _ = tokio::io::copy(&mut reader, &mut writer).await;
            let _ = cut.send(path);
        }
        _ => {
            let mut n_body = body.len();
            while n_body < length {
                let mut piece = Vec::new();
                let n_read = connection.read_buf(&mut piece).await.unwrap_or_default();
                if n_read == 0 {
                    return;
                }
                n_body += n_read;
            }
            let shown = format!("{head}\n\nbody: {n_body}");
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{GREEDY}Content-Length: {}\r\n\r\n{shown}",
                shown.len()
            );
            let _ = connection.write_all(answer.as_bytes()).await;
        }
    }
}

async fn wait_for_end(connection: &mut TcpStream) {
    let mut rest = Vec::new();
    while matches!(connection.read_buf(&mut rest).await, Ok(1..)) {}
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A browser at one service.
#[derive(Debug, Clone)]
pub(super) struct Browser {
    http: reqwest::Client,
    /// The address of the server.
    server: String,
    /// The service's host with the port.
    pub(super) host: String,
    /// The `Cookie` header.
    pub(super) cookie: String,
}

impl Browser {
    pub(super) fn new(world: &World, service: &str, session: &str) -> Self {
        let port = world.url().rsplit_once(':').unwrap().1;
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            http,
            server: world.url().to_owned(),
            host: format!("{service}--{session}.localhost:{port}"),
            cookie: String::new(),
        }
    }

    /// Opens a service with a token, as the dashboard does.
    pub(super) async fn open(world: &World, session: &Session, service: &str) -> Self {
        let mut browser = Self::new(world, service, &session.id);
        let token = token(session, service).await;
        let opened = browser.get(&format!("/?token={token}"), &[]).await;
        assert_eq!(opened.status(), 303);
        browser.cookie = cookie_of(opened.headers());
        browser
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    pub(super) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send(Method::GET, path, headers, Vec::new()).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Response {
        let mut request = self.http.request(method, format!("{}{path}", self.server));
        request = request.header("host", &self.host);
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(body).send().await.unwrap()
    }

    /// Asks for a WebSocket from a page of this origin. Returns the beginning of the answer and the connection.
    pub(super) async fn socket(&self, origin: &str) -> (String, TcpStream) {
        let address = self.server.strip_prefix("http://").unwrap();
        let mut connection = TcpStream::connect(address).await.unwrap();
        let (host, cookie) = (&self.host, &self.cookie);
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut seen = Vec::new();
        while !contains(&seen, b"\r\n\r\n") {
            assert_ne!(
                connection.read_buf(&mut seen).await.unwrap(),
                0,
                "an answer"
            );
        }
        (String::from_utf8_lossy(&seen).into_owned(), connection)
    }
}

/// Asks for a token for a service.
pub(super) async fn token(session: &Session, service: &str) -> String {
    let path = session.path(&format!("/sandbox-token?service={service}"));
    let issued = session.client.get(&path).await.good();
    issued["token"].as_str().unwrap().to_owned()
}

/// Returns the `Cookie` header for the cookie that an answer sets.
pub(super) fn cookie_of(headers: &HeaderMap) -> String {
    let set = headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Returns the code of an answer that the gateway itself gave.
pub(super) fn code(response: &Response) -> &str {
    let code = response.headers().get("x-deskhand-code");
    code.map_or("", |code| code.to_str().unwrap())
}
