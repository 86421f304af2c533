//! Many clients on one session's stream: their losses, their latency, and the cost to the server.

use std::time::{Duration, Instant};

use deskhand_testkit::{EventStream, Session};
use tokio::task::JoinSet;

use crate::{
    process::cpu_ticks,
    service::Service,
    table::{Row, Table, part},
};

const N_CLIENTS: usize = 1_000;
const PER_SECOND: u32 = 20;
const N_EVENTS: usize = 200;
/// The timeout for the next event. After it, the remaining events count as lost.
const PATIENCE: Duration = Duration::from_secs(10);
/// The text before the time in a message.
const MARK: &str = "sent at ";

/// The result of a service.
struct FanOut {
    n_lost: usize,
    latencies_ms: Vec<f64>,
    cpu_us_per_delivery: f64,
}

pub(crate) async fn measure(program: &str, python: &str) {
    println!(
        "Measuring streams ({N_CLIENTS} clients of one session, {PER_SECOND} events a second) …"
    );
    let ours = fan_out(&Service::ours(program)).await;
    let peer = fan_out(&Service::peer(python).await).await;
    let mut table = Table::next_to("FastAPI");
    #[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
    let lost = |fan_out: &FanOut| fan_out.n_lost as f64;
    table.add(Row::at_most("events lost", "", lost(&ours), None, 0.0));
    for (what, at, target) in [
        ("delivery, median", 0.5, None),
        ("delivery, p99", 0.99, Some(100.0)),
    ] {
        let [ours, peer] = [&ours, &peer].map(|it| part(it.latencies_ms.clone(), at));
        let row = Row::ms(what, ours, Some(peer), target.unwrap_or_default());
        table.add(match target {
            Some(_) => row,
            None => row.without_target(),
        });
    }
    table.add(Row::at_most(
        "server's CPU per delivery",
        "µs",
        ours.cpu_us_per_delivery,
        Some(peer.cpu_us_per_delivery),
        10.0,
    ));
    println!("{table}");
    println!(
        "A delivery is timed from before the message is sent until a client has it. The {N_CLIENTS} clients"
    );
    println!("run on the same processors as the server.");
}

/// Makes many clients follow a session while messages are sent to it.
async fn fan_out(service: &Service) -> FanOut {
    let session = service.busy_sessions(1).await.remove(0);
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..N_CLIENTS {
        let stream = session.follow(0).await;
        clients.spawn(listen(stream, begun));
    }
    // Clients that have just connected are still receiving past events.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let ticks_before = cpu_ticks(service.pid);
    let mut beat = tokio::time::interval(Duration::from_secs(1) / PER_SECOND);
    for _ in 0..N_EVENTS {
        beat.tick().await;
        send(&session, begun).await;
    }
    let mut latencies_ms = Vec::new();
    let mut n_lost = 0;
    while let Some(heard) = clients.join_next().await {
        let heard = heard.unwrap();
        n_lost += N_EVENTS - heard.len();
        latencies_ms.extend(heard);
    }
    let ticks = cpu_ticks(service.pid) - ticks_before;
    #[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
    let cpu_us_per_delivery = ticks as f64 * 10_000.0 / latencies_ms.len() as f64;
    FanOut {
        n_lost,
        latencies_ms,
        cpu_us_per_delivery,
    }
}

/// Sends a message that contains the time at which it was sent.
async fn send(session: &Session, begun: Instant) {
    session
        .prompt(&format!("{MARK}{} Go on.", begun.elapsed().as_micros()))
        .await;
}

/// Reads events until all sent ones have arrived. Returns the latency of each in milliseconds.
async fn listen(mut stream: EventStream, begun: Instant) -> Vec<f64> {
    let mut latencies = Vec::with_capacity(N_EVENTS);
    let mut newest = 0;
    while latencies.len() < N_EVENTS {
        let Ok(text) = tokio::time::timeout(PATIENCE, stream.next()).await else {
            break;
        };
        let now = begun.elapsed();
        let seq = number_after(&text, "\"seq\":").expect("events have numbers");
        assert_eq!(seq, newest + 1, "events come in order");
        newest = seq;
        if let Some(sent) = number_after(&text, MARK) {
            latencies.push((now - Duration::from_micros(sent)).as_secs_f64() * 1_000.0);
        }
    }
    latencies
}

/// Returns the number after `mark`.
fn number_after(text: &str, mark: &str) -> Option<u64> {
    let (_, rest) = text.split_once(mark)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}
