//! The event stream: whoever follows a session sees the same log, whenever they come and go.

use deskhand_core::event::EventBody;
use futures::future::join_all;

use crate::world::serve;

const CHATTY: &str = r#"
steps:
  - thinking: "One thing after the other."
    text: "I begin."
    calls:
      - bash: {command: "for i in 1 2 3 4 5; do echo line $i; done"}
  - text: "And on."
    calls:
      - computer: {action: screenshot}
  - text: "That was **all**, with ünïcödé 谢谢."
"#;

#[tokio::test]
async fn late_and_early_clients_receive_the_identical_log() {
    let server = serve(&[("chatty", CHATTY)]);
    let session = server.client().new_session("scripted/chatty").await;
    let mut early = session.follow(0).await;

    session.prompt("go").await;
    let end = session.turn_end(0).await;
    // The turn's end is followed by the session being idle again.
    let idle = session
        .wait_for(end.seq, |body| matches!(body, EventBody::Status(_)))
        .await
        .seq;

    let seen_early = early.up_to(idle).await;
    let seen_late = session.follow(0).await.up_to(idle).await;
    assert_eq!(seen_early, seen_late);

    let listed: Vec<String> = session
        .events(0)
        .await
        .iter()
        .map(ToString::to_string)
        .collect();
    let parsed = |events: &[String]| -> Vec<serde_json::Value> {
        events
            .iter()
            .map(|event| serde_json::from_str(event).unwrap())
            .collect()
    };
    assert_eq!(parsed(&seen_late), parsed(&listed));
    let numbers: Vec<u64> = parsed(&seen_late)
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(
        numbers,
        (1..=idle).collect::<Vec<_>>(),
        "numbered from 1 without gaps"
    );
}

#[tokio::test]
async fn a_client_cut_off_anywhere_goes_on_where_it_was() {
    let server = serve(&[("chatty", CHATTY)]);
    let session = server.client().new_session("scripted/chatty").await;
    session.prompt("go").await;

    // Cut off and back after every single event, while the turn runs.
    let mut seen = Vec::new();
    loop {
        let after = u64::try_from(seen.len()).unwrap();
        let text = session.follow(after).await.next().await;
        let event: deskhand_core::event::Event = serde_json::from_str(&text).unwrap();
        assert_eq!(event.seq, after + 1, "nothing is missed or repeated");
        let done = matches!(event.body, EventBody::Complete(_));
        seen.push(text);
        if done {
            break;
        }
    }
    let whole = session
        .follow(0)
        .await
        .up_to(u64::try_from(seen.len()).unwrap())
        .await;
    assert_eq!(seen, whole);
}

#[tokio::test]
async fn many_clients_at_once_see_the_same() {
    let server = serve(&[("chatty", CHATTY)]);
    let session = server.client().new_session("scripted/chatty").await;
    let clients = join_all((0..20).map(|_| session.follow(0))).await;
    session.prompt("go").await;
    let end = session.turn_end(0).await.seq;
    let seen = join_all(
        clients
            .into_iter()
            .map(|mut client| async move { client.up_to(end).await }),
    )
    .await;
    assert!(seen.iter().all(|events| *events == seen[0]));
}

#[tokio::test]
async fn prompts_sent_while_the_agent_works_are_taken_in_order() {
    let echo = r#"
steps:
  - text: "You said: {{ prompt }}"
"#;
    let server = serve(&[("echo", echo)]);
    let session = server.client().new_plain_session("scripted/echo").await;
    for prompt in ["first", "second", "third"] {
        session.prompt(prompt).await;
    }
    let mut after = 0;
    for _ in 0..3 {
        after = session.turn_end(after).await.seq;
    }
    let messages = session.client.get(&session.path("/messages")).await.good();
    let said: Vec<_> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        said,
        ["You said: first", "You said: second", "You said: third"]
    );
}
