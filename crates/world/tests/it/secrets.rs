//! Secrets: where they may be typed, who is shown what before, and what stays hidden.

use std::{path::PathBuf, time::Duration};

use deskhand_core::{event::EventBody, id::SessionId, sandbox::RunnerRequest, secret::Secret};
use deskhand_store::KeyFile;
use deskhand_testkit::{Session, sandboxes::FakeSandbox};
use deskhand_world::World;
use serde_json::{Value, json};

const FILLS: &str = r#"
steps:
  - calls:
      - bash: {command: "echo ready"}
  - calls:
      - fill_secret: {name: bank}
  - text: "{{ last_result }}"
"#;
const BANK: &str = "https://bank.example";
const VALUE: &str = "open sesame";

async fn world() -> World {
    let world = World::start(&[("fills", FILLS)]).await;
    store(&world, VALUE).await;
    world
}

async fn store(world: &World, value: &str) {
    let body = json!({"value": value, "origins": [BANK]});
    let stored = world.client().put("/api/secrets/bank", body).await;
    assert_eq!(stored.status, 204, "{:?}", stored.code());
}

/// A session whose computer runs, with the focus in a field of this origin.
async fn session_at(world: &World, origin: &str, approvals: Value) -> Session {
    let new = json!({"model": "scripted/fills", "approvals": approvals});
    let new = world.client().post("/api/sessions", new).await.good();
    let session = world.client().session(new["id"].as_str().unwrap());
    session.shell("echo up").await;
    focus(world, &session, origin);
    session
}

fn sandbox(world: &World, session: &Session) -> std::sync::Arc<FakeSandbox> {
    let id: SessionId = session.id.parse().unwrap();
    world.sandboxes().running(id).unwrap()
}

fn focus(world: &World, session: &Session, origin: &str) {
    sandbox(world, session).set_focus(Some(origin.parse().unwrap()));
}

/// Returns true if the computer was ever sent a value.
fn was_sent(sandbox: &FakeSandbox) -> bool {
    let requests = sandbox.carried_out();
    requests
        .iter()
        .any(|request| matches!(request, RunnerRequest::TypeSecret(_)))
}

async fn last_words(session: &Session) -> String {
    session.turn_end(0).await;
    let messages = session.messages().await;
    messages.last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn answer(session: &Session, meanwhile: impl FnOnce()) -> String {
    let raised = session.wait_for(0, |body| matches!(body, EventBody::Decision(_)));
    let EventBody::Decision(raised) = raised.await.body else {
        panic!("a decision was raised");
    };
    meanwhile();
    let path = session.path(&format!("/decisions/{}/answer", raised.decision));
    session
        .client
        .post(&path, json!({"yes": true}))
        .await
        .good();
    raised.ask.prompt
}

#[tokio::test]
async fn on_another_origin_nobody_is_asked_and_no_value_is_sent() {
    let world = world().await;
    for approvals in [json!({"mode": "risky"}), json!({"mode": "never"})] {
        let session = session_at(&world, "https://evil.example", approvals).await;
        session.prompt("Fill it in.").await;
        let words = last_words(&session).await;
        let told = "Nothing was typed: the field is on a page of https://evil.example, and this secret may only be \
                    typed on https://bank.example.";
        assert!(words.contains(told), "{words}");
        assert!(!was_sent(&sandbox(&world, &session)));
        let is_asked = |event: &Value| event["type"] == "decision";
        assert!(!session.events(0).await.iter().any(is_asked));
    }
}

#[tokio::test]
async fn people_are_shown_the_origin_before_they_agree() {
    let world = world().await;
    let session = session_at(&world, BANK, json!({"mode": "risky"})).await;
    session.prompt("Fill it in.").await;
    let prompt = answer(&session, || ()).await;
    let question = "The agent wants to type the secret bank into a page of https://bank.example, titled “A page”.";
    assert_eq!(prompt, question);
    last_words(&session).await;
    assert_eq!(sandbox(&world, &session).typed(), [Secret::new(VALUE)]);
}

#[tokio::test]
async fn a_page_that_changes_while_people_think_gets_nothing() {
    let world = world().await;
    let session = session_at(&world, BANK, json!({"mode": "risky"})).await;
    session.prompt("Fill it in.").await;
    answer(&session, || focus(&world, &session, "https://evil.example")).await;
    let words = last_words(&session).await;
    assert!(
        words.contains("on a page of https://evil.example"),
        "{words}"
    );
    assert!(!was_sent(&sandbox(&world, &session)));
}

#[tokio::test]
async fn a_replaced_value_stays_hidden_until_the_session_ends() {
    let mut world = world().await;
    let session = session_at(&world, BANK, json!({"mode": "never"})).await;
    session.prompt("Fill it in.").await;
    last_words(&session).await;
    store(&world, "another value").await;
    let removed = world.client().delete("/api/secrets/bank").await;
    assert_eq!(removed.status, 204);
    world.restart().await;

    let session = world.client().session(&session.id);
    let said = session.shell(&format!("echo {VALUE}")).await;
    assert_eq!(said, "[secret bank]");
    assert_eq!(sandbox(&world, &session).covered(), [Secret::new(VALUE)]);
}

#[tokio::test]
async fn all_secrets_are_sealed_again_with_a_new_key() {
    let world = world().await;
    let path: PathBuf = world.folder().join("secrets.key");
    KeyFile::at(&path).rotate().await.unwrap();
    world.pass(Duration::from_secs(61)).await;
    // The older key is no longer needed.
    let keys = std::fs::read_to_string(&path).unwrap();
    let newest = keys.lines().last().unwrap();
    std::fs::write(&path, newest).unwrap();

    let session = session_at(&world, BANK, json!({"mode": "never"})).await;
    session.prompt("Fill it in.").await;
    last_words(&session).await;
    assert_eq!(sandbox(&world, &session).typed(), [Secret::new(VALUE)]);
}
