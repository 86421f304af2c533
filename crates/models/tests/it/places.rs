//! Places in what models are told.

use deskhand_core::{
    action::ScreenSize,
    model::{CallResult, Item, ToolCall},
};
use serde_json::json;

use crate::{fixtures::prompt, server::Reply, wire::Wire};

const SCREEN: ScreenSize = ScreenSize {
    width: 2560,
    height: 1600,
};

#[tokio::test]
async fn what_another_model_did_is_told_in_the_places_of_the_one_that_is_asked() {
    let path = json!([{"x": 0, "y": 0}, {"x": 2559, "y": 1599}]);
    let items = [
        prompt("Go on."),
        Item::Answer {
            thinking: String::new(),
            text: String::new(),
            calls: vec![ToolCall {
                id: "elsewhere".to_owned(),
                tool: "computer".to_owned(),
                input: json!({"action": "drag", "path": path}),
                checks: Vec::new(),
                problem: None,
            }],
            original: None,
        },
        Item::Results(vec![CallResult {
            call: "elsewhere".to_owned(),
            text: "Dragged.".to_owned(),
            is_error: false,
            image: None,
            browser: None,
        }]),
    ];
    for (model, x, y) in [
        ("anthropic/claude-opus-5-5", 1999, 1249),
        ("anthropic/claude-sonnet-4-5", 1388, 867),
        ("openai/gpt-6-sol", 2559, 1599),
        ("openai/computer-use-preview", 1439, 899),
        ("gemini/gemini-3.6-flash", 999, 999),
        ("gemini/gemini-2.5-computer-use-preview-10-2025", 999, 999),
        ("ollama/qwen3-vl", 999, 999),
        ("ollama/gemma4", 1439, 899),
    ] {
        let wire = Wire::answering([Reply::stream("")]).await;
        wire.ask_on(SCREEN, model, &items).await;
        let body = wire.asked()[0].body.to_string();
        let told = format!(r#"{{\"x\":{x},\"y\":{y}}}"#);
        assert!(body.contains(&told), "{model}: {told} in {body}");
    }
}
