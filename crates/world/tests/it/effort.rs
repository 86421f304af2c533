//! The effort of models: of the session, and of one message.

use deskhand_core::{
    event::{EventBody, SessionChanged},
    model::Effort,
};
use deskhand_models::ModelSettings;
use deskhand_testkit::{BrowserWire, PagePlayer, Session};
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};

async fn world(player: &PagePlayer) -> World {
    let variables = player.variables();
    let value = |name: &str| variables.iter().find(|(known, _)| known == name);
    let models = ModelSettings::default()
        .or_from_environment(|name| value(name).map(|(_, value)| value.clone()));
    World::with(WorldOptions {
        models,
        ..WorldOptions::default()
    })
    .await
}

/// Sends a message with these other fields, and returns the effort that the vendor was asked for.
async fn asked_for(player: &PagePlayer, session: &Session, fields: Value) -> Value {
    player.prepare(BrowserWire::Function, &[]);
    let after = session.show().await["last_seq"].as_u64().unwrap();
    let mut message = json!({"content": "Go."});
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
    let path = session.path("/messages");
    session.client.post(&path, message).await.good();
    session.turn_end(after).await;
    player.asked().last().unwrap()["reasoning_effort"].clone()
}

#[tokio::test]
async fn the_effort_of_a_message_counts_for_its_turn_and_the_sessions_for_all_others() {
    let player = PagePlayer::start().await;
    let mut world = world(&player).await;
    let client = world.client();
    let wanted = json!({"model": BrowserWire::Function.model(), "effort": "low"});
    let made = client.post("/api/sessions", wanted).await.good();
    assert_eq!(made["effort"], "low");
    let session = client.session(made["id"].as_str().unwrap());
    assert_eq!(asked_for(&player, &session, json!({})).await, "low");
    let high = asked_for(&player, &session, json!({"effort": "high"})).await;
    assert_eq!(high, "high");
    let messages = session.messages().await;
    assert_eq!(messages[2]["effort"], "high");
    assert!(messages[0].get("effort").is_none(), "{messages:?}");

    let path = session.path("");
    let change = client.patch(&path, json!({"effort": "medium"})).await;
    assert_eq!(change.good()["effort"], "medium");
    session
        .wait_for(0, |body| {
            let EventBody::Changed(SessionChanged { effort, .. }) = body else {
                return false;
            };
            *effort == Some(Some(Effort::Medium))
        })
        .await;
    world.restart().await;
    let session = world.client().session(&session.id);
    assert_eq!(asked_for(&player, &session, json!({})).await, "medium");

    let reset = session.client.patch(&path, json!({"effort": null})).await;
    assert_eq!(reset.good()["effort"], Value::Null);
    assert_eq!(
        asked_for(&player, &session, json!({})).await,
        Value::Null,
        "the model's own default counts"
    );
    let told = session.events(0).await;
    let last = told.iter().rfind(|event| event["type"] == "changed");
    assert_eq!(last.unwrap()["data"]["effort"], Value::Null);
    let has_field = last.unwrap()["data"].get("effort").is_some();
    assert!(has_field, "a reset differs from no change");
}

#[tokio::test]
async fn an_effort_needs_the_right_to_drive_and_one_of_its_names() {
    let world = World::start(&[]).await;
    let client = world.client();
    let session = client.new_session("scripted/demo").await;
    let guest = client.new_user("bob").await;
    let right = json!({"right": "suggest"});
    client.put(&session.path("/people/bob"), right).await.good();
    let messages = session.path("/messages");
    let refused = guest
        .post(&messages, json!({"content": "Go.", "effort": "high"}))
        .await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let unknown = client
        .post(&messages, json!({"content": "Go.", "effort": "huge"}))
        .await;
    assert_eq!((unknown.status, &*unknown.code()), (400, "malformed"));
}
