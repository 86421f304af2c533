//! Requests to hosts of secrets, with a program and a host that speak TLS over loopback.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    clock::{Clock, SystemClock},
    network::{
        guard::NetworkMeter,
        policy::{NetworkBounds, NetworkMode, NetworkPolicy, NetworkRules},
        stand_in::{
            CertificateIssuer, IssuedCertificates, SecretValues, StandIns, UsePlace, UseRefusal,
        },
    },
    tasks::Tasks,
    vault::HttpUse,
};
use futures::{SinkExt, StreamExt, channel::mpsc};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::SandboxIssuer;

const VALUE: &str = "canary-value-7f3a-with-a-length-of-its-own";
const HOST: &str = "api.example";

/// Remembers the reasons for which connections were blocked.
#[derive(Debug, Default)]
struct Reasons(Mutex<Vec<BlockReason>>);

impl NetworkMeter for Reasons {
    fn connected(&self) {}

    fn failed(&self) {}

    fn blocked(&self, reason: BlockReason) {
        self.0.lock().unwrap().push(reason);
    }

    fn count(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// A vault with one secret, which may be refused.
#[derive(Debug, Default)]
struct OneSecret {
    refusal: Mutex<Option<UseRefusal>>,
    asked: Mutex<Vec<UsePlace>>,
    revealed: Mutex<Vec<(String, Secret)>>,
    stand_in: String,
}

#[async_trait]
impl SecretValues for OneSecret {
    async fn reveal(&self, _: &SecretName, place: &UsePlace) -> Result<Secret, UseRefusal> {
        self.asked.lock().unwrap().push(place.clone());
        if let Some(refusal) = *self.refusal.lock().unwrap() {
            return Err(refusal);
        }
        let value = Secret::new(VALUE);
        let revealed = (self.stand_in.clone(), value.clone());
        self.revealed.lock().unwrap().push(revealed);
        Ok(value)
    }

    fn revealed(&self) -> Vec<(String, Secret)> {
        self.revealed.lock().unwrap().clone()
    }
}

/// A program's connection to a host of secrets.
struct Scene {
    reasons: Arc<Reasons>,
    values: Arc<OneSecret>,
    stand_in: String,
    /// The requests as the host got them.
    heard: Arc<Mutex<Vec<String>>>,
    is_encrypted: bool,
    authority: Vec<u8>,
    passage: Passage,
    access: StandInAccess,
    verifier: HostVerifier,
    host_at: SocketAddr,
    _tasks: Tasks,
}

fn certificates() -> IssuedCertificates {
    let now = SystemClock.now();
    let until = now + jiff::SignedDuration::from_hours(1);
    SandboxIssuer.issue(&[HOST], now, until).unwrap()
}

fn trusting(authority: &[u8]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority)).unwrap();
    roots
}

impl Scene {
    async fn start(origin: &str, answers: &'static [(&'static str, &'static str)]) -> Self {
        let http = HttpUse {
            headers: vec!["authorization".parse().unwrap()],
            env: "TOKEN".parse().unwrap(),
        };
        let origin: Origin = origin.parse().unwrap();
        let is_encrypted = origin.is_encrypted();
        let secret = ("api".parse().unwrap(), vec![origin], http);
        let mut stand_ins = StandIns::new([9; 16], [secret]);
        let (of_sandbox, of_host) = (certificates(), certificates());
        let authority = of_sandbox.authority.clone();
        stand_ins.certificates = Some(of_sandbox);
        let stand_in = stand_ins.all()[0].text.clone();
        let reasons = Arc::<Reasons>::default();
        let values = Arc::new(OneSecret {
            stand_in: stand_in.clone(),
            ..OneSecret::default()
        });
        let passage = Passage {
            rules: Arc::new(NetworkRules::new(
                Arc::new(NetworkBounds::default()),
                NetworkPolicy::from(NetworkMode::Open),
                Vec::new(),
            )),
            ended: CancellationToken::new(),
            meter: Arc::<Reasons>::clone(&reasons),
            stand_ins: None,
        };
        let tasks = Tasks::default();
        let heard = Arc::default();
        let verifier = HostVerifier::trusting(trusting(&of_host.authority)).unwrap();
        let tls = is_encrypted.then_some(of_host);
        let host_at = serve_host(&tasks, tls, answers, Arc::clone(&heard)).await;
        Self {
            access: StandInAccess {
                stand_ins: Arc::new(stand_ins),
                values: Arc::<OneSecret>::clone(&values),
            },
            reasons,
            values,
            stand_in,
            heard,
            is_encrypted,
            authority,
            passage,
            verifier,
            host_at,
            _tasks: tasks,
        }
    }

    fn visit(&self) -> Visit {
        let origin = self.access.stand_ins.all()[0].origins[0].clone();
        Visit {
            origin,
            access: self.access.clone(),
            passage: self.passage.clone(),
            verifier: self.verifier.clone(),
            connect_timeout: Duration::from_secs(5),
        }
    }

    /// Connects a program.
    async fn program(&self) -> Box<dyn crate::dial::ByteChannel> {
        let (program, ours) = duplex(64 * 1024);
        let host: Outgoing = Box::new(TcpStream::connect(self.host_at).await.unwrap());
        let stream = byte_stream(ours, &self._tasks);
        let visit = self.visit();
        self._tasks.spawn("visit", async move {
            visit.serve(Bytes::new(), stream, host).await;
        });
        if !self.is_encrypted {
            return Box::new(program);
        }
        let settings = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(trusting(&self.authority))
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(settings));
        let name = ServerName::try_from(HOST).unwrap();
        Box::new(connector.connect(name, program).await.unwrap())
    }

    /// Sends one request and returns the whole response.
    async fn ask(&self, request: &str) -> String {
        let mut program = self.program().await;
        let request = request.replace("STAND_IN", &self.stand_in);
        program.write_all(request.as_bytes()).await.unwrap();
        program.flush().await.unwrap();
        let mut answer = Vec::new();
        // A host that is cut off ends without saying so.
        let _ = program.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().join("\n")
    }

    fn blocked(&self) -> Vec<BlockReason> {
        self.reasons.0.lock().unwrap().clone()
    }
}

/// Turns one end of a pipe into the stream that a runner brings.
fn byte_stream(ours: DuplexStream, tasks: &Tasks) -> ByteStream {
    let (mut from_program, mut to_program) = tokio::io::split(ours);
    let (mut pieces, incoming) = mpsc::channel(4);
    let (outgoing, mut answers) = mpsc::channel::<Bytes>(4);
    tasks.spawn("to the server", async move {
        loop {
            let mut piece = bytes::BytesMut::with_capacity(16 * 1024);
            let n_read = from_program.read_buf(&mut piece).await.unwrap_or(0);
            if pieces.send(piece.freeze()).await.is_err() || n_read == 0 {
                return;
            }
        }
    });
    tasks.spawn("to the program", async move {
        while let Some(piece) = answers.next().await {
            if piece.is_empty() || to_program.write_all(&piece).await.is_err() {
                break;
            }
        }
        let _ = to_program.shutdown().await;
    });
    ByteStream {
        incoming: Box::pin(incoming),
        // Like a socket, it keeps what is not flushed.
        outgoing: Box::pin(outgoing.sink_map_err(std::io::Error::other).buffer(16)),
    }
}

/// Serves a host: the answer to each request is found by the beginning of its path. `ECHO` stands for the
/// `Authorization` of the request.
async fn serve_host(
    tasks: &Tasks,
    tls: Option<IssuedCertificates>,
    answers: &'static [(&'static str, &'static str)],
    heard: Arc<Mutex<Vec<String>>>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let all = tasks.clone();
    tasks.spawn("host", async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = tls.as_ref().map(|tls| tls::acceptor(tls, HOST).unwrap());
            let heard = Arc::clone(&heard);
            all.spawn("host connection", async move {
                match acceptor {
                    None => answer_all(stream, answers, heard).await,
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            answer_all(stream, answers, heard).await;
                        }
                    }
                }
            });
        }
    });
    address
}

async fn answer_all(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answers: &[(&str, &str)],
    heard: Arc<Mutex<Vec<String>>>,
) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let header = |name: &str| {
            let line = head.lines().find_map(|line| {
                let (found, value) = line.split_once(": ")?;
                found.eq_ignore_ascii_case(name).then_some(value)
            });
            line.unwrap_or_default().to_owned()
        };
        let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
        if stream.read_exact(&mut body).await.is_err() {
            heard.lock().unwrap().push(format!("{head}(cut off)"));
            return;
        }
        let body = String::from_utf8(body).unwrap();
        heard.lock().unwrap().push(format!("{head}{body}"));
        let path = head.split(' ').nth(1).unwrap();
        let (_, answer) = answers
            .iter()
            .find(|(beginning, _)| path.starts_with(beginning))
            .unwrap();
        let answer = answer.replace("ECHO", &header("authorization"));
        let length = answer.split_once("\r\n\r\n").unwrap().1.len();
        let answer = answer.replace("LENGTH", &length.to_string());
        // In two pieces, somewhere in the middle of what is echoed.
        let (first, second) = answer.as_bytes().split_at(answer.len() - length / 2);
        for piece in [first, second] {
            stream.write_all(piece).await.unwrap();
            stream.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        if answer.starts_with("HTTP/1.1 101") {
            let mut frames = [0; 1024];
            while let Ok(n_read @ 1..) = stream.read(&mut frames).await {
                let mut frame = frames[..n_read].to_vec();
                if frame == b"tell" {
                    frame = VALUE.as_bytes().to_vec();
                }
                stream.write_all(&frame).await.unwrap();
                stream.flush().await.unwrap();
            }
            return;
        }
    }
}

const PLAIN: &[(&str, &str)] = &[(
    "/",
    "HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\nX-Echo: ECHO\r\nConnection: close\r\n\r\nyou sent ECHO, thanks",
)];
const KEEPS: &[(&str, &str)] = &[
    (
        "/chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ),
    (
        "/socket",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    ),
    (
        "/",
        "HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\n\r\nhello",
    ),
];

#[tokio::test]
async fn a_value_takes_the_place_of_its_stand_in_and_does_not_come_back() {
    for origin in ["https://api.example", "http://api.example"] {
        let scene = Scene::start(origin, PLAIN).await;
        let request = "GET /user?page=1 HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer STAND_IN\r\n\
                       Accept-Encoding: gzip\r\n\r\n";
        let answer = scene.ask(request).await;
        let heard = scene.heard();
        assert!(
            heard.starts_with("GET /user?page=1 HTTP/1.1\r\n"),
            "{heard}"
        );
        let sent = format!("Authorization: Bearer {VALUE}\r\n");
        assert!(heard.contains(&sent), "{heard}");
        assert!(heard.contains("Accept-Encoding: identity\r\n"), "{heard}");
        assert!(!heard.contains(&scene.stand_in), "{heard}");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(
            !answer.contains(VALUE) && !answer.contains("canary"),
            "{answer}"
        );
        let shown = &scene.stand_in[..VALUE.len().min(scene.stand_in.len())];
        assert!(
            answer.contains(&format!("you sent Bearer {shown}")),
            "{answer}"
        );
        assert!(
            answer
                .to_lowercase()
                .contains(&format!("x-echo: bearer {shown}")),
            "{answer}"
        );
        assert_eq!(scene.blocked(), []);
        let asked = scene.values.asked.lock().unwrap();
        assert_eq!(asked[0].origin.as_str(), origin);
        assert_eq!(asked[0].header.as_str(), "authorization");
    }
}

#[tokio::test]
async fn basic_credentials_are_filled_in_and_masked() {
    let scene = Scene::start("https://api.example", PLAIN).await;
    let credentials = STANDARD.encode(format!("user:{}", scene.stand_in));
    let request = format!(
        "GET / HTTP/1.1\r\nHost: API.example:443\r\nAuthorization: basic {credentials}\r\n\r\n"
    );
    let answer = scene.ask(&request).await;
    let filled = STANDARD.encode(format!("user:{VALUE}"));
    let heard = scene.heard();
    assert!(
        heard.contains(&format!("Authorization: basic {filled}\r\n")),
        "{heard}"
    );
    assert!(!answer.contains(&filled), "{answer}");
    let shown = &credentials[..filled.len().min(credentials.len())];
    assert!(answer.contains(shown), "{answer}");
}

#[tokio::test]
async fn a_stand_in_anywhere_else_is_refused_and_nobody_is_asked() {
    let encoded = STANDARD.encode(format!("me:{}", "dhs-api-09090909090909090909090909090909"));
    let others = [
        "GET /STAND_IN HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET /?token=STAND_IN HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer STAND_IN\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nX-Token: STAND_IN\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nSTAND_IN: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nCookie: a=b; c=STAND_IN\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer dhs-other-09090909090909090909090909090909\r\n\r\n",
        &format!("GET / HTTP/1.1\r\nHost: api.example\r\nX-Token: {encoded}\r\n\r\n"),
    ];
    for request in others {
        let scene = Scene::start("https://api.example", PLAIN).await;
        let answer = scene.ask(request).await;
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\n"),
            "{request}: {answer}"
        );
        assert!(
            answer.contains("in a place that the secret is not for"),
            "{answer}"
        );
        assert_eq!(scene.heard(), "", "{request}");
        assert_eq!(scene.blocked(), [BlockReason::StandIn], "{request}");
        assert!(scene.values.asked.lock().unwrap().is_empty(), "{request}");
    }
}

#[tokio::test]
async fn a_stand_in_in_a_body_cuts_the_request_off() {
    let scene = Scene::start("https://api.example", PLAIN).await;
    let body = format!("{}{}", "x".repeat(100_000), scene.stand_in);
    let request = format!(
        "POST /gists HTTP/1.1\r\nHost: api.example\r\nContent-Length: {}\r\nAuthorization: Bearer STAND_IN\r\n\r\n{body}",
        body.len()
    );
    let answer = scene.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert_eq!(scene.blocked(), [BlockReason::StandIn]);
    let heard = scene.heard();
    assert!(!heard.contains("dhs-api"), "{heard}");
}

#[tokio::test]
async fn a_use_that_is_not_approved_is_refused_with_its_reason() {
    let scene = Scene::start("https://api.example", PLAIN).await;
    *scene.values.refusal.lock().unwrap() = Some(UseRefusal::Denied);
    let request = "GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer STAND_IN\r\n\r\n";
    let answer = scene.ask(request).await;
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    let told = "the secret api was not used: its owner was asked and said no.";
    assert!(answer.contains(told), "{answer}");
    assert_eq!(scene.heard(), "");
    assert_eq!(scene.blocked(), [BlockReason::SecretUse]);
    // Requests without a stand-in need no approval.
    let answer = scene
        .ask("GET / HTTP/1.1\r\nHost: api.example\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[tokio::test]
async fn every_request_must_be_for_the_site_of_its_connection() {
    let others = [
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example:8443\r\n\r\n",
        "GET https://evil.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
    ];
    for request in others {
        let scene = Scene::start("https://api.example", PLAIN).await;
        let answer = scene.ask(request).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{request}: {answer}");
        assert_eq!(scene.heard(), "", "{request}");
    }
    // A later request on the same connection, too.
    let scene = Scene::start("https://api.example", KEEPS).await;
    let two =
        "GET /1 HTTP/1.1\r\nHost: api.example\r\n\r\nGET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    let answer = scene.ask(two).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert_eq!(scene.blocked(), [BlockReason::OtherName]);
    assert!(!scene.heard().contains("/2"));
}

#[tokio::test]
async fn a_connection_carries_several_requests_and_bodies_of_any_kind() {
    let scene = Scene::start("https://api.example", KEEPS).await;
    let first = "POST /1 HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let second = "GET /chunked HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer STAND_IN\r\nConnection: close\r\n\r\n";
    // The host of this test reads no chunked bodies, so this one is sent with its length.
    let first = first.replace(
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "Content-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
    );
    let answer = scene.ask(&format!("{first}{second}")).await;
    let (one, two) = answer.rsplit_once("HTTP/1.1 200 OK").unwrap();
    assert!(one.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(two.contains("5\r\nhello\r\n0\r\n\r\n"), "{answer}");
    let heard = scene.heard();
    assert!(heard.contains("\r\n\r\nabc\n"), "{heard}");
    assert!(!heard.to_lowercase().contains("expect:"), "{heard}");
    assert!(heard.contains(VALUE), "{heard}");
}

#[tokio::test]
async fn a_connection_ends_before_it_sends_more_credentials_than_it_masks() {
    let scene = Scene::start("https://api.example", KEEPS).await;
    let request = |n: usize| {
        let credentials = STANDARD.encode(format!("user-{n}:{}", scene.stand_in));
        format!(
            "GET /1 HTTP/1.1\r\nHost: api.example\r\nAuthorization: Basic {credentials}\r\n\r\n"
        )
    };
    // Repeated ones do not count.
    let requests: String = (0..3).chain(0..100).map(request).collect();
    let answer = scene.ask(&requests).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3 + 32);
    assert_eq!(scene.heard.lock().unwrap().len(), 3 + 32);
}

#[tokio::test]
async fn a_websocket_passes_and_is_masked() {
    let scene = Scene::start("https://api.example", KEEPS).await;
    let mut program = scene.program().await;
    let request = format!(
        "GET /socket HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
        scene.stand_in
    );
    program.write_all(request.as_bytes()).await.unwrap();
    program.flush().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(program.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"));
    // Compressed messages could not be masked.
    let heard = scene.heard().to_lowercase();
    assert!(
        heard.contains("upgrade: websocket") && !heard.contains("extensions"),
        "{heard}"
    );
    let mut say = async |text: &str, expected: &str| {
        program.write_all(text.as_bytes()).await.unwrap();
        program.flush().await.unwrap();
        let mut answer = vec![0; expected.len()];
        program.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    };
    say("ping", "ping").await;
    // This is how the value begins, and nothing follows.
    say("canary-v", "canary-v").await;
    let mut masked = scene.stand_in.clone();
    masked.truncate(VALUE.len());
    while masked.len() < VALUE.len() {
        masked.push('*');
    }
    say("tell", &masked).await;
    program.write_all(scene.stand_in.as_bytes()).await.unwrap();
    program.flush().await.unwrap();
    let mut rest = Vec::new();
    let _ = program.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
    assert_eq!(scene.blocked(), [BlockReason::StandIn]);
}

#[tokio::test]
async fn no_other_upgrade_reaches_the_host() {
    for upgrade in [
        "Upgrade: h2c",
        "Upgrade: websocket, h2c",
        "Upgrade: websocket\r\nUpgrade: h2c",
    ] {
        let scene = Scene::start("https://api.example", PLAIN).await;
        let request = format!(
            "GET / HTTP/1.1\r\nHost: api.example\r\nConnection: Upgrade\r\n{upgrade}\r\n\r\n"
        );
        let answer = scene.ask(&request).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let heard = scene.heard().to_lowercase();
        assert!(!heard.contains("upgrade:"), "{upgrade}: {heard}");
    }
}

#[tokio::test]
async fn a_host_with_a_wrong_certificate_gets_nothing() {
    let mut scene = Scene::start("https://api.example", PLAIN).await;
    scene.verifier = HostVerifier::trusting(trusting(&certificates().authority)).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer STAND_IN\r\n\r\n";
    let answer = scene.ask(request).await;
    assert!(
        answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"),
        "{answer}"
    );
    assert!(answer.contains("certificate"), "{answer}");
    assert_eq!(scene.heard(), "");
    assert!(scene.values.asked.lock().unwrap().is_empty());
}
