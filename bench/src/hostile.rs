//! Hostile clients: the time of an honest demo session, and the memory of the server, while others attack it.
//!
//! Four attacks run at once on loopback: connections that never finish their request, screens that are sent huge
//! messages, huge bodies at the model gateway from programs in a sandbox, and large pages of a large log.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use deskhand_testkit::{Client, Server, ServerOptions, Session, rss_bytes};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    task::JoinSet,
};

use crate::table::{Row, Table, median};

/// The duration of the attacks without `HOSTILE_SECONDS`.
const DEFAULT_SECONDS: u64 = 30;
const N_HALF_OPEN: u32 = 3_000;
/// Outsiders come from other addresses than honest users: 127.0.0.2 and those after it.
const N_ADDRESSES: u32 = 6;
const N_SCREENS: usize = 50;
const HUGE_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
const N_PROGRAMS: u32 = 8;
const HUGE_BODY_BYTES: u32 = 32 * 1024 * 1024;
const N_LARGE_EVENTS: usize = 100;
const N_READERS: usize = 4;

/// The state that the attackers and the observer share.
#[derive(Debug, Default)]
struct Attack {
    is_over: AtomicBool,
    n_refused: AtomicU64,
}

impl Attack {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Counts an attempt that the server ended.
    fn refused(&self) {
        self.n_refused.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) async fn measure(program: &str) {
    let seconds = std::env::var("HOSTILE_SECONDS").ok();
    let seconds = seconds.map_or(DEFAULT_SECONDS, |text| text.parse().expect("seconds"));
    println!("Measuring a demo session beside {seconds} s of hostile clients …");
    // The vendor is never reached: all bodies are refused.
    let vendor = [
        ("ANTHROPIC_API_KEY", "none"),
        ("DESKHAND_MODELS_ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
    ];
    let server = Server::start(
        program,
        ServerOptions {
            variables: vendor
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            ..ServerOptions::default()
        },
    );
    let honest = server.client();
    let alone = median(vec![
        demo(&honest).await,
        demo(&honest).await,
        demo(&honest).await,
    ]);

    let mallory = honest.new_user("mallory").await;
    let grounds = prepare(&mallory).await;
    let attack = Arc::new(Attack::default());
    let mut attackers = JoinSet::new();
    let url = server.url();
    let address: SocketAddr = url.trim_start_matches("http://").parse().unwrap();
    half_open(&mut attackers, &attack, address);
    huge_messages(&mut attackers, &attack, &grounds, address);
    huge_bodies(&mut attackers, &attack, &grounds);
    large_pages(&mut attackers, &attack, &grounds);
    let until = Instant::now() + Duration::from_secs(seconds);
    let attacked = async {
        let mut attacked = Vec::new();
        while Instant::now() < until {
            attacked.push(demo(&honest).await);
        }
        attack.is_over.store(true, Ordering::Relaxed);
        attacked
    };
    let (attacked, seen) = tokio::join!(attacked, observe(&honest, server.pid(), &attack));
    attackers.shutdown().await;
    let mut table = Table::next_to("alone");
    table.add(Row::at_most(
        "demo under attack",
        "ms",
        median(attacked),
        Some(alone),
        alone * 2.0,
    ));
    table.add(Row::mb("server, most memory", seen.most_mb, 300.0));
    table.add(Row::at_most(
        "honest requests with 5xx",
        "",
        seen.n_broken,
        None,
        0.0,
    ));
    table.add(Row::ms("honest request, slowest", seen.slowest_ms, None, 1_000.0).without_target());
    println!("{table}");
    println!(
        "{} honest requests, {} hostile attempts refused\n",
        seen.n_requests,
        attack.n_refused.load(Ordering::Relaxed)
    );
}

/// Runs the demo in a new session. Returns its time from prompt to end, in milliseconds.
async fn demo(client: &Client) -> f64 {
    let session = client.new_session("scripted/demo").await;
    session.shell("true").await;
    let started = Instant::now();
    session.prompt("Show me the demo").await;
    session.turn_end(0).await;
    let time = started.elapsed().as_secs_f64() * 1_000.0;
    session.terminate().await;
    time
}

/// Creates a session with a log of large events, whose attacker has control.
async fn prepare(mallory: &Client) -> Session {
    let session = mallory.new_session("scripted/demo").await;
    let text = "x".repeat(1_000_000);
    for n in 0..N_LARGE_EVENTS {
        let input = json!({"command": "create", "path": format!("/tmp/{n}"), "file_text": text});
        session.act("editor", input).await;
    }
    let command = format!(
        "{{ printf '{{\"model\":\"x\",\"messages\":['; yes 0, | head -c {HUGE_BODY_BYTES} | tr -d '\\n'; \
         printf '0]}}'; }} > /tmp/body; ls -l /tmp/body"
    );
    session.shell(&command).await;
    assert_eq!(session.take_control(3_600).await.status, 200);
    session
}

/// Opens connections that never finish their request, and opens each again when it is closed.
fn half_open(attackers: &mut JoinSet<()>, attack: &Arc<Attack>, to: SocketAddr) {
    for n in 0..N_HALF_OPEN {
        let attack = Arc::clone(attack);
        let from = Ipv4Addr::from_bits(0x7f00_0002 + n % N_ADDRESSES);
        attackers.spawn(async move {
            while attack.goes_on() {
                let socket = TcpSocket::new_v4().unwrap();
                socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).unwrap();
                if let Ok(mut connection) = socket.connect(to).await {
                    let begun = connection.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await;
                    if begun.is_ok() {
                        // Ends when the server gives up.
                        let _ = connection.read(&mut [0; 256]).await;
                    }
                }
                attack.refused();
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
}

/// Sends huge messages to the screen.
fn huge_messages(
    attackers: &mut JoinSet<()>,
    attack: &Arc<Attack>,
    grounds: &Session,
    to: SocketAddr,
) {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {to}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: binary\r\n\r\n",
        grounds.path("/vnc"),
        grounds.client.token(),
    );
    for _ in 0..N_SCREENS {
        let (attack, request) = (Arc::clone(attack), request.clone());
        attackers.spawn(async move {
            while attack.goes_on() {
                // The server ends it, sooner or later.
                let _ = send_huge_message(to, &request).await;
                attack.refused();
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
}

/// Opens a WebSocket and sends one message of zeros. It is written by hand, so that the attacker needs little memory.
async fn send_huge_message(to: SocketAddr, request: &str) -> std::io::Result<()> {
    let mut connection = tokio::net::TcpStream::connect(to).await?;
    connection.write_all(request.as_bytes()).await?;
    let _ = connection.read(&mut [0; 1024]).await?;
    // A binary message, masked with zeros, whose length has eight bytes.
    let mut head = vec![0x82, 0xff];
    head.extend_from_slice(&(HUGE_MESSAGE_BYTES as u64).to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    connection.write_all(&head).await?;
    let piece = vec![0; 64 * 1024];
    for _ in 0..HUGE_MESSAGE_BYTES / piece.len() {
        connection.write_all(&piece).await?;
    }
    let _ = connection.read(&mut [0; 1024]).await?;
    Ok(())
}

/// Has programs in the sandbox send huge bodies to the model gateway.
fn huge_bodies(attackers: &mut JoinSet<()>, attack: &Arc<Attack>, grounds: &Session) {
    let (attack, session) = (Arc::clone(attack), grounds.clone());
    let command = format!(
        "for i in $(seq {N_PROGRAMS}); do curl -s -o /dev/null -m 20 \"$ANTHROPIC_BASE_URL/v1/messages\" \
         -H \"x-api-key: $ANTHROPIC_API_KEY\" --data-binary @/tmp/body & done; wait"
    );
    attackers.spawn(async move {
        while attack.goes_on() {
            session.shell(&command).await;
            attack.refused();
        }
    });
}

/// Reads pages of a large log that are as large as possible.
fn large_pages(attackers: &mut JoinSet<()>, attack: &Arc<Attack>, grounds: &Session) {
    for _ in 0..N_READERS {
        let (attack, session) = (Arc::clone(attack), grounds.clone());
        attackers.spawn(async move {
            while attack.goes_on() {
                session
                    .client
                    .get(&session.path("/events?limit=5000"))
                    .await;
                attack.refused();
            }
        });
    }
}

struct Seen {
    n_requests: u64,
    n_broken: f64,
    slowest_ms: f64,
    most_mb: f64,
}

/// Asks for the list of sessions like an honest client, and looks at the server's memory, until the attack is over.
async fn observe(client: &Client, pid: i32, attack: &Attack) -> Seen {
    let mut seen = Seen {
        n_requests: 0,
        n_broken: 0.0,
        slowest_ms: 0.0,
        most_mb: 0.0,
    };
    while attack.goes_on() {
        let started = Instant::now();
        let answer = client.get("/api/sessions").await;
        let time = started.elapsed().as_secs_f64() * 1_000.0;
        seen.n_requests += 1;
        seen.slowest_ms = seen.slowest_ms.max(time);
        if answer.status >= 500 {
            seen.n_broken += 1.0;
        }
        seen.most_mb = seen.most_mb.max(megabytes(rss_bytes(pid)));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    seen
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}
