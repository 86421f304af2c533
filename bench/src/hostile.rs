//! Hostile clients: the time of an honest demo session, and the memory of the server, while others attack it.
//!
//! Four attacks run at once on loopback: connections that never finish their request, screens that are sent huge
//! messages, huge bodies at the model gateway from programs in a sandbox, and large pages of a large log.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use deskhand_testkit::{Client, Server, ServerOptions, Session, rss_bytes};
use reqwest::Method;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    task::JoinSet,
};

use crate::table::{Row, Table, median};

/// The duration of the attacks without `HOSTILE_SECONDS`.
const DEFAULT_SECONDS: u64 = 300;
const N_HALF_OPEN: u32 = 3_000;
/// Outsiders come from other addresses than honest users: 127.0.0.2 and those after it.
const N_ADDRESSES: u32 = 6;
const N_SCREENS: usize = 50;
const HUGE_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
const N_PROGRAMS: u32 = 8;
/// The largest body that the gateway reads, less the few bytes around its list.
const HUGE_LIST_BYTES: u32 = 32 * 1024 * 1024 - 64;
/// The number of events in a page, without `HOSTILE_EVENTS`. A command makes two, of which one is large.
const N_EVENTS: usize = 5_000;
const LARGE_EVENT_BYTES: usize = 60_000;
const N_READERS: usize = 4;
/// The descriptors that the attackers need.
const N_DESCRIPTORS: u64 = 8_192;

/// The state that the attackers and the observer share.
#[derive(Debug, Default)]
struct Attack {
    is_over: AtomicBool,
    /// The number of attempts, by attack and by the server's answer.
    met: Mutex<BTreeMap<(&'static str, String), u64>>,
    n_half_open: AtomicU64,
    most_half_open: AtomicU64,
    largest_page_bytes: AtomicUsize,
}

impl Attack {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Counts an attempt by what the server did about it.
    fn met(&self, attack: &'static str, answer: impl Into<String>) {
        let mut met = self.met.lock().unwrap();
        *met.entry((attack, answer.into())).or_default() += 1;
    }

    fn opened(&self) {
        let n_open = self.n_half_open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_half_open.fetch_max(n_open, Ordering::Relaxed);
    }

    fn closed(&self) {
        self.n_half_open.fetch_sub(1, Ordering::Relaxed);
    }

    fn report(&self) {
        println!(
            "half-open connections, most at once: {}",
            self.most_half_open.load(Ordering::Relaxed)
        );
        println!(
            "largest page of the log: {} bytes",
            self.largest_page_bytes.load(Ordering::Relaxed)
        );
        for ((attack, answer), n_times) in &*self.met.lock().unwrap() {
            println!("{attack}: {answer}, {n_times} times");
        }
    }
}

pub(crate) async fn measure(program: &str) {
    let seconds = std::env::var("HOSTILE_SECONDS").ok();
    let seconds = seconds.map_or(DEFAULT_SECONDS, |text| text.parse().expect("seconds"));
    let n_events = std::env::var("HOSTILE_EVENTS").ok();
    let n_events = n_events.map_or(N_EVENTS, |text| text.parse().expect("a number of events"));
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
    let grounds = prepare(&mallory, n_events).await;
    // The server has the limit that it was started with.
    allow_descriptors();
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
    println!("{} honest requests", seen.n_requests);
    attack.report();
    println!();
}

/// Lets this process have as many connections open as the attacks need.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let current = limit
        .maximum
        .map_or(N_DESCRIPTORS, |most| most.min(N_DESCRIPTORS));
    assert!(
        current >= N_DESCRIPTORS,
        "the attackers need {N_DESCRIPTORS} open files; raise the hard limit (`ulimit -Hn`)"
    );
    let raised = Rlimit {
        current: Some(limit.current.map_or(current, |now| now.max(current))),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("raise the limit of open files");
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
async fn prepare(mallory: &Client, n_events: usize) -> Session {
    let session = mallory.new_session("scripted/demo").await;
    let large = format!("head -c {LARGE_EVENT_BYTES} /dev/zero | tr '\\0' x");
    for _ in 0..n_events / 2 {
        session.shell(&large).await;
    }
    let command = format!(
        "{{ printf '{{\"model\":\"x\",\"messages\":['; yes 0, | tr -d '\\n' | head -c {HUGE_LIST_BYTES}; \
         printf '0]}}'; }} > /tmp/body; stat -c %s /tmp/body"
    );
    let n_bytes = session.shell(&command).await;
    println!("{n_events} events, bodies of {} bytes", n_bytes.trim());
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
                let ended = half_open_once(&attack, from, to).await;
                attack.met("half-open connection", ended);
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
}

/// Opens one connection and keeps it until the server gives up. Returns how it ended.
async fn half_open_once(attack: &Attack, from: Ipv4Addr, to: SocketAddr) -> String {
    let connected = async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(IpAddr::V4(from), 0))?;
        socket.connect(to).await
    };
    let mut connection = match connected.await {
        Ok(connection) => connection,
        Err(error) => return format!("not connected, {:?}", error.kind()),
    };
    attack.opened();
    let mut answer = [0; 256];
    let ended = async {
        connection
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n")
            .await?;
        connection.read(&mut answer).await
    };
    let ended = ended.await;
    attack.closed();
    match ended {
        Ok(0) => "closed".to_owned(),
        Ok(_) => "answered and closed".to_owned(),
        Err(error) => format!("closed, {:?}", error.kind()),
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
                let ended = match send_huge_message(to, &request).await {
                    Ok(status) => format!("{status}, then closed"),
                    Err(error) => format!("cut off, {:?}", error.kind()),
                };
                attack.met("huge message", ended);
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
}

/// Opens a WebSocket and sends one message of zeros. It is written by hand, so that the attacker needs little memory.
///
/// Returns the status of the answer to its request.
async fn send_huge_message(to: SocketAddr, request: &str) -> std::io::Result<String> {
    let mut connection = tokio::net::TcpStream::connect(to).await?;
    connection.write_all(request.as_bytes()).await?;
    let mut answer = [0; 1024];
    let n_bytes = connection.read(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer[..n_bytes]);
    let status = answer.split(' ').nth(1).unwrap_or("no answer").to_owned();
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
    Ok(status)
}

/// Has programs in the sandbox send huge bodies to the model gateway.
fn huge_bodies(attackers: &mut JoinSet<()>, attack: &Arc<Attack>, grounds: &Session) {
    let (attack, session) = (Arc::clone(attack), grounds.clone());
    let command = format!(
        "for i in $(seq {N_PROGRAMS}); do curl -s -o /dev/null -w '%{{http_code}}\\n' -m 20 \"$ANTHROPIC_BASE_URL/v1/messages\" \
         -H \"x-api-key: $ANTHROPIC_API_KEY\" --data-binary @/tmp/body & done; wait"
    );
    attackers.spawn(async move {
        while attack.goes_on() {
            for status in session.shell(&command).await.split_whitespace() {
                attack.met("huge body", status);
            }
        }
    });
}

/// Reads pages of a large log that are as large as possible.
fn large_pages(attackers: &mut JoinSet<()>, attack: &Arc<Attack>, grounds: &Session) {
    for _ in 0..N_READERS {
        let (attack, session) = (Arc::clone(attack), grounds.clone());
        attackers.spawn(async move {
            while attack.goes_on() {
                let path = session.path("/events?limit=5000");
                match session.client.try_send(Method::GET, &path, None).await {
                    Ok(page) => {
                        let n_bytes = page.body.len();
                        attack
                            .largest_page_bytes
                            .fetch_max(n_bytes, Ordering::Relaxed);
                        attack.met("page of the log", page.status.to_string());
                    }
                    // All places are taken.
                    Err(_) => attack.met("page of the log", "cut off"),
                }
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
