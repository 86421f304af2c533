//! Sessions fall asleep when nobody needs them and wake when somebody does.

use std::time::Duration;

use deskhand_core::{
    event::{Event, EventBody, Status},
    session::SandboxState,
};
use deskhand_testkit::{Session, Watcher};
use deskhand_world::{World, WorldOptions};
use serde_json::json;

/// How long a session idles before it sleeps.
const IDLE: Duration = Duration::from_mins(15);
/// How long a page counts as visible after it said so.
const VISIBLE: Duration = Duration::from_secs(75);

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

/// Waits until the session sleeps because nobody needs it.
async fn asleep(world: &World, session: &Session, after: u64) -> u64 {
    sandbox(session, after, SandboxState::Ready).await;
    // The server may not yet have noticed that the last one who needed it is gone.
    for _ in 0..3 {
        world.pass(IDLE).await;
        if session.show().await["sandbox"] == "stopped" {
            break;
        }
    }
    let (seq, status) = sandbox(session, after, SandboxState::Stopped).await;
    let reason = status.reason.unwrap();
    assert!(
        reason.contains("The desktop was idle for 15 min"),
        "{reason}"
    );
    seq
}

fn is_output(body: &EventBody) -> bool {
    matches!(body, EventBody::ToolResult(result) if result.partial)
}

#[tokio::test]
async fn actions_by_hand_and_an_opened_screen_wake_it() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let seq = asleep(&world, &session, 0).await;
    assert_eq!(session.shell("echo awake").await.trim(), "awake");
    let seq = asleep(&world, &session, seq).await;

    let watcher = Watcher::open(&session).await;
    sandbox(&session, seq, SandboxState::Ready).await;
    drop(watcher);
    asleep(&world, &session, seq).await;

    let reader = json!({"name": "reader", "scope": "read"});
    let reader = world.client().post("/api/tokens", reader).await.good();
    let reader = world.client().with_token(reader["token"].as_str().unwrap());
    let refused = reader.upgrade(&session.path("/vnc")).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (409, "no_sandbox"),
        "who only reads wakes nobody"
    );
    let told = format!(
        "session {} has no running computer; it starts with the next message",
        session.id
    );
    assert_eq!(refused.json()["error"]["message"], told);
}

#[tokio::test]
async fn work_and_a_visible_page_keep_it_awake() {
    let slow = r#"
steps:
  - text: "This takes longer than a session may idle."
    calls:
      - bash: {command: "echo begun; sleep 100; echo done"}
  - text: "{{ result.1 }}"
"#;
    let options = WorldOptions::default().knowing(&[("slow", slow)]);
    let idle = Duration::from_secs(50);
    let world = World::with(options.limited(|limits| limits.idle = idle)).await;
    let session = world.client().new_session("scripted/slow").await;
    session.prompt("go").await;
    session.wait_for(0, is_output).await;
    world.pass(Duration::from_secs(100)).await;
    let end = session.turn_end(0).await;
    let stopped = |events: &[serde_json::Value]| {
        let stops = events
            .iter()
            .filter(|event| event["data"]["sandbox"] == "stopped");
        stops.count()
    };
    assert_eq!(stopped(&session.events(0).await), 0, "not while it works");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "begun\ndone");

    let mut page = session.follow(end.seq).await;
    for _ in 0..5 {
        page.heartbeat().await;
        world.pass(idle).await;
    }
    assert_eq!(
        stopped(&session.events(0).await),
        0,
        "not while somebody looks"
    );
    world.pass(VISIBLE + idle).await;
    sandbox(&session, end.seq, SandboxState::Stopped).await;
}

#[tokio::test]
async fn a_sandbox_that_has_lived_long_enough_ends_and_the_turn_is_told() {
    let long = r#"
steps:
  - text: "This takes longer than a desktop may live."
    calls:
      - bash: {command: "echo begun; sleep 110"}
  - text: "I try again."
    calls:
      - bash: {command: "echo alive"}
  - text: "{{ result.1 }}"
"#;
    let options = WorldOptions::default().knowing(&[("long", long)]);
    let life = Duration::from_secs(100);
    let world = World::with(options.limited(|limits| limits.life = life)).await;
    let session = world.client().new_session("scripted/long").await;
    session.prompt("go").await;
    session.wait_for(0, is_output).await;
    world.pass(life).await;
    let (seq, status) = sandbox(&session, 0, SandboxState::Stopped).await;
    let reason = status.reason.unwrap();
    assert!(
        reason.contains("had run for 100 s, which is its limit"),
        "{reason}"
    );
    assert_eq!(status.state.name(), "running", "the turn goes on");
    let end = session.turn_end(seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let told = session.events(0).await.into_iter().any(|event| {
        let text = event["data"]["text"].as_str().unwrap_or_default();
        event["type"] == "tool_result"
            && text.contains("had run for 100 s")
            && text.contains("not known whether")
    });
    assert!(told, "{:?}", session.events(0).await);
    assert_eq!(session.messages().await.last().unwrap()["content"], "alive");
}

#[tokio::test]
async fn a_sleeping_session_can_be_ended() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("echo kept > ~/kept").await;
    asleep(&world, &session, 0).await;
    let kept = || {
        let id = session.id.parse().unwrap();
        world.sandboxes().file(id, "/home/agent/kept")
    };
    assert!(kept().is_some());
    session.terminate().await;
    assert_eq!(session.show().await["state"], "terminated");
    assert!(kept().is_none());
    let refused = session.send("hello?", "queue").await;
    assert_eq!((refused.status, &*refused.code()), (409, "session_ended"));
}
