//! What every vendor is sent in a session that offers the browser and not the screen.

use bytes::Bytes;
use deskhand_core::{
    browser::{BrowserChange, BrowserState, DownloadState, TabEntry, TabNumber},
    model::{CallResult, HALTED, Image, ImageFormat, Item, ToolCall},
};
use deskhand_testkit::Asked;
use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use crate::{
    server::{Reply, shown},
    wire::{PAGE, Wire},
};

fn events(events: &[Value]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect()
}

fn anthropic() -> String {
    let member = |id: &str, name: &str, input: Value| {
        [
            json!({"type": "content_block_start", "content_block": {
                "type": "tool_use", "id": id, "name": name, "toolset_name": "browser", "input": {},
            }}),
            json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": input.to_string()}}),
            json!({"type": "content_block_stop"}),
        ]
    };
    let mut stream = vec![json!({"type": "message_start", "message": {"usage": {}}})];
    stream.extend(member("a", "new_tab", json!({})));
    stream.extend(member(
        "b",
        "left_click",
        json!({"target": {"type": "coordinate", "x": 10, "y": 20}}),
    ));
    stream.extend(member(
        "c",
        "form_input",
        json!({"target": {"type": "ref", "ref": "ref_7"}, "value": "x"}),
    ));
    stream.extend(member("d", "type", json!({"text": "fern"})));
    stream
        .push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}));
    stream.push(json!({"type": "message_stop"}));
    events(&stream)
}

fn openai() -> String {
    let actions = json!([
        {"type": "click", "button": "left", "x": 10, "y": 20},
        {"type": "type", "text": "fern"},
        {"type": "keypress", "keys": ["ENTER"]},
    ]);
    events(&[
        json!({"type": "response.output_item.done", "item": {
            "type": "computer_call", "id": "cu", "call_id": "a", "status": "completed", "actions": actions,
        }}),
        json!({"type": "response.completed", "response": {"usage": {}}}),
    ])
}

fn function() -> String {
    let arguments = json!({"action": {"type": "click", "x": 10, "y": 20}}).to_string();
    events(&[
        json!({"type": "response.output_item.done", "item": {
            "type": "function_call", "call_id": "a", "name": "computer", "arguments": arguments,
        }}),
        json!({"type": "response.completed", "response": {"usage": {}}}),
    ])
}

fn chat() -> String {
    let arguments = json!({"action": {"type": "click", "x": 10, "y": 20}}).to_string();
    let call =
        json!({"index": 0, "id": "a", "function": {"name": "computer", "arguments": arguments}});
    events(&[
        json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ])
}

fn gemini() -> String {
    let parts = json!([
        {"functionCall": {"id": "a", "name": "click", "args": {"x": 10, "y": 20}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "b", "name": "type", "args": {"text": "fern", "press_enter": true}}},
    ]);
    events(&[
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}),
    ])
}

fn first_gemini() -> String {
    let parts = json!([
        {"functionCall": {"name": "type_text_at", "args": {"x": 10, "y": 20, "text": "fern"}}},
    ]);
    events(&[
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}),
    ])
}

fn state() -> BrowserState {
    let tab = |number, is_current| TabEntry {
        tab: TabNumber(number),
        url: format!("https://shop.example/{number}"),
        title: format!("Shop {number}"),
        is_current,
    };
    BrowserState {
        tabs: vec![tab(1, false), tab(2, true)],
        changes: vec![BrowserChange::DownloadEnded {
            id: 1,
            url: "https://shop.example/list.csv".to_owned(),
            path: "/home/agent/Downloads/list.csv".to_owned(),
            state: DownloadState::Complete,
            n_bytes: 12,
        }],
        dialog: None,
        page: Some(PAGE),
    }
}

/// Everything works, and the last call has a picture.
fn working(calls: &[ToolCall], index: usize, call: &ToolCall) -> CallResult {
    let is_last = index + 1 == calls.len();
    CallResult {
        call: call.id.clone(),
        text: "Clicked the point.".to_owned(),
        is_error: false,
        image: is_last.then(|| Image {
            bytes: Bytes::from_static(b"jpeg"),
            format: ImageFormat::Jpeg,
        }),
        browser: Some(state()),
    }
}

/// The first two calls work, and the third does not.
fn failing(calls: &[ToolCall], index: usize, call: &ToolCall) -> CallResult {
    let failed = |text: &str| CallResult {
        text: text.to_owned(),
        is_error: true,
        image: None,
        browser: None,
        ..working(calls, index, call)
    };
    match index {
        0 | 1 => working(calls, index, call),
        2 => failed("e7 is no longer on the page: read the page again"),
        _ => failed(HALTED),
    }
}

async fn last_request(wire: Wire, model: &str) -> Asked {
    let mut items = vec![Item::Prompt {
        text: "Order a fern.".to_owned(),
    }];
    let heard = wire.heard_in_browser(model, &items).await;
    assert!(
        heard
            .calls
            .iter()
            .all(|call| call.tool == "browser" && call.problem.is_none())
    );
    let calls = heard.calls.clone();
    items.extend([
        heard.item(),
        heard.results(|index, call| working(&calls, index, call)),
    ]);
    items.extend([
        heard.item(),
        heard.results(|index, call| failing(&calls, index, call)),
    ]);
    wire.heard_in_browser(model, &items).await;
    wire.asked().pop().unwrap()
}

macro_rules! golden {
    ($($name:ident: $model:literal, $answer:ident, $wire:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let wire = Wire::$wire([Reply::stream(&$answer())]).await;
            let asked = last_request(wire, $model).await;
            with_settings!({omit_expression => true, description => $model}, {
                assert_snapshot!(shown(&asked));
            });
        }
    )*};
}

golden! {
    browser_toolset: "anthropic/claude-opus-5", anthropic, answering;
    openai_computer_as_browser: "openai/gpt-6-sol", openai, answering;
    openai_preview_as_browser: "openai/computer-use-preview", openai, answering;
    gemini_browser: "gemini/gemini-3.6-flash", gemini, answering;
    gemini_browser_with_the_first_actions: "gemini/gemini-2.5-computer-use-preview-10-2025", first_gemini, answering;
    computer_function_over_responses: "openai/gpt-6-sol", function, with_computer_function;
    computer_function_over_chat: "ollama/qwen3-vl", chat, with_computer_function;
}

#[tokio::test]
async fn a_browser_toolset_that_is_refused_becomes_a_function_and_is_not_tried_again() {
    let refusal = json!({"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "claude-opus-5 does not support tool types: browser_toolset_20260801",
    }});
    let answer = Reply::stream(&anthropic());
    let wire = Wire::answering([answer.clone(), Reply::refusal(400, &refusal), answer]).await;
    let model = "anthropic/claude-opus-5";
    let mut items = vec![Item::Prompt {
        text: "Order a fern.".to_owned(),
    }];
    let heard = wire.heard_in_browser(model, &items).await;
    let calls = heard.calls.clone();
    items.extend([
        heard.item(),
        heard.results(|index, call| working(&calls, index, call)),
    ]);
    wire.heard_in_browser(model, &items).await;
    wire.heard_in_browser(model, &items).await;
    let asked = wire.asked();
    let kinds: Vec<&Value> = asked
        .iter()
        .map(|asked| &asked.body["tools"][1]["type"])
        .collect();
    let toolset = json!("browser_toolset_20260801");
    assert_eq!(kinds, [&toolset, &toolset, &Value::Null, &Value::Null]);
    // Earlier calls read as if it had always been the function, with points in the model's units.
    let call = &asked[2].body["messages"][1]["content"][1];
    assert_eq!(
        *call,
        json!({"type": "tool_use", "id": "b", "name": "browser", "input": {"action": "click", "x": 10, "y": 20, "look": true}})
    );
    let result = &asked[2].body["messages"][2]["content"][1];
    assert_eq!(result.get("toolset_name"), None);
    assert_eq!(result["content"][0]["text"], "Clicked the point.");
}
