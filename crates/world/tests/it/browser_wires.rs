//! The browser tools of vendors, on a computer in memory.

use deskhand_core::event::EventBody;
use deskhand_models::{BrowserTool, ModelSettings};
use deskhand_testkit::{BrowserWire, PagePlayer, PageStep, Session};
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};

const SHOP: &str = "https://shop.example/";

async fn world(player: &PagePlayer) -> World {
    let variables = player.variables();
    let value = |name: &str| variables.iter().find(|(known, _)| known == name);
    let mut models = ModelSettings::default()
        .or_from_environment(|name| value(name).map(|(_, value)| value.clone()));
    models
        .compatible
        .entry("ollama".to_owned())
        .or_default()
        .browser_tool = BrowserTool::ComputerFunction;
    World::with(WorldOptions {
        models,
        ..WorldOptions::default()
    })
    .await
}

/// A session whose models drive only its browser.
async fn session(world: &World, wire: BrowserWire) -> Session {
    let client = world.client();
    let wanted =
        json!({"model": wire.model(), "tools": ["browser"], "approvals": {"mode": "never"}});
    let made = client.post("/api/sessions", wanted).await;
    client.session(made.good()["id"].as_str().unwrap())
}

/// The calls of the browser in the log.
fn calls(events: &[Value]) -> Vec<Value> {
    let uses = events.iter().filter(|event| event["type"] == "tool_use");
    uses.map(|event| event["data"]["input"].clone()).collect()
}

#[tokio::test]
async fn every_wire_opens_a_page_and_clicks_on_it() {
    let player = PagePlayer::start().await;
    let world = world(&player).await;
    let steps = [
        PageStep::Open(SHOP.to_owned()),
        PageStep::Click {
            at: (120, 40),
            name: None,
        },
    ];
    for wire in BrowserWire::ALL {
        let session = session(&world, wire).await;
        player.prepare(wire, &steps);
        session.prompt("Go.").await;
        let end = session.turn_end(0).await;
        assert!(
            matches!(end.body, EventBody::Complete(_)),
            "{wire:?}: {end:?}"
        );
        let calls = calls(&session.events(0).await);
        assert_eq!(calls.len(), 2, "{wire:?}: {calls:?}");
        assert_eq!(calls[0]["url"], SHOP, "{wire:?}");
        assert_eq!(calls[1]["action"], "click", "{wire:?}");
        let at = |field: &str| calls[1][field].as_i64().unwrap();
        // Thousandths of a picture are less exact than its pixels.
        assert!(
            (at("x") - 120).abs() <= 1 && (at("y") - 40).abs() <= 1,
            "{wire:?}: {calls:?}"
        );
        player.check_form();
    }
}
