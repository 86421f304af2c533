//! Kinds of computers, and the tools by which models drive them.

use std::sync::{Arc, Mutex};

use deskhand_core::{event::EventBody, secret::Secret};
use deskhand_models::{AccountSettings, ModelSettings};
use deskhand_testkit::{Asked, Elsewhere, Line, Session};
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};

/// Creates a session with these settings.
async fn session(world: &World, settings: Value) -> Session {
    let made = world.client().post("/api/sessions", settings).await;
    world.client().session(made.good()["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_session_keeps_the_computer_and_the_tools_that_were_chosen() {
    let mut world = World::start(&[]).await;
    let cases = [
        (json!({}), ("desktop", json!(["computer", "browser"]))),
        (
            json!({"tools": ["browser", "computer", "browser"]}),
            ("desktop", json!(["computer", "browser"])),
        ),
        (
            json!({"computer": "desktop", "tools": ["browser"]}),
            ("desktop", json!(["browser"])),
        ),
        (
            json!({"computer": "browser"}),
            ("browser", json!(["browser"])),
        ),
    ];
    let mut sessions = Vec::new();
    for (settings, expected) in cases {
        sessions.push((session(&world, settings).await, expected));
    }
    world.restart().await;
    for (session, (computer, tools)) in sessions {
        let shown = world.client().get(&session.path("")).await.good();
        assert_eq!(
            (&shown["computer"], &shown["tools"]),
            (&json!(computer), &tools)
        );
    }
    for (settings, code) in [
        (
            json!({"computer": "browser", "tools": ["computer"]}),
            "bad_tools",
        ),
        (json!({"tools": []}), "bad_tools"),
        (json!({"computer": "phone"}), "malformed"),
        (json!({"tools": ["bash"]}), "malformed"),
    ] {
        let refused = world.client().post("/api/sessions", settings.clone()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (400, code.to_owned()),
            "{settings}"
        );
    }
}

#[tokio::test]
async fn without_a_screen_everything_works_but_what_needs_one() {
    let world = World::start(&[]).await;
    let session = session(&world, json!({"computer": "browser"})).await;
    assert_eq!(session.shell("echo hello").await, "hello");
    let client = &session.client;
    let picture = client.get(&session.path("/screenshot")).await;
    assert_eq!(picture.code(), "no_screenshot", "no page is open yet");

    let no_screen = (409, "no_screen".to_owned());
    let refusal = |answer: deskhand_testkit::Answer| (answer.status, answer.code());
    let taken = session.take_control(60).await;
    let sentence = taken.json()["error"]["message"].to_string();
    assert!(sentence.contains("with the tool browser"), "{sentence}");
    assert_eq!(refusal(taken), no_screen);
    assert_eq!(
        refusal(client.upgrade(&session.path("/vnc")).await),
        no_screen
    );
    assert_eq!(
        refusal(client.get(&session.path("/clipboard")).await),
        no_screen
    );
    let click = json!({"tool": "computer", "input": {"action": "screenshot"}});
    assert_eq!(
        refusal(client.post(&session.path("/actions"), click).await),
        no_screen
    );

    // A person can use the browser by hand, and everybody sees its page.
    let open = json!({"action": "navigate", "url": "https://example.com/"});
    let opened = session.act("browser", open).await;
    assert_eq!(opened["is_error"], false, "{opened}");
    let picture = client.get(&session.path("/screenshot")).await;
    assert_eq!(picture.status, 200);
    // The size is in the header of a PNG.
    assert_eq!(&picture.body[16..24], [0, 0, 0x05, 0, 0, 0, 0x03, 0x20]);
}

const CLICKS: &str = r#"
steps:
  - calls:
      - computer: {action: screenshot}
  - text: "{{ last_result }}"
"#;

#[tokio::test]
async fn a_tool_that_a_session_does_not_offer_cannot_be_called() {
    let world = World::start(&[("clicks", CLICKS)]).await;
    let settings = json!({"model": "scripted/clicks", "computer": "browser"});
    let session = session(&world, settings).await;
    session.prompt("click").await;
    session.turn_end(0).await;
    let messages = session.messages().await;
    let said = messages.last().unwrap()["content"].to_string();
    assert!(said.contains("there is no tool"), "{said}");
}

/// Answers every request with one word, in Anthropic's way.
async fn say_yes(mut line: Line) -> std::io::Result<()> {
    line.begin().await?;
    for event in [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": "Yes."}}),
        json!({"type": "content_block_stop"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ] {
        line.event(&event).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_model_is_told_of_the_tools_and_the_computer_of_its_session() {
    let asked = Arc::<Mutex<Vec<Value>>>::default();
    let kept = Arc::clone(&asked);
    let vendor = Elsewhere::start(move |request: Asked, line| {
        kept.lock().unwrap().push(request.body);
        say_yes(line)
    })
    .await;
    let world = World::with(WorldOptions {
        models: ModelSettings {
            anthropic: AccountSettings {
                key: Some(Secret::new("sk-test")),
                base_url: Some(vendor.url.clone()),
                ..AccountSettings::default()
            },
            ..ModelSettings::default()
        },
        ..WorldOptions::default()
    })
    .await;
    for choice in [
        json!({}),
        json!({"computer": "browser"}),
        json!({"tools": ["computer"]}),
    ] {
        let mut settings = choice;
        settings["model"] = json!("anthropic/claude-opus-5-5");
        let session = session(&world, settings).await;
        session.prompt("one").await;
        let end = session.turn_end(0).await;
        assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    }
    let asked = asked.lock().unwrap().clone();
    let told = |n: usize| {
        let (system, tools) = (asked[n]["system"].to_string(), &asked[n]["tools"]);
        // The vendor's own tools have a version in their type.
        let has = |tool: &str| {
            let is_it = |text: &Value| text.as_str().is_some_and(|text| text.starts_with(tool));
            let mut tools = tools.as_array().unwrap().iter();
            tools.any(|tool| is_it(&tool["name"]) || is_it(&tool["type"]))
        };
        let is_desktop = system.contains("a window manager");
        (is_desktop, has("computer"), has("browser"))
    };
    assert_eq!(told(0), (true, true, true));
    assert_eq!(told(1), (false, false, true));
    assert_eq!(told(2), (true, true, false));
}
