//! Sleeping sessions: their cost to a server, and the start time of a server with many of them.

use std::time::Instant;

use deskhand_core::{event::EventBody, session::SandboxState};
use deskhand_testkit::{Server, ServerOptions, Session, rss_bytes};

use crate::table::{Row, Table, median};

const N_SESSIONS: usize = 200;
/// The number of desktops at a time. The one that has been idle for the longest time makes room.
const N_AWAKE: usize = 4;
const N_STARTS: usize = 9;

pub(crate) async fn measure(program: &str) {
    println!("Measuring {N_SESSIONS} sessions that sleep, each after it had a desktop …");
    let settings = [
        ("DESKHAND_LIMITS_AWAKE_SESSIONS", N_AWAKE.to_string()),
        ("DESKHAND_LIMITS_IDLE_SECONDS", "1".to_owned()),
    ];
    let options = ServerOptions {
        variables: settings
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        ..ServerOptions::default()
    };
    let mut server = Server::start(program, options);
    // The permanent cost of the first session is not the cost of sleeping.
    let first = desktop(&server).await;
    until(&first, SandboxState::Stopped).await;
    first.terminate().await;
    let idle = rss_bytes(server.pid());
    let mut sessions = Vec::new();
    for _ in 0..N_SESSIONS {
        sessions.push(desktop(&server).await);
    }
    for session in &sessions {
        until(session, SandboxState::Stopped).await;
    }
    let asleep = rss_bytes(server.pid());

    let mut starts = Vec::new();
    for _ in 0..N_STARTS {
        assert_eq!(server.terminate(), Some(0));
        let started = Instant::now();
        server.start_again();
        starts.push(started.elapsed().as_secs_f64() * 1_000.0);
    }
    let mut table = Table::next_to("");
    table.add(Row::mb(
        "asleep, over idle",
        megabytes(asleep) - megabytes(idle),
        30.0,
    ));
    table.add(Row::ms("started with them", median(starts), None, 50.0));
    println!("{table}");
}

/// Creates a session and waits until its desktop is up.
async fn desktop(server: &Server) -> Session {
    let session = server.client().new_session("scripted/demo").await;
    until(&session, SandboxState::Ready).await;
    session
}

async fn until(session: &Session, state: SandboxState) {
    let is_there =
        |body: &EventBody| matches!(body, EventBody::Status(status) if status.sandbox == state);
    session.wait_for(0, is_there).await;
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}
