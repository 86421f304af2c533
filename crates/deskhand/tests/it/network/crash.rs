//! Runner and server are killed while a program downloads and another one waits for a person's answer about its host.

use deskhand_core::event::EventBody;
use deskhand_testkit::{Server, Session, eventually, kill, not_run, processes_with_mount};
use serde_json::json;

use super::{attempt::records, hosts::Hosts};
use crate::world::serve_with;

const SCENARIO: &str = r#"
turns:
  - steps:
      - text: "I contact two hosts."
        calls:
          - bash: {command: "curl -sSN https://web.example/endless > ~/got & curl -sS https://asked.example/hello; wait"}
      - text: "They are gone."
  - steps:
      - text: "Once more."
        calls:
          - bash: {command: "curl -sS https://web.example/hello"}
      - text: "Done: {{ result.1 }}"
"#;

#[tokio::test]
async fn connections_and_questions_end_with_a_runner_or_a_server_that_is_killed() {
    let hosts = match Hosts::start() {
        Ok(hosts) => hosts,
        Err(reason) => return not_run(&reason),
    };
    let mut server = serve_with(hosts.options(&[("contact", SCENARIO)]));

    let (session, received_bytes) = under_way(&server, &hosts, 1).await;
    let runner = processes_with_mount(&server.mark());
    let runner = runner
        .iter()
        .find(|(_, line)| line.contains("deskhand runner"));
    assert!(kill(runner.expect("the runner runs").0));
    goes_on(&session, &hosts, received_bytes, 1).await;
    session.terminate().await;

    let (session, received_bytes) = under_way(&server, &hosts, 2).await;
    server.kill();
    let mark = server.mark();
    eventually("no process is left", || {
        processes_with_mount(&mark).is_empty()
    });
    eventually("no connection is left", || n_connections() == 0);
    server.start_again();
    let session = server.client().session(&session.id);
    goes_on(&session, &hosts, received_bytes, 2).await;
}

/// Starts a session and waits until a download and a question are under way. Returns the bytes that are recorded.
async fn under_way(server: &Server, hosts: &Hosts, nth: usize) -> (Session, u64) {
    let network = json!({"mode": "allow", "allow": ["web.example:443"]});
    let body = json!({"model": "scripted/contact", "network": network});
    let made = server.client().post("/api/sessions", body).await.good();
    let session = server.client().session(made["id"].as_str().unwrap());
    session.prompt("go").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::Decision(_)))
        .await;
    eventually("the download has begun", || n_lines(hosts, "begun") == nth);
    loop {
        let received_bytes = recorded_bytes(&session).await;
        if received_bytes > 0 {
            return (session, received_bytes);
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// Checks that nothing is left of the connections, that their record is kept, and that the session goes on.
async fn goes_on(session: &Session, hosts: &Hosts, received_bytes: u64, nth: usize) {
    eventually("the host sees the end", || n_lines(hosts, "gone") == nth);
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    eventually("no connection is left", || n_connections() == 0);
    wait_until_none_is_open(session).await;
    assert!(recorded_bytes(session).await >= received_bytes);
    let decisions = session.client.get(&session.path("/decisions")).await.good();
    assert_eq!(
        decisions["decisions"],
        json!([]),
        "nobody is asked any more"
    );

    session.prompt("and again").await;
    session.turn_end(end.seq).await;
    let messages = session.messages().await;
    let answer = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(
        answer.contains("hello by HTTP/2.0 from web.example"),
        "{answer}"
    );
}

/// Waits until the server counts no open connection. It may notice the end of a socket a moment after the kernel.
async fn wait_until_none_is_open(session: &Session) {
    loop {
        let network = session.client.get(&session.path("/network")).await.good();
        if network["open_connections"] == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn recorded_bytes(session: &Session) -> u64 {
    let records = records(session).await;
    let mut all = records.iter();
    let record = all.find(|record| record.host == "web.example" && record.port == 443);
    record.map_or(0, |record| record.received_bytes)
}

fn n_lines(hosts: &Hosts, wanted: &str) -> usize {
    hosts.lines().iter().filter(|line| *line == wanted).count()
}

/// Returns the number of established connections of the server's side to hosts.
fn n_connections() -> usize {
    // As the kernel writes them: 443, and the state of an open connection.
    const PORT: &str = ":01BB";
    const ESTABLISHED: &str = "01";
    let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
    let is_one = |line: &&str| {
        let mut words = line.split_whitespace().skip(2);
        let is_host = words.next().is_some_and(|remote| remote.ends_with(PORT));
        is_host && words.next() == Some(ESTABLISHED)
    };
    table.lines().filter(is_one).count()
}
