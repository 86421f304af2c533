//! Programs in sandboxes call models: what is passed on, and what is refused before a vendor hears of it.

use std::sync::{Arc, Mutex};

use deskhand_core::{id::SessionId, secret::Secret};
use deskhand_models::{AccountSettings, ModelSettings};
use deskhand_testkit::{Asked, Elsewhere, Session};
use deskhand_world::{Program, World, WorldOptions};
use serde_json::json;

const MIB: usize = 1024 * 1024;

/// A vendor that answers every request, whichever API it is made in.
struct AnyVendor {
    asked: Arc<Mutex<Vec<Asked>>>,
    at: Elsewhere,
}

impl AnyVendor {
    async fn start() -> Self {
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let kept = Arc::clone(&asked);
        let at = Elsewhere::start(move |request, line| {
            kept.lock().unwrap().push(request);
            let usage = json!({"usage": {"input_tokens": 1000, "output_tokens": 100}}).to_string();
            async move {
                let headers = [("content-type", "application/json")];
                line.whole("200 OK", &headers, &usage).await
            }
        })
        .await;
        Self { asked, at }
    }

    async fn world(&self) -> World {
        let account = || AccountSettings {
            key: Some(Secret::new("sk-test")),
            base_url: Some(self.at.url.clone()),
            ..AccountSettings::default()
        };
        let compatible = ["openrouter", "ollama"].map(|name| (name.to_owned(), account()));
        World::with(WorldOptions {
            models: ModelSettings {
                anthropic: account(),
                openai: account(),
                gemini: account(),
                compatible: compatible.into(),
                ..ModelSettings::default()
            },
            ..WorldOptions::default()
        })
        .await
    }

    /// The bodies of the requests so far, as they were sent.
    fn heard(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|asked| asked.text.clone()).collect()
    }
}

/// A session whose computer a person has, so that its programs may ask.
async fn in_hand(world: &World) -> (Session, Program) {
    let session = world.client().new_session("scripted/demo").await;
    session.take_control(600).await.good();
    let id: SessionId = session.id.parse().unwrap();
    (session, world.program(id))
}

#[tokio::test]
async fn a_request_passes_byte_for_byte_and_an_unknown_field_is_named() {
    let vendor = AnyVendor::start().await;
    let world = vendor.world().await;
    let (_session, program) = in_hand(&world).await;
    let body = r#"{ "model":"claude-opus-5-5","max_tokens": 1.0e1 ,"messages":[{"role":"user","content":"h\u0069"}]}"#;
    let answer = program.ask("/v1/messages", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(vendor.heard(), [body]);

    let gemini = "/v1beta/models/gemini-3.6-flash:generateContent";
    let chat = "/v1/chat/completions";
    for (path, body, named) in [
        (gemini, json!({"tools": {"urlContext": {}}}), "tools"),
        (gemini, json!({"tools": [[{"googleSearch": {}}]]}), "tools"),
        (
            "/v1/responses",
            json!({"model": "gpt-6-sol", "previous_response_id": "resp_1"}),
            "previous_response_id",
        ),
        (
            "/v1/responses",
            json!({"model": "gpt-6-sol", "input": [{"type": "item_reference", "id": "x"}]}),
            "item_reference",
        ),
        (
            chat,
            json!({"model": "ollama/x", "plugins": [{"id": "web"}]}),
            "plugins",
        ),
        (
            chat,
            json!({"model": "openrouter/openai/gpt-6-luna:online"}),
            ":online",
        ),
        (
            chat,
            json!({"model": "ollama/x", "tools": [{"type": "custom"}]}),
            "only functions",
        ),
    ] {
        let answer = program.ask(path, &body.to_string()).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert!(answer.body.contains(named), "{body}: {answer:?}");
    }
    assert_eq!(vendor.heard().len(), 1);
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_where_money_is_bounded() {
    let vendor = AnyVendor::start().await;
    let world = vendor.world().await;
    let (session, program) = in_hand(&world).await;
    let ask = async |model: &str| {
        let body = json!({"model": model}).to_string();
        program.ask("/v1/chat/completions", &body).await
    };
    for model in ["openrouter/some/model", "gpt-7"] {
        let answer = ask(model).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.contains("models.prices"), "{answer:?}");
    }
    // A server of one's own costs nothing for a token.
    assert_eq!(ask("ollama/qwen3-vl:8b").await.status, 200);

    let client = world.client();
    let unbounded = json!({"budget": {"usd": 0}});
    client.patch(&session.path(""), unbounded).await.good();
    let answer = ask("openrouter/some/model").await;
    assert_eq!(
        answer.status, 400,
        "the owner's day is still bounded: {answer:?}"
    );
}

#[tokio::test]
async fn large_requests_of_all_sessions_together_have_a_bound() {
    let vendor = AnyVendor::start().await;
    let world = vendor.world().await;
    let mut held = Vec::new();
    for _ in 0..4 {
        let (_session, program) = in_hand(&world).await;
        held.push(program.hold("/v1/messages", 32 * MIB).await);
        let body = json!({"model": "claude-opus-5-5", "system": "x".repeat(9 * MIB)});
        let answer = program.ask("/v1/messages", &body.to_string()).await;
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(answer.body.contains("of this session"), "{}", answer.body);
    }
    let (_session, program) = in_hand(&world).await;
    let answer = program
        .ask("/v1/messages", r#"{"model": "claude-opus-5-5"}"#)
        .await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.body.contains("overloaded_error"), "{answer:?}");
    assert!(vendor.heard().is_empty());
}
