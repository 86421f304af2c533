//! A stopped agent stays stopped: messages that wait are held until people release or remove them.

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::Session;
use deskhand_world::World;
use serde_json::{Value, json};

/// Asks before it answers, so that its turn lasts until it is stopped.
const ASKS: &str = r#"
turns:
  - steps:
      - calls: [{ask_user: {question: "Which one?"}}]
      - text: "Told."
  - steps:
      - text: "Done."
"#;

/// A session that was stopped while two messages waited.
async fn stopped(world: &World) -> (Session, u64) {
    let session = world.client().new_session("scripted/asks").await;
    session.prompt("go").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::Decision(_)))
        .await;
    session.send("one", "queue").await.good();
    session.send("two", "steer").await.good();
    let stop = session.client.post(&session.path("/stop"), json!({})).await;
    assert_eq!(stop.status, 202);
    let end = session.turn_end(0).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{end:?}");
    };
    assert_eq!(complete.outcome, Outcome::Stopped);
    (session, end.seq)
}

/// The texts of the waiting messages that are held, or are not.
async fn waiting(session: &Session, is_held: bool) -> Vec<String> {
    let queue = session.client.get(&session.path("/queue")).await.good();
    let messages = queue["messages"].as_array().unwrap().clone();
    let is_wanted = |message: &&Value| message["held"].as_bool().unwrap_or(false) == is_held;
    let wanted = messages.iter().filter(is_wanted);
    wanted
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

async fn first(session: &Session) -> String {
    let queue = session.client.get(&session.path("/queue")).await.good();
    let id = queue["messages"][0]["id"].as_str().unwrap();
    session.path(&format!("/queue/{id}"))
}

#[tokio::test]
async fn a_stop_holds_what_waits_also_over_a_restart() {
    let mut world = World::start(&[("asks", ASKS)]).await;
    let (session, seq) = stopped(&world).await;
    assert_eq!(session.show().await["state"], "idle");
    assert_eq!(waiting(&session, true).await, ["two", "one"]);

    // A new message is a new task, and what is held stays.
    session.send("now", "queue").await.good();
    let end = session.turn_end(seq).await;
    assert_eq!(waiting(&session, true).await, ["two", "one"]);

    world.restart().await;
    let session = world.client().session(&session.id);
    assert_eq!(session.show().await["state"], "idle");
    assert_eq!(waiting(&session, true).await, ["two", "one"]);

    let release = session
        .client
        .patch(&first(&session).await, json!({"held": false}))
        .await;
    assert_eq!(release.status, 200, "{release:?}");
    session.turn_end(end.seq).await;
    assert_eq!(waiting(&session, true).await, ["one"]);
    let said = session.messages().await;
    let answers = said.iter().filter(|message| message["role"] == "assistant");
    assert_eq!(answers.count(), 2, "{said:?}");
}

#[tokio::test]
async fn what_is_held_can_be_cleared_at_once() {
    let world = World::start(&[("asks", ASKS)]).await;
    let (session, seq) = stopped(&world).await;
    let cleared = session.client.delete(&session.path("/queue")).await;
    assert_eq!(cleared.good()["messages"], json!([]));
    let changes: Vec<_> = session.events(seq).await;
    let removed = changes
        .iter()
        .filter(|event| event["data"]["change"] == "removed");
    assert_eq!(removed.count(), 2);
    let held = session.events(0).await;
    let held = held
        .iter()
        .filter(|event| event["data"]["change"] == "held");
    assert_eq!(held.count(), 2);
    assert_eq!(session.show().await["state"], "idle");
}

#[tokio::test]
async fn a_message_can_be_held_and_released_by_itself() {
    let world = World::start(&[("asks", ASKS)]).await;
    let session = world.client().new_session("scripted/asks").await;
    session.prompt("go").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::Decision(_)))
        .await;
    session.send("later", "queue").await.good();
    let path = first(&session).await;
    let change = |held: bool| session.client.patch(&path, json!({"held": held}));
    assert_eq!(change(true).await.good()["messages"][0]["held"], true);
    assert_eq!(waiting(&session, false).await, [""; 0]);
    assert!(
        change(false).await.good()["messages"][0]
            .get("held")
            .is_none()
    );
    assert_eq!(waiting(&session, false).await, ["later"]);
}
