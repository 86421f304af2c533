//! A real computer falls asleep when nobody needs it, and wakes with its files.

use deskhand_core::{
    event::{Event, EventBody, Status},
    session::SandboxState,
};
use deskhand_testkit::{Session, processes_with_mount};

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
    let session = server.client().new_plain_session("scripted/kept").await;
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
