//! The figures at /metrics: what is counted, and for whom.

use std::collections::BTreeSet;

use deskhand_testkit::{Client, Watcher};
use serde_json::json;

use crate::world::serve;

const DOCS: &str = include_str!("../../../../docs/operate/metrics.md");

#[tokio::test]
async fn what_happens_is_counted_and_nothing_of_one_session_is_shown() {
    let server = serve(&[("one", "steps:\n  - text: Hello.\n")]);
    let client = server.client();
    let session = client.new_plain_session("scripted/one").await;
    session.prompt("go").await;
    session.turn_end(0).await;
    session.shell("true").await;
    client.get(&session.path("/nothing")).await;
    let mut follower = session.follow(0).await;
    // Its first event shows that it is being served.
    follower.next().await;

    let text = scrape(&client).await;
    for line in [
        r#"deskhand_http_requests_total{route="/api/sessions",method="POST",status="201"} 1"#,
        r#"deskhand_http_requests_total{route="page",method="GET",status="404"} 1"#,
        r#"deskhand_http_request_duration_seconds_count{route="/api/sessions/{id}/messages",method="POST"} 1"#,
        r#"deskhand_stream_clients{kind="events"} 1"#,
        r#"deskhand_sessions{state="idle"} 1"#,
        r#"deskhand_sessions{state="running"} 0"#,
        "deskhand_waiting_prompts 0",
        r#"deskhand_turn_duration_seconds_count{outcome="done"} 1"#,
        r#"deskhand_action_duration_seconds_count{tool="bash",outcome="done"} 1"#,
        "deskhand_sandboxes 1",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    assert!(!text.contains(&session.id));
    assert!(!text.contains(&server.token()));

    session.terminate().await;
    let after = scrape(&client).await;
    assert!(after.contains("deskhand_sandboxes 0"), "{after}");
    assert!(
        cpu(&after) >= cpu(&text),
        "the time of ended sandboxes stays"
    );
}

#[tokio::test]
async fn every_figure_is_in_the_docs_and_every_one_in_the_docs_is_shown() {
    let server = serve(&[("one", "steps:\n  - text: Hello.\n")]);
    let client = server.client();
    let session = client.new_session("scripted/one").await;
    session.prompt("go").await;
    session.turn_end(0).await;
    session.shell("true").await;
    let _watching = session.follow(0).await.next().await;
    let _screen = Watcher::open(&session).await;

    let text = scrape(&client).await;
    let shown: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let mut documented: BTreeSet<_> = DOCS
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split('`').next())
        .collect();
    if !text.contains("deskhand_sandbox_memory_bytes ") {
        documented.retain(|name| !name.starts_with("deskhand_sandbox_"));
    }
    assert_eq!(shown, documented);
}

#[tokio::test]
async fn figures_are_not_for_strangers() {
    let server = serve(&[]);
    let stranger = server.client().with_token("");
    let refused = stranger.get("/metrics").await;
    assert_eq!(
        (refused.status, refused.code()),
        (401, "not_signed_in".to_owned())
    );
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let refused = bob.get("/metrics").await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, "not_administrator".to_owned())
    );
    let reads = json!({"name": "reads", "scope": "read"});
    let token = admin.post("/api/tokens", reads).await.good();
    let reader = admin.with_token(token["token"].as_str().unwrap());
    let refused = reader.get("/metrics").await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, "narrow_scope".to_owned())
    );
    let figures = json!({"name": "prometheus", "scope": "metrics"});
    let token = admin.post("/api/tokens", figures.clone()).await.good();
    let monitor = admin.with_token(token["token"].as_str().unwrap());
    assert!(scrape(&monitor).await.contains("deskhand_sessions"));
    for refused in [
        monitor.get("/api/me").await,
        monitor.get("/api/sessions").await,
        monitor.upgrade("/api/events").await,
    ] {
        assert_eq!((refused.status, &*refused.code()), (403, "narrow_scope"));
    }
    let token = bob.post("/api/tokens", figures).await.good();
    let monitor = admin.with_token(token["token"].as_str().unwrap());
    let refused = monitor.get("/metrics").await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "not_administrator")
    );
    let made_up = reqwest::Method::from_bytes(b"MADEUP").unwrap();
    stranger.send(made_up, "/made/up", None).await;
    stranger.try_sign_in(json!({"code": "x"}), &[]).await;
    let text = scrape(&server.client()).await;
    assert!(
        !text.contains("MADEUP") && !text.contains("made/up"),
        "{text}"
    );
}

async fn scrape(client: &Client) -> String {
    let answer = client.get("/metrics").await;
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.body).unwrap()
}

/// The sandboxes' processor time; 0 where the machine cannot tell.
fn cpu(text: &str) -> u64 {
    let name = "deskhand_sandbox_cpu_milliseconds_total ";
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name));
    value.map_or(0, |value| value.parse().unwrap())
}
