//! Messages to an agent that is at work.

use deskhand_core::event::{EventBody, Outcome};
use serde_json::{Value, json};

use crate::world::serve;

/// A turn that goes on until a file is there, in small steps, and then says what it was told.
const PATIENT: &str = r#"
steps:
  - text: "I wait for the file."
    calls:
      - bash: {command: "until [ -e go ]; do sleep 0.05; done; rm go"}
  - text: "And once more."
    calls:
      - bash: {command: "echo on"}
  - text: "Asked {{ prompt }}, told {{ steering }}."
"#;

/// A turn that would take an hour, and others that answer at once.
const STUBBORN: &str = r#"
turns:
  - steps:
      - text: "This takes an hour."
        calls:
          - bash: {command: "sleep 3600"}
      - text: "Done."
  - steps:
      - text: "Now I do {{ prompt }}."
"#;

fn contents(queue: &Value) -> Vec<&str> {
    let messages = queue["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_message_that_steers_is_shown_at_the_next_step() {
    let server = serve(&[("patient", PATIENT)]);
    let session = server.client().new_plain_session("scripted/patient").await;
    session.prompt("one").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let sent = session.send("two", "steer").await.good();
    assert_eq!(sent["delivery"], "steer");
    session.send("three", "queue").await.good();
    // By hand nothing can be done while the agent works, so the file comes from outside.
    std::fs::write(server.home_of(&session).join("go"), "").unwrap();
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.messages().await;
    let answer = messages
        .iter()
        .find(|message| message["role"] == "assistant")
        .unwrap();
    assert_eq!(answer["content"], "Asked one, told two.");
    std::fs::write(server.home_of(&session).join("go"), "").unwrap();
    let end = session.turn_end(end.seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "Asked three, told .");
}

#[tokio::test]
async fn a_message_that_interrupts_ends_the_turn_and_begins_the_next() {
    let server = serve(&[("stubborn", STUBBORN)]);
    let session = server.client().new_plain_session("scripted/stubborn").await;
    session.prompt("one").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    session.send("waits", "queue").await.good();
    session.send("urgent", "interrupt").await.good();
    let end = session.turn_end(0).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{end:?}");
    };
    assert_eq!(complete.outcome, Outcome::Interrupted);
    let next = session.turn_end(end.seq).await;
    let last = session.turn_end(next.seq).await;
    assert!(matches!(last.body, EventBody::Complete(_)), "{last:?}");
    let messages = session.messages().await;
    let answers: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(answers[0].contains("urgent"), "{answers:?}");
    assert!(answers[1].contains("waits"), "{answers:?}");
}

#[tokio::test]
async fn the_queue_can_be_seen_changed_and_emptied_until_it_is_taken() {
    let server = serve(&[("stubborn", STUBBORN)]);
    let client = server.client();
    let session = client.new_plain_session("scripted/stubborn").await;
    let running = session.prompt("one").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let mut ids = Vec::new();
    for content in ["a", "b", "c"] {
        ids.push(session.prompt(content).await);
    }
    let queue = client.get(&session.path("/queue")).await.good();
    assert_eq!(contents(&queue), ["a", "b", "c"]);

    let entry = |id: &str| session.path(&format!("/queue/{id}"));
    let change = json!({"content": "C", "before": ids[0]});
    let queue = client.patch(&entry(&ids[2]), change).await.good();
    assert_eq!(contents(&queue), ["C", "a", "b"]);
    let queue = client
        .patch(&entry(&ids[2]), json!({"before": null}))
        .await
        .good();
    assert_eq!(contents(&queue), ["a", "b", "C"]);
    assert_eq!(client.delete(&entry(&ids[1])).await.status, 204);
    let queue = client.get(&session.path("/queue")).await.good();
    assert_eq!(contents(&queue), ["a", "C"]);

    for (id, change, status, code) in [
        (&running, json!({"content": "x"}), 409, "message_taken"),
        (&ids[1], json!({"content": "x"}), 404, "no_message"),
        (&ids[0], json!({}), 400, "malformed"),
        (&ids[0], json!({"content": "  "}), 400, "empty_message"),
        (&ids[0], json!({"content": "a\u{0}b"}), 400, "malformed"),
        (&ids[0], json!({"before": ids[0]}), 400, "malformed"),
        (&ids[0], json!({"before": ids[1]}), 404, "no_message"),
        (&ids[0], json!({"delivery": "pigeon"}), 400, "malformed"),
        (
            &"nonsense".to_owned(),
            json!({"content": "x"}),
            404,
            "bad_id",
        ),
    ] {
        let answer = client.patch(&entry(id), change.clone()).await;
        assert_eq!((answer.status, &*answer.code()), (status, code), "{change}");
    }
    // Making one of them urgent ends what runs.
    let urgent = json!({"delivery": "interrupt"});
    client.patch(&entry(&ids[2]), urgent).await.good();
    let end = session.turn_end(0).await;
    session.turn_end(end.seq).await;
    let messages = session.messages().await;
    let said: Vec<_> = messages
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(!said.contains(&"b"), "{said:?}");
    assert!(
        said.iter()
            .any(|text| text.contains("Now I do") && text.contains('C')),
        "{said:?}"
    );
}
