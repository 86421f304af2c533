//! Requests per second, with authentication and rights in force.

use std::time::Duration;

use deskhand_testkit::Session;

use crate::{
    load::{Borne, Load},
    service::Service,
    table::{Row, Table, median},
};

/// The number of busy sessions that receive messages. With more sessions, fewer messages wait in each.
const N_SESSIONS: usize = 100;
/// The number of conversations that are listed.
const N_CONVERSATIONS: usize = 10;
/// The duration of each load.
const ROUND: Duration = Duration::from_secs(2);
/// The number of rounds. Ours and the peer take turns, so that other load on the machine hits both.
const N_ROUNDS: usize = 3;

const MESSAGE: &str = r#"{"content":"Please look at the second invoice, and tell me what it says about the date of delivery."}"#;

/// The results of both for one kind of request.
struct Both {
    per_second: [f64; 2],
    p99_ms: [f64; 2],
}

pub(crate) async fn measure(program: &str, python: &str) {
    println!("Measuring requests (32 connections of wrk, {N_SESSIONS} busy sessions) …");
    let ours = Service::ours(program);
    let peer = Service::peer(python).await;
    let starts = starts(program, &ours);
    let mut table = Table::next_to("FastAPI");

    let both = [&ours, &peer];
    let created = compare(both, create).await;
    add(&mut table, "create message", &created, Some(15.0));
    let listed = compare(both, list).await;
    add(&mut table, "list 20 messages", &listed, Some(15.0));
    let sessions = compare(both, list_sessions).await;
    add(&mut table, "list 50 sessions", &sessions, None);
    table.add(Row::ms(
        "started",
        median(starts),
        Some(peer.start_ms),
        50.0,
    ));
    println!("{table}");
    println!(
        "Both look up the token by its SHA-256, check the right in the session and store a message with its"
    );
    println!(
        "event in one transaction of SQLite (WAL). The peer is one process of uvicorn with uvloop."
    );
}

/// Returns a load of new messages to busy sessions. Every round has new sessions, so that no queue fills up.
async fn create(service: &Service) -> Load {
    Load {
        method: "POST",
        paths: paths(&service.busy_sessions(N_SESSIONS).await, "/messages"),
        body: MESSAGE,
    }
}

/// Returns a load that lists the beginning of some conversations.
async fn list(service: &Service) -> Load {
    let sessions = service.busy_sessions(N_CONVERSATIONS).await;
    for session in &sessions {
        for _ in 0..20 {
            session.prompt("What do you see?").await;
        }
    }
    Load {
        method: "GET",
        paths: paths(&sessions, "/messages?limit=20"),
        body: "",
    }
}

/// Returns a load that lists the newest sessions. There are more sessions than it lists.
async fn list_sessions(_: &Service) -> Load {
    Load {
        method: "GET",
        paths: vec!["/api/sessions?limit=50".to_owned()],
        body: "",
    }
}

/// Puts a load on both in turn.
async fn compare(both: [&Service; 2], load: impl AsyncFn(&Service) -> Load) -> Both {
    let mut borne: [Vec<Borne>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..N_ROUNDS {
        for (service, borne) in both.into_iter().zip(&mut borne) {
            let load = load(service).await;
            borne.push(load.put_on(service, ROUND).await);
        }
    }
    let middle = |figure: fn(&Borne) -> f64| {
        [0, 1].map(|which: usize| median(borne[which].iter().map(figure).collect()))
    };
    Both {
        per_second: middle(|borne| borne.per_second),
        p99_ms: middle(|borne| borne.p99_ms),
    }
}

fn add(table: &mut Table, what: &'static str, both: &Both, times: Option<f64>) {
    let [ours, peer] = both.per_second;
    let row = Row::per_second(what, ours, peer, times.unwrap_or_default());
    table.add(match times {
        Some(_) => row,
        None => row.without_target(),
    });
    let [ours, peer] = both.p99_ms;
    table.add(Row::ms("… p99", ours, Some(peer), 0.0).without_target());
}

fn paths(sessions: &[Session], rest: &str) -> Vec<String> {
    sessions.iter().map(|session| session.path(rest)).collect()
}

/// Returns the durations of five starts.
fn starts(program: &str, first: &Service) -> Vec<f64> {
    let mut starts = vec![first.start_ms];
    starts.extend((0..4).map(|_| Service::ours(program).start_ms));
    starts
}
