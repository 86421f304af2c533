//! The log lines by which programs follow streams, with all their fields.

use deskhand_core::secret::Secret;
use deskhand_streams::WebhookKey;
use deskhand_testkit::sandboxes::FakePage;
use serde_json::{Value, json};

use super::{StreamWorld, request};

/// The events of section 7.3 that a server logs, with their fields. Those of Discord are in the tests of the bot.
const EVENTS: [(&str, &[&str]); 11] = [
    (
        "session.created",
        &["session_id", "user_id", "guild_id", "channel_id", "url"],
    ),
    ("session.started", &["session_id", "startup_time_ms"]),
    ("session.streaming", &["session_id"]),
    (
        "session.ended",
        &["session_id", "duration_seconds", "cost_usd"],
    ),
    (
        "session.failed",
        &["session_id", "error_code", "error_message"],
    ),
    (
        "agent.iteration",
        &["session_id", "iteration", "action_type"],
    ),
    ("agent.screenshot", &["session_id", "size_bytes"]),
    ("agent.action", &["session_id", "action", "success"]),
    (
        "agent.budget_warning",
        &["session_id", "spent_usd", "limit_usd"],
    ),
    (
        "http.request",
        &["method", "path", "status_code", "duration_ms"],
    ),
    ("webhook.sent", &["session_id", "status", "success"]),
];

const STUBBORN: &str = "https://videos.example/stubborn";
const GONE: &str = "https://videos.example/gone";

#[tokio::test]
async fn every_event_is_logged_with_its_fields() {
    // The budget of two dollars is nearly used up in small steps, since a step that might be too much is not taken.
    let steps = (1..12).map(|n| {
        format!(
            "  - calls: [{{browser: {{action: click, x: {n}, y: 10}}}}]\n    usage: {{input: 150000, output: 0}}\n"
        )
    });
    let yaml = format!(
        "price: {{input: 1, output: 1}}\nsteps:\n{}  - text: '{{\"outcome\": \"playing\"}}'\n",
        steps.collect::<String>()
    );
    let world = StreamWorld::with_model(&yaml, |settings| {
        settings.webhook_key = Some(WebhookKey(Secret::new("shared")));
    })
    .await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    world.pages.put(GONE, FakePage::error(404));
    let mut asked = request(STUBBORN);
    // Nothing is sent to this machine, and the attempt is logged.
    asked["webhook_url"] = json!("http://127.0.0.1:9/jamie/status");
    world.post(asked.clone()).await.good();
    let id = asked["session_id"].as_str().unwrap();
    world.until_streaming(id).await;
    world.stop(id).await.good();
    world.failure(GONE).await;

    let lines = world.world.log();
    let lines = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let logged: Vec<_> = lines.filter(|line| line["event"].is_string()).collect();
    for (event, fields) in EVENTS {
        let of_event: Vec<_> = logged
            .iter()
            .filter(|line| line["event"] == event)
            .collect();
        assert!(!of_event.is_empty(), "{event}");
        for line in of_event {
            for field in fields {
                assert!(!line[field].is_null(), "{event} has no {field}: {line}");
            }
        }
    }
    let acted = logged.iter().find(|line| line["event"] == "agent.action");
    assert_eq!(acted.unwrap()["action"], "browser");
}
