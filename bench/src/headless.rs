//! The memory and the start of a session without a screen, next to one with a desktop.

use std::time::Instant;

use deskhand_testkit::{Server, ServerOptions, Session};
use serde_json::json;

use crate::{
    desktop::ours::pss_mb,
    table::{Row, Table, median},
};

/// The number of sessions at once of each kind.
const N_SESSIONS: usize = 5;
/// The most memory of a further session without a screen, in MB.
const MOST_MB: f64 = 150.0;

/// Serves a page with some text and a picture in the sandbox.
const SITE: &str = r#"mkdir -p ~/site && cd ~/site && {
  echo '<!doctype html><title>page</title><h1>A page</h1>'
  for n in $(seq 200); do echo "<p>Paragraph $n <a href=#$n>link</a> <input value=$n></p>"; done
} > index.html
python3 -m http.server --bind 127.0.0.1 8001 > /dev/null 2>&1 &
until curl -s localhost:8001 > /dev/null; do sleep 0.1; done"#;

/// The measurements of one kind of computer.
struct Measured {
    further_mb: f64,
    start_ms: f64,
}

pub(crate) async fn measure(program: &str) {
    println!("Measuring {N_SESSIONS} sessions with a page open, without and with a screen …");
    let browser = of_kind(program, "browser").await;
    let desktop = of_kind(program, "desktop").await;
    let mut table = Table::next_to("with screen");
    table.add(Row::at_most(
        "memory of a further session",
        "MB",
        browser.further_mb,
        Some(desktop.further_mb),
        MOST_MB,
    ));
    let start = Row::ms(
        "new session to first page",
        browser.start_ms,
        Some(desktop.start_ms),
        0.0,
    );
    table.add(start.without_target());
    println!("{table}");
}

async fn of_kind(program: &str, kind: &str) -> Measured {
    let server = Server::start(program, ServerOptions::default());
    let (mut memory, mut starts, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..N_SESSIONS {
        let started = Instant::now();
        let settings = json!({"model": "scripted/demo", "computer": kind});
        let made = server.client().post("/api/sessions", settings).await.good();
        let session = server.client().session(made["id"].as_str().unwrap());
        open(&session, "about:blank").await;
        starts.push(started.elapsed().as_secs_f64() * 1_000.0);
        session.shell(SITE).await;
        open(&session, "http://localhost:8001/").await;
        // The page stays without its server, whose memory does not count.
        session.shell("pkill python3; wait").await;
        memory.push(pss_mb(&server.mark()));
        sessions.push(session);
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few sessions")]
    let n_further = (N_SESSIONS - 1) as f64;
    let first = memory.first().copied().unwrap_or_default();
    let last = memory.last().copied().unwrap_or_default();
    for session in sessions {
        session.terminate().await;
    }
    Measured {
        further_mb: (last - first) / n_further,
        start_ms: median(starts),
    }
}

async fn open(session: &Session, url: &str) {
    let done = session
        .act("browser", json!({"action": "navigate", "url": url}))
        .await;
    assert_eq!(done["is_error"], false, "{done}");
}
