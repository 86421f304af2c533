//! Approvals of commands on a real computer, and questions that outlive a killed server.

use deskhand_core::event::EventBody;
use deskhand_testkit::{Server, Session};
use serde_json::{Value, json};

use crate::world::serve;

/// Asks once and says what it was told.
fn asking(question: &str) -> String {
    format!(
        r#"
steps:
  - text: "I have to ask."
    calls:
      - ask_user: {question}
  - text: "Told: {{{{ result.1 }}}}"
"#
    )
}

/// Wants to remove something.
const RISKY: &str = r#"
steps:
  - text: "I tidy up."
    calls:
      - bash: {command: "rm -rf ~/rubbish && echo tidy || git push"}
  - text: "Result: {{ result.1 }}"
"#;

async fn decision_of(session: &Session, after: u64) -> (Value, u64) {
    let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
    let seq = raised.await.seq;
    let open = session.client.get(&session.path("/decisions")).await.good();
    (open["decisions"][0].clone(), seq)
}

fn answer_path(session: &Session, decision: &Value) -> String {
    let id = decision["id"].as_str().unwrap();
    session.path(&format!("/decisions/{id}/answer"))
}

async fn last_words(session: &Session, after: u64) -> (String, u64) {
    let end = session.turn_end(after).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.messages().await;
    let words = messages.last().unwrap()["content"].as_str().unwrap();
    (words.to_owned(), end.seq)
}

/// Starts a session with this scenario and sends it to work.
async fn at_work(server: &Server, scenario: &str) -> Session {
    let model = format!("scripted/{scenario}");
    let session = server.client().new_plain_session(&model).await;
    session.prompt("go").await;
    session
}

#[tokio::test]
async fn a_risky_command_waits_for_a_yes_and_a_no_is_told_to_the_agent() {
    let server = serve(&[("risky", RISKY)]);
    let client = server.client();
    let session = client.new_plain_session("scripted/risky").await;
    assert_eq!(session.show().await["approvals"]["mode"], "risky");
    session.shell("mkdir rubbish").await;
    let rubbish = server.home_of(&session).join("rubbish");
    let mut after = session.show().await["last_seq"].as_u64().unwrap();
    for (yes, expected) in [
        (
            false,
            "Result: Not executed: a person was asked and said no.",
        ),
        (true, "Result: tidy"),
    ] {
        session.prompt("tidy up").await;
        let (decision, seq) = decision_of(&session, after).await;
        assert_eq!(decision["kind"], "approval");
        assert_eq!(
            decision["subject"]["input"]["command"],
            "rm -rf ~/rubbish && echo tidy || git push"
        );
        assert!(rubbish.exists(), "nothing is done before the answer");
        let path = answer_path(&session, &decision);
        client.post(&path, json!({"yes": yes})).await.good();
        let (words, end) = last_words(&session, seq).await;
        assert_eq!(words, expected);
        assert_eq!(rubbish.exists(), !yes);
        after = end;
    }
}

#[tokio::test]
async fn a_waiting_session_survives_a_kill_and_a_stop_of_the_server() {
    let question = asking("{question: \"?\"}");
    let mut server = serve(&[("asks", &question), ("risky", RISKY)]);
    let asks = at_work(&server, "asks").await;
    let risky = at_work(&server, "risky").await;
    let (question, _) = decision_of(&asks, 0).await;
    let (approval, _) = decision_of(&risky, 0).await;
    for round in 0..3 {
        if round == 1 {
            assert_eq!(server.terminate(), Some(0), "{}", server.log());
        } else {
            server.kill();
        }
        server.start_again();
        let open = server.client().get("/api/decisions").await.good();
        assert_eq!(open["decisions"].as_array().unwrap().len(), 2, "{open}");
        let asks = server.client().session(&asks.id);
        assert_eq!(asks.show().await["state"], "waiting");
    }
    let client = server.client();
    for (session, decision, answer, expected) in [
        (&asks, &question, json!({"text": "x"}), "Told: x"),
        (&risky, &approval, json!({"yes": true}), "Result: tidy"),
    ] {
        let session = client.session(&session.id);
        let path = answer_path(&session, decision);
        client.post(&path, answer).await.good();
        let (words, _) = last_words(&session, 0).await;
        assert!(words.starts_with(expected), "{words}");
        let events = session.events(0).await;
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!(count("decision"), 1, "nothing is asked twice");
        assert_eq!(count("cost"), 2, "the model is not asked again");
    }
}
