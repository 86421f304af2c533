//! Broken events: a log that something else wrote must not bring a reader down.

use std::collections::BTreeSet;

use deskhand_core::event::{Event, EventBody};
use deskhand_testkit::fuzz;
use deskhand_world::World;
use serde_json::json;

/// A turn with many kinds of events.
const WORK: &str = r#"
steps:
  - thinking: "I look first."
    text: "Let me look."
    calls:
      - update_plan: {steps: [{text: Look, state: doing}, {text: Tell, state: pending}]}
      - bash: {command: "echo done > ~/report.html"}
      - share_file: {path: report.html}
      - computer: {action: screenshot}
      - ask_user: {question: "Which one?", form: choices, choices: [left, right]}
  - text: "Done."
"#;

/// Events that take more than a moment to come about.
const OTHERS: &[&str] = &[
    r#"{"seq":90,"type":"retry","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","attempt":1,"message":"overloaded","next_at":"2026-07-03T12:00:01Z"}}"#,
    r#"{"seq":91,"type":"gateway","at":"2026-07-03T12:00:00Z","data":{"model":"x/y","usd":0.01,"usage":{"input":1,"cache_write":2,"cache_read":3,"output":4}}}"#,
    r#"{"seq":92,"type":"network","at":"2026-07-03T12:00:00Z","data":{"host":"example.org","port":443,"blocked":"not_listed"}}"#,
    r#"{"seq":93,"type":"notice","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","bound":"steps","used":40.0,"limit":50.0,"message":"close"}}"#,
    r#"{"seq":94,"type":"error","at":"2026-07-03T12:00:00Z","data":{"code":"sandbox_failed","message":"The desktop could not be started."}}"#,
    r#"{"seq":96,"type":"told","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","text":"It is Friday.","facts":{"day":"Friday, 3 July 2026","prompt":"a","instructions":"b","tools":{"bash":"c"}}}}"#,
    r#"{"seq":97,"type":"placed","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","message":"0198c0de-0000-7000-8000-000000000000","files":[{"attachment":"0198c0de-0000-7000-8000-000000000000","path":"/home/agent/uploads/a.png"},{"attachment":"0198c0de-0000-7000-8000-000000000000","problem":"the disk is full"}]}}"#,
    r#"{"seq":98,"type":"opened","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","message":"0198c0de-0000-7000-8000-000000000000","url":"https://shop.example/","shown_url":"https://shop.example/start","title":"A shop"}}"#,
    r#"{"seq":99,"type":"summary","at":"2026-07-03T12:00:00Z","data":{"turn":"0198c0de-0000-7000-8000-000000000000","text":"The form is filled in."}}"#,
    r#"{"seq":95,"type":"queue","at":"2026-07-03T12:00:00Z","data":{"message":"0198c0de-0000-7000-8000-000000000000","by":"0198c0de-0000-7000-8000-000000000000","change":"removed"}}"#,
];

/// Returns the log of a session in which much has happened.
async fn real_events() -> Vec<String> {
    let world = World::start(&[("work", WORK)]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/work").await;
    session.prompt("go").await;
    let asked = |body: &EventBody| matches!(body, EventBody::Decision(_));
    let asked = session.wait_for(0, asked).await;
    let open = admin.get("/api/decisions?state=open").await.good();
    let decision = open["decisions"][0]["id"].as_str().unwrap();
    let path = session.path(&format!("/decisions/{decision}/answer"));
    let left = json!({"choices": ["left"]});
    admin.post(&path, left).await.good();
    session.turn_end(asked.seq).await;
    session.take_control(60).await.good();
    session.hand_back().await.good();
    let changes = json!({"title": "Work", "model": "scripted/demo", "instructions": "Be brief."});
    admin.patch(&session.path(""), changes).await.good();
    let people = session.path("/people/bob");
    admin.put(&people, json!({"right": "owner"})).await;
    let accept = format!("/api/me/offers/{}/accept", session.id);
    bob.post(&accept, json!({})).await.good();
    let events = bob.session(&session.id).events(0).await;
    events.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn fuzz_events() {
    let mut events = real_events().await;
    events.extend(OTHERS.iter().map(|event| (*event).to_owned()));
    let mut kinds = BTreeSet::new();
    for event in &events {
        let read: Event =
            serde_json::from_str(event).unwrap_or_else(|error| panic!("{error}: {event}"));
        kinds.insert(read.body.kind());
    }
    let missing = EventBody::KINDS.iter().find(|kind| !kinds.contains(**kind));
    assert_eq!(missing, None, "each kind of event needs an example here");
    let seeds: Vec<&[u8]> = events.iter().map(String::as_bytes).collect();
    fuzz("events", &seeds, |input| {
        let Ok(event) = serde_json::from_slice::<Event>(input) else {
            return;
        };
        // An event that can be read can be written, and reads the same again.
        let written = serde_json::to_string(&event).unwrap();
        let again: Event = serde_json::from_str(&written).unwrap();
        assert_eq!(again, event);
        assert!(EventBody::KINDS.contains(&event.body.kind()));
    });
}
