//! The database goes away and comes back in the middle of everything.

use std::collections::HashSet;

use deskhand_core::event::EventBody;
use deskhand_testkit::{Postgres, Server, eventually};
use serde_json::json;

use crate::world::serve_set;

/// Each step leaves a line, so that one done twice is seen.
const STEPS: &str = r#"
turns:
  - steps:
      - text: "One."
        calls:
          - bash: {command: "echo 1 >> ~/done; sleep 2"}
      - text: "Two."
        calls:
          - bash: {command: "echo 2 >> ~/done; sleep 2"}
      - text: "Three."
        calls:
          - bash: {command: "echo 3 >> ~/done; sleep 2"}
      - text: "Four."
        calls:
          - bash: {command: "paste -sd ' ' ~/done"}
      - text: "I did {{ result.1 }}"
  - steps:
      - text: "I am still here."
"#;

/// Waits until the server's log has said this so often.
fn said(server: &Server, text: &str, times: usize) {
    eventually(text, || server.log().matches(text).count() >= times);
}

#[tokio::test]
async fn turns_outlive_a_database_that_goes_away_and_do_nothing_twice() {
    let mut database = Postgres::start().await;
    let url = database.url();
    let server = serve_set(&[("steps", STEPS)], &[("DESKHAND_DATABASE", &url)]);
    let client = server.client();
    let sessions = [
        client.new_plain_session("scripted/steps").await,
        client.new_plain_session("scripted/steps").await,
    ];
    for session in &sessions {
        session.shell("true").await;
        session.prompt("go").await;
    }
    let works =
        |body: &EventBody| matches!(body, EventBody::ToolUse(tool_use) if tool_use.turn.is_some());
    sessions[1].wait_for(0, works).await;

    for round in 1..=2 {
        database.stop_at_once();
        said(
            &server,
            "the database is unavailable; operations that need it wait",
            round,
        );
        let refused = sessions[0].send("more", "queue").await;
        assert_eq!((refused.status, &*refused.code()), (503, "no_database"));
        assert_eq!(refused.retry_after, Some(1));
        assert_eq!(client.get("/health").await.status, 503);
        database.start_again().await;
        said(&server, "the database is available again", round);
    }

    for session in &sessions {
        let end = session.turn_end(0).await;
        assert!(
            matches!(end.body, EventBody::Complete(_)),
            "{end:?}\n{}",
            server.log()
        );
        let messages = session.messages().await;
        assert_eq!(messages.last().unwrap()["content"], "I did 1 2 3");
        let events = session.events(0).await;
        let numbers: Vec<_> = events
            .iter()
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(
            numbers,
            (1..=numbers.last().copied().unwrap()).collect::<Vec<_>>()
        );
        for kind in ["tool_use", "tool_result"] {
            let mut calls = HashSet::new();
            for event in events.iter().filter(|event| event["type"] == kind) {
                let is_whole = event["data"]["partial"] != json!(true);
                assert!(
                    !is_whole || calls.insert(event["data"]["call"].clone()),
                    "{event} twice"
                );
            }
        }
        session.prompt("once more").await;
        let end = session.turn_end(end.seq).await;
        assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    }
}
