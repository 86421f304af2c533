//! Sessions fall asleep when nobody needs them and wake when somebody does.

use deskhand_core::{
    event::{Event, EventBody, Status},
    session::SandboxState,
};
use deskhand_testkit::{Session, Watcher, processes_with_mount};
use serde_json::json;

use crate::world::serve_set;

const IDLE: (&str, &str) = ("DESKHAND_LIMITS_IDLE_SECONDS", "1");

const KEPT: &str = r#"
turns:
  - steps:
      - text: "I write something down."
        calls:
          - bash: {command: "echo remembered > ~/kept"}
      - text: "Written."
  - steps:
      - text: "I look it up."
        calls:
          - bash: {command: "cat ~/kept"}
      - text: "It says: {{ result.1 }}"
"#;

/// Waits for the sandbox to be in this state after `after`.
async fn sandbox(session: &Session, after: u64, state: SandboxState) -> (u64, Status) {
    let is_it =
        |body: &EventBody| matches!(body, EventBody::Status(status) if status.sandbox == state);
    let Event { seq, body, .. } = session.wait_for(after, is_it).await;
    let EventBody::Status(status) = body else {
        unreachable!()
    };
    (seq, status)
}

#[tokio::test]
async fn an_idle_session_sleeps_and_the_next_message_finds_its_files() {
    let server = serve_set(&[("kept", KEPT)], &[IDLE]);
    let session = server.client().new_session("scripted/kept").await;
    session.prompt("write").await;
    session.turn_end(0).await;
    let (seq, status) = sandbox(&session, 0, SandboxState::Stopped).await;
    let reason = status.reason.unwrap();
    assert!(reason.contains("The desktop was idle for 1 s"), "{reason}");
    assert_eq!(status.state.name(), "idle");
    assert!(
        processes_with_mount(&server.mark()).is_empty(),
        "nothing runs for it"
    );

    session.prompt("look").await;
    let end = session.turn_end(seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "It says: remembered");
    sandbox(&session, end.seq, SandboxState::Stopped).await;
}

#[tokio::test]
async fn actions_by_hand_and_an_opened_screen_wake_it() {
    let server = serve_set(&[], &[IDLE]);
    let session = server.client().new_session("scripted/demo").await;
    let (seq, _) = sandbox(&session, 0, SandboxState::Stopped).await;
    assert_eq!(session.shell("echo awake").await.trim(), "awake");
    let (seq, _) = sandbox(&session, seq, SandboxState::Stopped).await;

    let watcher = Watcher::open(&session).await;
    let (seq, _) = sandbox(&session, seq, SandboxState::Ready).await;
    drop(watcher);
    sandbox(&session, seq, SandboxState::Stopped).await;

    let reader = json!({"name": "reader", "scope": "read"});
    let reader = server.client().post("/api/tokens", reader).await.good();
    let reader = server
        .client()
        .with_token(reader["token"].as_str().unwrap());
    let refused = reader.upgrade(&session.path("/vnc")).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (409, "no_sandbox"),
        "who only reads wakes nobody"
    );
}

#[tokio::test]
async fn work_and_a_visible_page_keep_it_awake() {
    let slow = r#"
steps:
  - text: "This takes longer than a session may idle."
    calls:
      - bash: {command: "sleep 2.5; echo done"}
  - text: "{{ result.1 }}"
"#;
    let server = serve_set(&[("slow", slow)], &[IDLE]);
    let session = server.client().new_session("scripted/slow").await;
    session.prompt("go").await;
    let end = session.turn_end(0).await;
    let stopped = |events: &[serde_json::Value]| {
        let stops = events
            .iter()
            .filter(|event| event["data"]["sandbox"] == "stopped");
        stops.count()
    };
    assert_eq!(stopped(&session.events(0).await), 0, "not while it works");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "done");

    let mut page = session.follow(end.seq).await;
    let looked_from = tokio::time::Instant::now();
    while looked_from.elapsed() < std::time::Duration::from_millis(2_500) {
        page.heartbeat().await;
        // Not a wait for something: this is how often the page says that it is visible.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
    assert_eq!(
        stopped(&session.events(0).await),
        0,
        "not while somebody looks"
    );
    sandbox(&session, end.seq, SandboxState::Stopped).await;
}

#[tokio::test]
async fn a_sandbox_that_has_lived_long_enough_ends_and_the_turn_is_told() {
    let long = r#"
steps:
  - text: "This takes longer than a desktop may live."
    calls:
      - bash: {command: "sleep 300"}
  - text: "I try again."
    calls:
      - bash: {command: "echo alive"}
  - text: "{{ result.1 }}"
"#;
    let server = serve_set(&[("long", long)], &[("DESKHAND_LIMITS_LIFE_SECONDS", "3")]);
    let session = server.client().new_session("scripted/long").await;
    session.prompt("go").await;
    let (seq, status) = sandbox(&session, 0, SandboxState::Stopped).await;
    let reason = status.reason.unwrap();
    assert!(
        reason.contains("had run for 3 s, which is its limit"),
        "{reason}"
    );
    assert_eq!(status.state.name(), "running", "the turn goes on");
    let end = session.turn_end(seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let told = session.events(0).await.into_iter().any(|event| {
        let text = event["data"]["text"].as_str().unwrap_or_default();
        event["type"] == "tool_result"
            && text.contains("had run for 3 s")
            && text.contains("not known whether")
    });
    assert!(told, "{:?}", session.events(0).await);
    assert_eq!(session.messages().await.last().unwrap()["content"], "alive");
}

#[tokio::test]
async fn a_sleeping_session_can_be_ended() {
    let server = serve_set(&[], &[IDLE]);
    let session = server.client().new_session("scripted/demo").await;
    sandbox(&session, 0, SandboxState::Stopped).await;
    assert!(server.home_of(&session).exists());
    session.terminate().await;
    assert_eq!(session.show().await["state"], "terminated");
    assert!(!server.home_of(&session).exists());
    let refused = session.send("hello?", "queue").await;
    assert_eq!((refused.status, &*refused.code()), (409, "session_ended"));
}
