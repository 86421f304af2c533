//! The user-level bus: whoever follows it knows how all their sessions are.

use deskhand_testkit::{BusStream, Client};
use serde_json::{Value, json};

use crate::world::{serve, serve_set};

const ECHO: &str = r#"
steps:
  - text: "You said: {{ prompt }}"
"#;

/// Waits until the bus says this of a session.
async fn told(bus: &mut BusStream, session: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let message = bus.next_of("session").await;
        if message["id"] == session && wanted(&message) {
            return message;
        }
    }
}

#[tokio::test]
async fn all_sessions_are_told_with_what_changes() {
    let server = serve(&[("echo", ECHO)]);
    let client = server.client();
    let old = client.new_plain_session("scripted/echo").await;
    let mut bus = client.bus().await;
    let snapshot = bus.next().await;
    assert_eq!(snapshot["type"], "snapshot");
    let sessions = snapshot["data"]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        (&sessions[0]["id"], &sessions[0]["needs_me"]),
        (&json!(old.id), &json!(false))
    );

    let new = client.new_plain_session("scripted/echo").await;
    told(&mut bus, &new.id, |session| {
        session["state"] == "initializing"
    })
    .await;
    told(&mut bus, &new.id, |session| session["sandbox"] == "ready").await;
    new.prompt("name me").await;
    told(&mut bus, &new.id, |session| session["title"] == "name me").await;
    client
        .patch(&new.path(""), json!({"title": "named"}))
        .await
        .good();
    told(&mut bus, &new.id, |session| session["title"] == "named").await;
    new.terminate().await;
    let ended = told(&mut bus, &new.id, |session| {
        session["state"] == "terminated"
    })
    .await;
    assert_eq!(ended["right"], "owner");
}

/// Asks two things in one turn.
const ASKS: &str = r#"
steps:
  - calls:
      - ask_user: {question: "First?", form: yes_no}
      - ask_user: {question: "Second?", form: yes_no}
  - text: "Thanks."
"#;

#[tokio::test]
async fn whoever_may_answer_hears_of_every_question() {
    let server = serve(&[("asks", ASKS)]);
    let owner = server.client();
    let eve = owner.new_user("eve").await;
    let session = owner.new_plain_session("scripted/asks").await;
    let view = json!({"right": "view"});
    owner.put(&session.path("/people/eve"), view).await.good();
    let mut bus = owner.bus().await;
    let mut onlooker = eve.bus().await;
    session.prompt("go").await;
    let mut asked = Vec::new();
    for _ in 0..2 {
        let waiting = told(&mut bus, &session.id, |session| {
            let open = session["decisions"].as_array().unwrap();
            open.iter().any(|decision| !asked.contains(decision))
        })
        .await;
        assert_eq!(waiting["needs_me"], true);
        let [decision] = &waiting["decisions"].as_array().unwrap()[..] else {
            panic!("{waiting}");
        };
        // Whoever only looks on is not needed.
        let watched = told(&mut onlooker, &session.id, |session| {
            session["state"] == "waiting"
        })
        .await;
        assert_eq!(
            (&watched["needs_me"], &watched["decisions"]),
            (&json!(false), &json!([]))
        );
        asked.push(decision.clone());
        let path = session.path(&format!("/decisions/{}/answer", decision.as_str().unwrap()));
        owner.post(&path, json!({"yes": true})).await.good();
    }
}

#[tokio::test]
async fn nobody_hears_of_other_peoples_sessions_and_rights_take_effect_at_once() {
    let server = serve(&[("echo", ECHO)]);
    let admin = server.client();
    let (ada, bob) = (admin.new_user("ada").await, admin.new_user("bob").await);
    let session = ada.new_plain_session("scripted/echo").await;
    let mut bus = bob.bus().await;
    assert_eq!(bus.next().await["data"]["sessions"], json!([]));
    let subscribe = json!({"type": "subscribe", "session": session.id});
    bus.send(&subscribe).await;
    let refused = bus.next().await;
    assert_eq!(refused["type"], "refused");
    assert_eq!(refused["data"]["error"]["code"], "no_session");

    ada.put(&session.path("/people/bob"), json!({"right": "view"}))
        .await
        .good();
    let seen = told(&mut bus, &session.id, |_| true).await;
    assert_eq!(seen["right"], "view");
    bus.send(&subscribe).await;
    bus.next_of("subscribed").await;
    let first = bus.next_of("event").await;
    assert_eq!(
        (&first["session"], &first["event"]["seq"]),
        (&json!(session.id), &json!(1))
    );

    ada.delete(&session.path("/people/bob")).await.good();
    let gone = bus.next_of("session_gone").await;
    assert_eq!(gone["session"], session.id);
    let refused = bus.next_of("refused").await;
    assert_eq!(refused["error"]["code"], "no_session");
    // What happens now is not for bob: the next thing he hears of is his own.
    session.prompt("secret").await;
    session.turn_end(0).await;
    let own = bob.new_plain_session("scripted/echo").await;
    let next = bus.next_of("session").await;
    assert_eq!(next["id"], own.id);
}

#[tokio::test]
async fn events_of_sessions_come_over_the_bus_as_over_their_streams() {
    let server = serve(&[("echo", ECHO)]);
    let client = server.client();
    let (one, two) = (
        client.new_plain_session("scripted/echo").await,
        client.new_plain_session("scripted/echo").await,
    );
    one.prompt("hello").await;
    let end = one.turn_end(0).await.seq;
    let mut bus = client.bus().await;
    bus.send(&json!({"type": "subscribe", "session": one.id, "after": 1}))
        .await;
    let mut events = Vec::new();
    while events.len() < usize::try_from(end - 1).unwrap() {
        events.push(bus.next_of("event").await["event"].clone());
    }
    let listed = one.events(1).await;
    assert_eq!(events, listed[..events.len()]);

    bus.send(&json!({"type": "unsubscribe", "session": one.id}))
        .await;
    bus.next_of("unsubscribed").await;
    bus.send(&json!({"type": "subscribe", "session": two.id, "after": 0}))
        .await;
    one.prompt("again").await;
    one.turn_end(end).await;
    two.prompt("hi").await;
    loop {
        let event = bus.next_of("event").await;
        assert_eq!(event["session"], two.id, "the other one was unsubscribed");
        if event["event"]["type"] == "complete" {
            break;
        }
    }
    for (request, code) in [
        (
            json!({"type": "subscribe", "session": one.id, "after": 1_000_000}),
            "after_newest",
        ),
        (json!({"type": "dance"}), "malformed"),
    ] {
        bus.send(&request).await;
        assert_eq!(bus.next_of("refused").await["error"]["code"], code);
    }
}

#[tokio::test]
async fn a_client_can_follow_twenty_sessions_and_no_more() {
    let settings = [("DESKHAND_SANDBOX_BUBBLEWRAP", "/nonexistent")];
    let server = serve_set(&[], &settings);
    let client = server.client();
    let mut bus = client.bus().await;
    for n in 0..21 {
        let session = client.new_plain_session("scripted/demo").await;
        bus.send(&json!({"type": "subscribe", "session": session.id}))
            .await;
        if n < 20 {
            bus.next_of("subscribed").await;
        } else {
            assert_eq!(
                bus.next_of("refused").await["error"]["code"],
                "too_many_subscriptions"
            );
        }
    }
}

#[tokio::test]
async fn who_is_signed_out_is_cut_off_and_limits_are_told() {
    let settings = [("DESKHAND_LIMITS_SESSIONS_PER_DAY", "0")];
    let server = serve_set(&[], &settings);
    let client = server.client();
    let mut bus = client.bus().await;
    let refused = client.post("/api/sessions", json!({})).await;
    assert_eq!((refused.status, &*refused.code()), (429, "too_many_today"));
    assert_eq!(bus.next_of("notice").await["code"], "too_many_today");

    let made = client
        .post("/api/tokens", json!({"name": "short"}))
        .await
        .good();
    let short: Client = client.with_token(made["token"].as_str().unwrap());
    let mut bus = short.bus().await;
    assert_eq!(bus.next().await["type"], "snapshot");
    client
        .delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap()))
        .await
        .good();
    assert_eq!(bus.closed().await.0, 1008);
}
