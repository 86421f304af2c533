//! Requests as Anthropic takes them.

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    blob::BlobFormat,
    model::{CallResult, Image, Item, ModelRequest, Original, ToolCall},
};
use serde_json::{Value, json};

use super::{VENDOR, generation::ToolVersion, request::body};

const MODEL: &str = "claude-opus-5";

fn request(items: Vec<Item>) -> ModelRequest {
    let screen = ScreenSize {
        width: 1280,
        height: 800,
    };
    ModelRequest {
        system: "You have a computer.".to_owned(),
        screen,
        shown: screen,
        items,
    }
}

fn prompt(text: &str) -> Item {
    Item::Prompt {
        text: text.to_owned(),
    }
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "left_click", "toolset_name": "computer", "input": {"coordinate": [1, 2]}})
}

/// An answer as Anthropic sent it.
fn answer(content: &Value) -> Item {
    Item::Answer {
        thinking: String::new(),
        text: String::new(),
        calls: Vec::new(),
        original: Some(Original {
            vendor: VENDOR.to_owned(),
            data: json!({"content": content}),
        }),
    }
}

fn result(call: &str, text: &str, is_error: bool, has_picture: bool) -> CallResult {
    CallResult {
        call: call.to_owned(),
        text: text.to_owned(),
        is_error,
        image: has_picture.then(|| Image {
            bytes: Bytes::from_static(b"png"),
            format: BlobFormat::Png,
        }),
    }
}

fn messages(items: Vec<Item>) -> Vec<Value> {
    let body = body(MODEL, ToolVersion::Toolset20260801, &request(items), &[]);
    body["messages"].as_array().unwrap().clone()
}

#[test]
fn every_form_of_the_computer_is_offered_as_its_version_wants_it() {
    let tools = |model, version| {
        let body = body(model, version, &request(vec![prompt("hi")]), &[]);
        body["tools"].as_array().unwrap()[..3].to_vec()
    };
    let bash = json!({"type": "bash_20250124", "name": "bash"});
    let editor = json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"});
    let dated = |kind| json!({"type": kind, "name": "computer", "display_width_px": 1280, "display_height_px": 800});
    assert_eq!(
        tools("claude-opus-5", ToolVersion::Toolset20260801),
        [
            json!({"type": "computer_toolset_20260801"}),
            bash.clone(),
            editor.clone()
        ]
    );
    let mut zooming = dated("computer_20251124");
    zooming["enable_zoom"] = true.into();
    assert_eq!(
        tools("claude-opus-4-5", ToolVersion::Computer20251124),
        [zooming, bash.clone(), editor.clone()]
    );
    assert_eq!(
        tools("claude-sonnet-4-5", ToolVersion::Computer20250124),
        [dated("computer_20250124"), bash.clone(), editor]
    );
    assert_eq!(
        tools("claude-3-7-sonnet-20250219", ToolVersion::Computer20250124),
        [
            dated("computer_20250124"),
            bash,
            json!({"type": "text_editor_20250124", "name": "str_replace_editor"}),
        ]
    );
    assert_eq!(
        tools("claude-3-5-sonnet-20241022", ToolVersion::Computer20241022),
        [
            dated("computer_20241022"),
            json!({"type": "bash_20241022", "name": "bash"}),
            json!({"type": "text_editor_20241022", "name": "str_replace_editor"}),
        ]
    );
    let function = &tools("claude-2", ToolVersion::Function)[0];
    assert_eq!(
        (&function["name"], &function["type"]),
        (&json!("computer"), &Value::Null)
    );
}

#[test]
fn thinking_is_asked_for_as_each_generation_wants_it() {
    let of = |model| {
        let body = body(
            model,
            ToolVersion::Function,
            &request(vec![prompt("hi")]),
            &[],
        );
        assert!(body.get("temperature").is_none());
        (
            body["thinking"]["type"].clone(),
            body["output_config"]["effort"].clone(),
        )
    };
    assert_eq!(of("claude-3-5-sonnet-20241022"), (Value::Null, Value::Null));
    assert_eq!(of("claude-sonnet-4-5"), (json!("enabled"), Value::Null));
    assert_eq!(of("claude-opus-4-7"), (json!("adaptive"), json!("medium")));
}

#[test]
fn a_batch_that_failed_is_answered_call_by_call() {
    let halted = "Not executed: an earlier computer action in this turn failed.";
    let messages = messages(vec![
        prompt("order"),
        answer(&json!([call("a"), call("b"), call("c")])),
        Item::Results(vec![
            result("a", "Clicked.", false, false),
            result("b", "There is nothing.", true, true),
            result("c", halted, true, false),
        ]),
        Item::Steering {
            text: "go on".to_owned(),
        },
    ]);
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let told = messages[2]["content"].as_array().unwrap();
    let kinds: Vec<&Value> = told.iter().map(|block| &block["type"]).collect();
    assert_eq!(
        kinds,
        ["tool_result", "tool_result", "tool_result", "image", "text"]
    );
    for block in &told[..3] {
        assert_eq!(block["toolset_name"], "computer");
    }
    assert_eq!(told[0].get("is_error"), None);
    assert_eq!(told[1]["is_error"], true);
    assert_eq!(
        told[1]["content"],
        json!([{"type": "text", "text": "There is nothing."}])
    );
    assert_eq!(told[2]["content"][0]["text"], halted);
}

#[test]
fn what_was_said_goes_back_as_it_came() {
    let content = json!([
        {"type": "thinking", "thinking": "…", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}},
    ]);
    let messages = messages(vec![
        prompt("list"),
        answer(&content),
        Item::Results(vec![result("t", "", false, false)]),
    ]);
    assert_eq!(messages[1]["content"], content);
    let told = &messages[2]["content"][0];
    assert_eq!(told.get("toolset_name"), None);
    assert_eq!(told["content"][0]["text"], "[nothing]");
}

#[test]
fn answers_of_other_vendors_are_told_in_words() {
    let call = ToolCall {
        id: "x".to_owned(),
        tool: "bash".to_owned(),
        input: json!({"shell": "run", "command": "ls"}),
        checks: Vec::new(),
        problem: None,
    };
    let messages = messages(vec![
        prompt("list"),
        Item::Answer {
            thinking: String::new(),
            text: "I list.".to_owned(),
            calls: vec![call],
            original: None,
        },
        Item::Results(vec![result("x", "a b", false, true)]),
    ]);
    let said = messages[1]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("I list.\n[Used bash: "), "{said}");
    assert_eq!(messages[2]["content"][0]["text"], "[Result: a b]");
    assert_eq!(messages[2]["content"][1]["type"], "image");
}

#[test]
fn at_most_four_places_are_marked_for_the_cache() {
    let mut items = vec![prompt("begin")];
    for index in 0..9 {
        let id = format!("t{index}");
        items.push(answer(&json!([call(&id)])));
        items.push(Item::Results(vec![result(&id, "Clicked.", false, false)]));
    }
    let body = body(MODEL, ToolVersion::Toolset20260801, &request(items), &[]);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert!(body["system"][0]["cache_control"].is_object());
}

#[test]
fn after_a_pause_the_beginning_of_the_answer_is_sent_back() {
    let said = [json!({"type": "text", "text": "I look it up."})];
    let body = body(
        MODEL,
        ToolVersion::Toolset20260801,
        &request(vec![prompt("hi")]),
        &said,
    );
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last, &json!({"role": "assistant", "content": said}));
}
