//! A session keeps its system text and its tools, whatever changes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_core::{event::EventBody, secret::Secret};
use deskhand_models::{AccountSettings, ModelSettings};
use deskhand_testkit::{Asked, Elsewhere, Line};
use deskhand_world::{World, WorldOptions};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::{Value, json};

const MODEL: &str = "anthropic/claude-opus-5-5";

/// Anthropic with the check of new accounts: thinking goes back only after the conversation that it followed.
struct StrictVendor {
    asked: Arc<Mutex<Vec<Value>>>,
    at: Elsewhere,
}

#[derive(Default)]
struct Bindings {
    /// The beginning of the conversation, by the signature of the thinking that followed it.
    beginnings: HashMap<String, String>,
    n_refused: usize,
}

impl StrictVendor {
    async fn start() -> (Self, Arc<Mutex<Bindings>>) {
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let bindings = Arc::<Mutex<Bindings>>::default();
        let (kept, bound) = (Arc::clone(&asked), Arc::clone(&bindings));
        let at = Elsewhere::start(move |request: Asked, line| {
            let mut bound = bound.lock().unwrap();
            let answer = bound.answer(&request.body);
            kept.lock().unwrap().push(request.body);
            answer_with(line, answer)
        })
        .await;
        (Self { asked, at }, bindings)
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings {
            anthropic: AccountSettings {
                key: Some(Secret::new("sk-test")),
                base_url: Some(self.at.url.clone()),
                ..AccountSettings::default()
            },
            ..ModelSettings::default()
        }
    }
}

/// Returns the system text, the tools and the first messages, without marks for the cache.
fn beginning(body: &Value, n_messages: usize) -> String {
    let mut messages = body["messages"].as_array().unwrap()[..n_messages].to_vec();
    for message in &mut messages {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    json!([body["system"], body["tools"], messages]).to_string()
}

impl Bindings {
    /// Returns the signature of the next answer, or `None` if thinking in the request is bound to something else.
    fn answer(&mut self, body: &Value) -> Option<String> {
        let messages = body["messages"].as_array().unwrap();
        for (index, message) in messages.iter().enumerate() {
            for block in message["content"].as_array().unwrap() {
                let Some(signature) = block["signature"].as_str() else {
                    continue;
                };
                if self.beginnings[signature] != beginning(body, index) {
                    self.n_refused += 1;
                    return None;
                }
            }
        }
        let signature = format!("signature-{}", self.beginnings.len());
        let beginning = beginning(body, messages.len());
        self.beginnings.insert(signature.clone(), beginning);
        Some(signature)
    }
}

async fn answer_with(mut line: Line, signature: Option<String>) -> std::io::Result<()> {
    let Some(signature) = signature else {
        let message = "The block is bound to a different conversation.";
        let refusal = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        let headers = [("content-type", "application/json")];
        return line
            .whole("400 Bad Request", &headers, &refusal.to_string())
            .await;
    };
    line.begin().await?;
    for event in [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "content_block": {"type": "thinking", "thinking": "Hm.", "signature": signature}}),
        json!({"type": "content_block_stop"}),
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
async fn a_new_day_and_edited_instructions_leave_system_and_tools_as_they_were() {
    let (vendor, bindings) = StrictVendor::start().await;
    let mut world = World::with(WorldOptions {
        models: vendor.settings(),
        ..WorldOptions::default()
    })
    .await;
    let client = world.client();
    let session = client.new_session(MODEL).await;
    session.prompt("one").await;
    let end = session.turn_end(0).await;

    world.pass(Duration::from_hours(24)).await;
    session.prompt("two").await;
    let end = session.turn_end(end.seq).await;

    let change = json!({"instructions": "Speak Dutch."});
    client.patch(&session.path(""), change).await.good();
    session.prompt("three").await;
    let end = session.turn_end(end.seq).await;

    world.restart().await;
    session.prompt("four").await;
    let end = session.turn_end(end.seq).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");

    let asked = vendor.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 4);
    assert_eq!(bindings.lock().unwrap().n_refused, 0);
    for request in &asked[1..] {
        assert_eq!(
            request["system"].to_string(),
            asked[0]["system"].to_string()
        );
        assert_eq!(request["tools"].to_string(), asked[0]["tools"].to_string());
    }
    let last_words = |n: usize| {
        let message = asked[n]["messages"].as_array().unwrap().last().unwrap();
        let blocks = message["content"].as_array().unwrap().iter();
        let texts = blocks.filter_map(|block| Some(block["text"].as_str()?.to_owned()));
        texts.collect::<Vec<_>>()
    };
    let told = |n: usize, is_told: fn(&str) -> bool| {
        let words = last_words(n);
        assert!(words.iter().any(|text| is_told(text)), "{words:?}");
    };
    told(1, |text| text.starts_with("[Today is "));
    told(2, |text| text.contains("Speak Dutch."));
    told(3, |text| text == "four");
}

/// A change between two turns.
#[derive(Debug, Clone, Copy)]
enum Change {
    Day,
    Instructions,
    Secret,
    Restart,
    Crash,
    /// A newer version, whose offers of tools differ.
    Upgrade,
}

/// Whatever happens between the turns of a session, in any order, its system text and tools are the same bytes.
#[tokio::test]
async fn system_and_tools_stay_the_same_in_generated_sessions() {
    use Change::{Crash, Day, Instructions, Restart, Secret as NewSecret, Upgrade};
    let strategy = proptest::collection::vec(
        proptest::sample::select(vec![Day, Instructions, NewSecret, Restart, Crash, Upgrade]),
        6,
    );
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..4 {
        let changes = strategy.new_tree(&mut runner).unwrap().current();
        let (vendor, bindings) = StrictVendor::start().await;
        let mut world = World::with(WorldOptions {
            models: vendor.settings(),
            ..WorldOptions::default()
        })
        .await;
        let session = world.client().new_session(MODEL).await;
        session.prompt("begin").await;
        let mut end = session.turn_end(0).await;
        for (number, change) in changes.iter().enumerate() {
            let client = world.client();
            match change {
                Day => world.pass(Duration::from_hours(24)).await,
                Instructions => {
                    let change = json!({"instructions": format!("Speak quietly {number}.")});
                    client.patch(&session.path(""), change).await.good();
                }
                NewSecret => {
                    let http =
                        json!({"headers": ["authorization"], "env": format!("TOKEN_{number}")});
                    let secret = json!({"value": "canary-of-alice", "origins": ["https://api.example"], "http": http});
                    let path = format!("/api/secrets/s{number}");
                    client.put(&path, secret).await.good();
                }
                Restart => world.restart().await,
                Crash => world.crash().await,
                Upgrade => {
                    world.change_settings(|settings| {
                        settings.browser_scripts = !settings.browser_scripts;
                    });
                    world.restart().await;
                }
            }
            session.prompt(&format!("turn {number}")).await;
            end = session.turn_end(end.seq).await;
            assert!(
                matches!(end.body, EventBody::Complete(_)),
                "{changes:?}: {end:?}"
            );
        }
        let asked = vendor.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), changes.len() + 1, "{changes:?}");
        assert_eq!(bindings.lock().unwrap().n_refused, 0, "{changes:?}");
        for request in &asked {
            for part in ["system", "tools"] {
                let (first, now) = (asked[0][part].to_string(), request[part].to_string());
                assert_eq!(first, now, "{changes:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_model_is_told_which_secrets_programs_can_use() {
    let (vendor, _) = StrictVendor::start().await;
    let world = World::with(WorldOptions {
        models: vendor.settings(),
        ..WorldOptions::default()
    })
    .await;
    let client = world.client();
    let http = json!({"headers": ["authorization"], "env": "GITHUB_TOKEN"});
    let secret =
        json!({"value": "canary-of-alice", "origins": ["https://api.example"], "http": http});
    client.put("/api/secrets/github", secret).await.good();
    let session = client.new_session(MODEL).await;
    session.prompt("one").await;
    let end = session.turn_end(0).await;
    let removed = client.delete("/api/secrets/github").await;
    assert_eq!(removed.status, 204);
    session.prompt("two").await;
    session.turn_end(end.seq).await;

    let asked = vendor.asked.lock().unwrap().clone();
    let line = "- `GITHUB_TOKEN`: the secret github, in `authorization` of requests to https://api.example";
    assert!(asked[0]["system"].to_string().contains(line));
    assert_eq!(
        asked[1]["system"].to_string(),
        asked[0]["system"].to_string()
    );
    assert!(asked[1].to_string().contains("can no longer use secrets"));
    assert!(!json!(asked).to_string().contains("canary"));
}
