//! Things die in the middle of the work, and the log says so.

use deskhand_core::event::EventBody;
use deskhand_testkit::{eventually, kill, processes_with_mount};
use serde_json::json;

use crate::world::serve;

const SLOW: &str = r#"
turns:
  - steps:
      - text: "I start something long."
        calls:
          - bash: {command: "echo started; sleep 300"}
      - text: "It took long."
  - steps:
      - text: "And here I am again."
        calls:
          - bash: {command: "cat ~/kept; echo alive"}
      - text: "Done: {{ result.1 }}"
"#;

/// The pid of a process in the sandbox whose command line contains `what`.
fn process(mark: &str, what: &str) -> i32 {
    let mut found = None;
    eventually(&format!("{what} runs in the sandbox"), || {
        found = processes_with_mount(mark)
            .into_iter()
            .find(|(_, command)| command.contains(what));
        found.is_some()
    });
    found.unwrap().0
}

#[tokio::test]
async fn a_server_killed_in_the_middle_of_a_turn_says_so_and_goes_on() {
    let mut server = serve(&[("slow", SLOW)]);
    let session = server.client().new_plain_session("scripted/slow").await;
    session.shell("echo before the crash > ~/kept").await;
    session.prompt("work").await;
    session
        .wait_for(
            0,
            |body| matches!(body, EventBody::ToolResult(result) if result.partial),
        )
        .await;
    let before = session.events(0).await;

    server.kill();
    let mark = server.mark();
    eventually("no process is left", || {
        processes_with_mount(&mark).is_empty()
    });
    server.start_again();

    let session = server.client().session(&session.id);
    let after = session.events(0).await;
    assert_eq!(after[..before.len()], before[..], "history is complete");
    let told = &after[before.len()]["data"];
    assert_eq!(
        (&told["state"], &told["sandbox"]),
        (&json!("running"), &json!("lost")),
        "{told}"
    );
    assert!(told["reason"].as_str().unwrap().contains("goes on"));

    // The turn goes on: what was under way is not done again but told as unknown.
    let end = session.turn_end(before.len() as u64).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let after = session.events(0).await;
    let uses = after.iter().filter(|event| event["type"] == "tool_use");
    let mut calls: Vec<_> = uses.map(|event| event["data"]["call"].clone()).collect();
    let n_calls = calls.len();
    calls.dedup();
    assert_eq!(calls.len(), n_calls, "nothing is begun twice");
    let unknown = after.iter().any(|event| {
        let text = event["data"]["text"].as_str().unwrap_or_default();
        event["type"] == "tool_result" && text.contains("not known whether")
    });
    assert!(unknown, "{after:?}");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "It took long.");

    session.prompt("and again").await;
    let end = session.turn_end(end.seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.client.get(&session.path("/messages")).await.good();
    let answer = messages["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(answer, "Done: before the crash\nalive");
}

#[tokio::test]
async fn a_sandbox_that_dies_is_reported_and_started_again_for_the_next_prompt() {
    let server = serve(&[("slow", SLOW)]);
    let session = server.client().new_session("scripted/slow").await;
    session.shell("echo before the crash > ~/kept").await;
    for program in ["Xvnc", "deskhand runner"] {
        let newest = session.show().await["last_seq"].as_u64().unwrap();
        assert!(kill(process(&server.mark(), program)));
        let lost = session
            .wait_for(
                newest,
                |body| matches!(body, EventBody::Status(status) if status.sandbox.name() == "lost"),
            )
            .await;
        let EventBody::Status(status) = lost.body else {
            unreachable!()
        };
        assert!(status.reason.is_some_and(|reason| !reason.is_empty()));
        assert_eq!(session.shell("cat ~/kept").await.trim(), "before the crash");
    }
}

#[tokio::test]
async fn a_browser_that_dies_leaves_the_desktop_usable() {
    let server = serve(&[]);
    let session = server.client().new_session("scripted/demo").await;
    session.shell("true").await;
    assert!(kill(process(&server.mark(), "--user-data-dir")));
    let done = session
        .act("computer", json!({"action": "screenshot"}))
        .await;
    assert_eq!(done["is_error"], false, "{done}");
    assert!(done["screenshot"].is_string());
}

#[tokio::test]
async fn stop_ends_the_turn_and_the_shell_survives() {
    let server = serve(&[("slow", SLOW)]);
    let session = server.client().new_plain_session("scripted/slow").await;
    session.prompt("work").await;
    let started = session
        .wait_for(
            0,
            |body| matches!(body, EventBody::ToolResult(result) if result.partial),
        )
        .await;
    session
        .client
        .post(&session.path("/stop"), json!({}))
        .await
        .good();
    let end = session.turn_end(started.seq).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(complete.outcome, deskhand_core::event::Outcome::Stopped);
    let took_ms = end.at.as_millisecond() - started.at.as_millisecond();
    // The command would take 300 s. That a stop takes less than a second is tested with paused time, in `agent`.
    assert!(took_ms < 60_000, "{took_ms} ms");
    assert_eq!(session.shell("echo alive").await.trim(), "alive");
}

#[tokio::test]
async fn a_server_asked_to_end_parks_its_turns_and_goes_on_next_time() {
    let mut server = serve(&[("slow", SLOW)]);
    let session = server.client().new_plain_session("scripted/slow").await;
    session.prompt("work").await;
    session
        .wait_for(
            0,
            |body| matches!(body, EventBody::ToolResult(result) if result.partial),
        )
        .await;
    assert_eq!(server.terminate(), Some(0), "{}", server.log());
    let mark = server.mark();
    assert!(processes_with_mount(&mark).is_empty());
    server.start_again();
    let session = server.client().session(&session.id);
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let events = session.events(0).await;
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|event| event["data"]["reason"].as_str())
        .collect();
    let [parked, goes_on] = &reasons[..] else {
        panic!("{reasons:?}");
    };
    assert!(parked.contains("shutting down"), "{parked}");
    assert!(goes_on.contains("restarted"), "{goes_on}");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "It took long.");
}

#[tokio::test]
async fn sandboxes_that_just_start_end_with_a_server_that_is_killed() {
    let mut server = serve(&[]);
    for delay_ms in [0, 2, 4, 6, 8, 10, 15, 30, 60] {
        for _ in 0..2 {
            server.client().new_session("scripted/demo").await;
        }
        // Not a wait for something: a different moment of the start each time.
        tokio::time::sleep(std::time::Duration::from_millis(delay_ms)).await;
        server.kill();
        let mark = server.mark();
        eventually("no process is left", || {
            processes_with_mount(&mark).is_empty()
        });
        server.start_again();
    }
}
