use deskhand_testkit::Session;
use deskhand_world::{World, WorldOptions};
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

use super::for_all;

const ECHO: &str = r#"
chunk_delay_ms: 0
steps:
  - text: "You said: {{ prompt }}"
"#;

#[derive(Debug, Clone)]
enum Sending {
    Good(String),
    /// Nothing but space.
    Blank(String),
    /// With a character that no text has.
    Broken(String),
}

fn sending() -> impl Strategy<Value = Sending> {
    let text = prop_oneof![
        4 => r"\PC{0,40}",
        2 => r"[ \n\ta-z{}]{0,40}",
        1 => any::<String>().prop_map(|text| text.replace('\0', "")),
        1 => "[a-zß谢🌿 ]{1000,5000}",
    ];
    // A word in front, so that there is something to answer.
    let good = text.prop_map(|text| Sending::Good(format!("x{text}x")));
    prop_oneof![
        8 => good,
        1 => r"[ \n\t]{0,5}".prop_map(Sending::Blank),
        1 => r"[a-z]{0,5}".prop_map(|text| Sending::Broken(format!("{text}\0"))),
    ]
}

/// **Feature: computer-use-backend, Property 2: Message processing and persistence**
///
/// Any message is stored when it is accepted, worked on, and in the history in order, which reads
/// the same in pages of any size. What is refused leaves nothing.
#[test]
fn a_message_is_stored_at_once_worked_on_and_in_the_history_in_order() {
    let cases = (vec(sending(), 1..7), 1..5_usize);
    let open = async |options: WorldOptions| World::with(options.knowing(&[("echo", ECHO)])).await;
    for_all(
        &cases,
        &open,
        &async |world: &mut World, (sendings, page_size)| {
            let session = world.client().new_session("scripted/echo").await;
            let mut accepted = Vec::new();
            for sending in &sendings {
                let (content, expected) = match sending {
                    Sending::Good(content) => (content, 202),
                    Sending::Blank(content) | Sending::Broken(content) => (content, 400),
                };
                let answer = session.send(content, "queue").await;
                assert_eq!(answer.status, expected, "{}", answer.json());
                if expected == 202 {
                    accepted.push(content.clone());
                }
                assert_eq!(said(&session.messages().await, "user"), accepted);
            }
            let mut end = 0;
            for _ in &accepted {
                end = session.turn_end(end).await.seq;
            }

            let history = session.messages().await;
            assert_eq!(said(&history, "user"), accepted);
            let answers = accepted.iter().map(|said| format!("You said: {said}"));
            assert_eq!(said(&history, "assistant"), answers.collect::<Vec<_>>());
            let log = session.events(0).await;
            let told = log.iter().filter(|event| event["type"] == "message");
            let told: Vec<_> = told.map(|event| &event["data"]["id"]).collect();
            let listed: Vec<_> = history.iter().map(|message| &message["id"]).collect();
            assert_eq!(listed, told, "in the order of the log");
            let place = |said: &str| {
                let mut contents = history.iter().map(|message| &message["content"]);
                contents.position(|content| content == said)
            };
            let answered = |said: &String| place(said) < place(&format!("You said: {said}"));
            assert!(
                accepted.iter().all(answered),
                "an answer comes after what it answers"
            );
            assert_eq!(in_pages(&session, page_size).await, history);
            session.terminate().await;
        },
    );
}

/// What somebody said, in the order of the history.
fn said(history: &[Value], role: &str) -> Vec<String> {
    let of_role = history.iter().filter(|message| message["role"] == role);
    let contents = of_role.map(|message| message["content"].as_str().unwrap());
    contents.map(str::to_owned).collect()
}

async fn in_pages(session: &Session, size: usize) -> Vec<Value> {
    let mut history = Vec::new();
    let mut after = String::new();
    loop {
        let path = session.path(&format!("/messages?limit={size}{after}"));
        let page = session.client.get(&path).await.good();
        let messages = page["messages"].as_array().unwrap();
        assert!(messages.len() <= size);
        history.extend(messages.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return history,
        }
    }
}
