//! Requests per second, with authentication and rights in force.

use std::time::Duration;

use deskhand_testkit::Session;

use crate::{
    load::{Borne, Load},
    service::Service,
    table::{Row, Table, median},
};

/// Busy sessions that messages go to. With more, fewer wait in each.
const N_SESSIONS: usize = 100;
/// How long each load is put on.
const ROUND: Duration = Duration::from_secs(2);
/// How often. Ours and the peer take turns, so that whatever else the machine does hits both.
const N_ROUNDS: usize = 3;

const MESSAGE: &str = r#"{"content":"Please look at the second invoice, and tell me what it says about the date of delivery."}"#;

/// One thing that is asked of both.
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

    let create = |sessions: &[Session]| Load {
        method: "POST",
        paths: paths(sessions, "/messages"),
        body: MESSAGE,
    };
    let list = |sessions: &[Session]| Load {
        method: "GET",
        paths: paths(sessions, "/messages?limit=20"),
        body: "",
    };
    let list_sessions = |_: &[Session]| Load {
        method: "GET",
        paths: vec!["/api/sessions?limit=50".to_owned()],
        body: "",
    };
    let rows: [(&str, &str, &dyn Fn(&[Session]) -> Load, Option<f64>); 3] = [
        ("create message", "… p99", &create, Some(15.0)),
        ("list 20 messages", "… p99", &list, Some(15.0)),
        ("list 50 sessions", "… p99", &list_sessions, None),
    ];
    for (what, p99, load, target) in rows {
        let both = compare(&ours, &peer, load).await;
        let [our_rate, peer_rate] = both.per_second;
        let row = Row::per_second(what, our_rate, peer_rate, target.unwrap_or_default());
        table.add(match target {
            Some(_) => row,
            None => row.without_target(),
        });
        let [our_p99, peer_p99] = both.p99_ms;
        table.add(Row::ms(p99, our_p99, Some(peer_p99), 0.0).without_target());
    }
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

/// Puts a load on both in turn. Every round has new sessions, so that no queue gets full.
async fn compare(ours: &Service, peer: &Service, load: &dyn Fn(&[Session]) -> Load) -> Both {
    let mut borne: [Vec<Borne>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..N_ROUNDS {
        for (service, borne) in [ours, peer].into_iter().zip(&mut borne) {
            let sessions = service.busy_sessions(N_SESSIONS).await;
            // A conversation to be listed.
            for session in &sessions {
                for _ in 0..20 {
                    session.prompt("What do you see?").await;
                }
            }
            borne.push(load(&sessions).put_on(service, ROUND).await);
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

fn paths(sessions: &[Session], rest: &str) -> Vec<String> {
    sessions.iter().map(|session| session.path(rest)).collect()
}

/// How long starting takes, five times.
fn starts(program: &str, first: &Service) -> Vec<f64> {
    let mut starts = vec![first.start_ms];
    starts.extend((0..4).map(|_| Service::ours(program).start_ms));
    starts
}
