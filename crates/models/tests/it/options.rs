//! Options of a call that are no part of the conversation: effort, the key of the cache, and who asks.

use deskhand_core::model::{Effort, RequestOptions};
use serde_json::{Value, json};

use crate::{
    fixtures::prompt,
    server::Reply,
    wire::{KEY, Wire},
};

const TOOLSET: &str = include_str!("streams/anthropic_toolset.sse");
const OPENAI: &str = include_str!("streams/openai.sse");
const GEMINI: &str = include_str!("streams/gemini.sse");
const CHAT: &str = include_str!("streams/chat.sse");

/// A model of each vendor and kind, an answer of it, and the field that has a high effort.
fn vendors() -> [(&'static str, &'static str, &'static str, Value); 6] {
    [
        (
            "anthropic/claude-opus-5-5",
            TOOLSET,
            "/output_config/effort",
            json!("high"),
        ),
        (
            "anthropic/claude-sonnet-4-5",
            TOOLSET,
            "/thinking/budget_tokens",
            json!(12_288),
        ),
        (
            "openai/gpt-6.1-terra",
            OPENAI,
            "/reasoning/effort",
            json!("high"),
        ),
        (
            "gemini/gemini-3.8-flash",
            GEMINI,
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!("HIGH"),
        ),
        (
            "gemini/gemini-2.5-computer-use-preview-10-2025",
            GEMINI,
            "/generationConfig/thinkingConfig/thinkingBudget",
            json!(24_576),
        ),
        (
            "openrouter/acme/sees",
            CHAT,
            "/reasoning_effort",
            json!("high"),
        ),
    ]
}

fn hard() -> RequestOptions {
    RequestOptions {
        cache_key: Some("a-session".to_owned()),
        effort: Some(Effort::High),
    }
}

#[tokio::test]
async fn options_are_sent_as_each_vendor_names_them() {
    for (model, answer, field, high) in vendors() {
        let wire = Wire::answering([Reply::stream(answer)]).await;
        wire.ask_with(hard(), model, &[prompt("go")]).await;
        wire.ask(model, &[prompt("go")]).await;
        let asked = wire.asked();
        assert_eq!(asked[0].body.pointer(field), Some(&high), "{model}");
        // Without a choice it is the default of the model.
        assert_ne!(asked[1].body.pointer(field), Some(&high), "{model}");
        let is_openai = model.starts_with("openai/");
        let key = is_openai.then(|| json!("a-session"));
        assert_eq!(
            asked[0].body.get("prompt_cache_key"),
            key.as_ref(),
            "{model}"
        );
    }
}

#[tokio::test]
async fn every_vendor_is_asked_again_without_the_effort_that_it_refuses() {
    for (model, answer, field, high) in vendors() {
        // A budget is a part of thinking, and stays with it.
        if field.ends_with("budget_tokens") {
            continue;
        }
        let name = field.trim_start_matches('/').replace('/', ".");
        let told =
            json!({"error": {"message": format!("Unsupported value for {name}"), "param": name}});
        let replies = [Reply::refusal(400, &told), Reply::stream(answer)];
        let wire = Wire::answering(replies).await;
        for _ in 0..2 {
            wire.ask_with(hard(), model, &[prompt("go")]).await;
        }
        let sent: Vec<bool> = wire
            .asked()
            .iter()
            .map(|asked| asked.body.pointer(field) == Some(&high))
            .collect();
        assert_eq!(sent, [true, false, false], "{model}");
    }
}

#[tokio::test]
async fn every_vendor_is_told_who_asks() {
    for (model, answer, ..) in vendors() {
        let wire = Wire::answering([Reply::stream(answer)]).await;
        wire.ask(model, &[prompt("go")]).await;
        let agent = &wire.asked()[0].headers["user-agent"];
        assert_eq!(
            agent,
            concat!("deskhand/", env!("CARGO_PKG_VERSION")),
            "{model}"
        );
        assert!(!agent.contains(KEY));
    }
}
