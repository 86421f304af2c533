//! A server that is asked to end tells everybody, ends in time, and goes on next time.

use std::time::{Duration, Instant};

use deskhand_core::{event::EventBody, session::SandboxState};
use deskhand_testkit::processes_with_mount;

use crate::world::serve_set;

const LONG: &str = r#"
turns:
  - steps:
      - text: "I start something long."
        calls:
          - bash: {command: "echo started; sleep 300"}
      - text: "It took long."
  - steps:
      - text: "That was short."
"#;

const ECHO: &str = r#"
steps:
  - text: "You said: {{ prompt }}"
"#;

#[tokio::test]
async fn everybody_is_told_and_everything_goes_on_where_it_was() {
    let scenarios = [("long", LONG), ("echo", ECHO)];
    let mut server = serve_set(&scenarios, &[("DESKHAND_LIMITS_AWAKE_SESSIONS", "3")]);
    let client = server.client();
    let asleep = client.new_plain_session("scripted/echo").await;
    asleep.prompt("before").await;
    asleep.turn_end(0).await;
    // Its computer is ready before the next session exists, so this session is the one that is idle for longest.
    asleep.shell("true").await;
    let idle = client.new_plain_session("scripted/echo").await;
    idle.shell("echo kept > ~/kept").await;
    let mut working = Vec::new();
    for _ in 0..2 {
        let session = client.new_plain_session("scripted/long").await;
        session.prompt("work").await;
        session.prompt("and then this").await;
        let works =
            |body: &EventBody| matches!(body, EventBody::ToolResult(result) if result.partial);
        session.wait_for(0, works).await;
        working.push(session);
    }
    asleep
        .wait_for(0, |body| matches!(body, EventBody::Status(status) if status.sandbox == SandboxState::Stopped))
        .await;
    let mut bus = client.bus().await;
    let newest = working[0].show().await["last_seq"].as_u64().unwrap();
    let mut stream = working[0].follow(newest).await;

    let asked = Instant::now();
    let told = async {
        let notice = bus.next_of("notice").await;
        assert_eq!(notice["code"], "shutting_down");
        (bus.closed().await.0, stream.closed().await.0)
    };
    let ended = tokio::task::spawn_blocking(move || {
        let code = server.terminate();
        (server, code)
    });
    let (closed, ended) = tokio::join!(told, ended);
    let (mut server, code) = ended.unwrap();
    // The commands would take 300 s.
    assert!(
        asked.elapsed() < Duration::from_secs(60),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(code, Some(0), "{}", server.log());
    assert_eq!(closed, (1001, 1001));
    assert!(processes_with_mount(&server.mark()).is_empty());

    server.start_again();
    let client = server.client();
    for session in &working {
        let session = client.session(&session.id);
        let first = session.turn_end(0).await;
        let second = session.turn_end(first.seq).await;
        assert!(matches!(second.body, EventBody::Complete(_)), "{second:?}");
        let messages = session.messages().await;
        let answers = messages
            .iter()
            .filter(|message| message["role"] == "assistant");
        assert_eq!(answers.count(), 2, "{messages:?}");
    }
    let idle = client.session(&idle.id);
    assert_eq!(idle.show().await["sandbox"], "stopped");
    assert_eq!(idle.shell("cat ~/kept").await.trim(), "kept");
    let asleep = client.session(&asleep.id);
    let newest = asleep.show().await["last_seq"].as_u64().unwrap();
    asleep.prompt("after").await;
    asleep.turn_end(newest).await;
    let messages = asleep.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "You said: after");
}
