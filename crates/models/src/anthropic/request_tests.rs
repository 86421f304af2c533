//! Requests as Anthropic takes them.

use deskhand_core::model::{CallResult, Item, REFUSED_BECAUSE, ToolCall};
use serde_json::{Value, json};

use super::{EarlierThinking, VENDOR, generation::ToolVersion, offer::AnthropicOffer, request};
use crate::{
    retell,
    testing::{self, failed, prompt, result, shown},
};

const MODEL: &str = "claude-opus-5";

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "left_click", "toolset_name": "computer", "input": {"coordinate": [1, 2]}})
}

/// An answer as Anthropic sent it.
fn answer(content: &Value) -> Item {
    testing::answer(VENDOR, &json!({"model": MODEL, "content": content}))
}

fn body(model: &str, tools: ToolVersion, items: Vec<Item>, said: &[Value]) -> Value {
    let offer = AnthropicOffer {
        tools,
        ..AnthropicOffer::to(model)
    };
    let request = testing::request(items);
    request::body(
        model,
        offer,
        EarlierThinking::Kept,
        30_000_000,
        &request,
        said,
    )
}

fn messages(items: Vec<Item>) -> Vec<Value> {
    let body = body(MODEL, ToolVersion::Toolset20260801, items, &[]);
    body["messages"].as_array().unwrap().clone()
}

#[test]
fn every_form_of_the_computer_is_offered_as_its_version_wants_it() {
    let tools = |model, version| {
        let body = body(model, version, vec![prompt("hi")], &[]);
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
        let body = body(model, ToolVersion::Function, vec![prompt("hi")], &[]);
        assert!(body.get("temperature").is_none());
        (
            body["thinking"]["type"].clone(),
            body["output_config"]["effort"].clone(),
        )
    };
    assert_eq!(of("claude-3-5-sonnet-20241022"), (Value::Null, Value::Null));
    assert_eq!(of("claude-sonnet-4-5"), (json!("enabled"), Value::Null));
    assert_eq!(of("claude-opus-4-7"), (json!("adaptive"), json!("high")));
    assert_eq!(of("claude-opus-5-5"), (json!("adaptive"), json!("medium")));
}

#[test]
fn a_batch_that_failed_is_answered_call_by_call() {
    let halted = "Not executed: an earlier computer action in this turn failed.";
    let messages = messages(vec![
        prompt("order"),
        answer(&json!([call("a"), call("b"), call("c")])),
        Item::Results(vec![
            result("a", "Clicked."),
            failed("b", "There is nothing."),
            CallResult {
                image: None,
                ..failed("c", halted)
            },
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
        Item::Results(vec![result("t", "")]),
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
        Item::Results(vec![shown("x", "a b")]),
        Item::CutOff {
            text: "There is".to_owned(),
        },
    ]);
    let texts: Vec<&str> = messages
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .map(|block| block["text"].as_str().unwrap_or("a picture"))
        .collect();
    assert_eq!(
        texts,
        [
            "list",
            "I list.",
            r#"[You used bash with {"command":"ls","shell":"run"}. Result: a b]"#,
            "a picture",
            "There is",
            retell::GO_ON,
        ]
    );
}

#[test]
fn at_most_four_places_are_marked_for_the_cache() {
    let mut items = vec![prompt("begin")];
    for index in 0..9 {
        let id = format!("t{index}");
        items.push(answer(&json!([call(&id)])));
        items.push(Item::Results(vec![result(&id, "Clicked.")]));
    }
    let body = body(MODEL, ToolVersion::Toolset20260801, items, &[]);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert!(body["system"][0]["cache_control"].is_object());
}

#[test]
fn after_a_pause_the_beginning_of_the_answer_is_sent_back() {
    let said = [json!({"type": "text", "text": "I look it up."})];
    let tools = ToolVersion::Toolset20260801;
    let body = body(MODEL, tools, vec![prompt("hi")], &said);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[1], json!({"role": "assistant", "content": said}));
}

#[test]
fn calls_that_were_given_up_are_answered() {
    let messages = messages(vec![
        prompt("go"),
        answer(&json!([call("a"), call("b")])),
        Item::Steering {
            text: "stop".to_owned(),
        },
    ]);
    let told = messages[2]["content"].as_array().unwrap();
    for block in &told[..2] {
        assert_eq!(block["content"][0]["text"], retell::NOT_DONE);
        assert_eq!(block["is_error"], true);
        assert_eq!(block["toolset_name"], "computer");
    }
    assert_eq!(told[2]["text"], "stop");
}

#[test]
fn another_model_gets_calls_in_its_own_form_and_no_thinking_of_others() {
    let content = json!([
        {"type": "thinking", "thinking": "…", "signature": "c2ln"},
        {"type": "text", "text": "I click."},
        call("a"),
    ]);
    let items = || {
        vec![
            prompt("go"),
            answer(&content),
            Item::Results(vec![shown("a", "Clicked.")]),
        ]
    };
    let of = |model, tools| body(model, tools, items(), &[])["messages"].clone();
    let dated = of("claude-opus-4-7", ToolVersion::Computer20251124);
    assert_eq!(
        dated[1]["content"],
        json!([
            {"type": "text", "text": "I click."},
            {"type": "tool_use", "id": "a", "name": "computer", "input": {"action": "left_click", "coordinate": [1, 2]}},
        ])
    );
    let told = &dated[2]["content"][0];
    assert_eq!(told.get("toolset_name"), None);
    assert_eq!(
        told["content"][1]["transformations"],
        json!({"oversized_image": "error"})
    );
    let same = of(MODEL, ToolVersion::Computer20251124);
    assert_eq!(same[1]["content"][0]["type"], "thinking");
    // Models that want thinking before every call are told in words.
    let told = of("claude-sonnet-4-5", ToolVersion::Computer20250124);
    assert_eq!(told.as_array().unwrap().len(), 1);
    assert_eq!(told[0]["content"][1]["text"], "[Result: Clicked.]");
    let back = json!([{"type": "tool_use", "id": "a", "name": "computer", "input": {"action": "key", "text": "Return"}}]);
    let messages = messages(vec![prompt("go"), answer(&back)]);
    assert_eq!(
        messages[1]["content"][0],
        json!({"type": "tool_use", "id": "a", "name": "key", "toolset_name": "computer", "input": {"text": "Return"}})
    );
}

#[test]
fn long_conversations_are_cleared_and_summarized_by_the_vendor_and_people_s_answers_stay() {
    let of = |model: &str| {
        let offer = AnthropicOffer::to(model);
        let items = vec![prompt("hi")];
        let betas = offer.betas(&testing::request(items.clone()));
        let body = body(model, offer.tools, items, &[]);
        let edits = body["context_management"]["edits"].as_array().cloned();
        (edits.unwrap_or_default(), betas)
    };
    let tokens = |value: u32| json!({"type": "input_tokens", "value": value});
    let (edits, betas) = of("claude-opus-5-5");
    assert_eq!(
        betas,
        ["context-management-2025-06-27", "compact-2026-01-12"]
    );
    assert_eq!(
        edits[0],
        json!({
            "type": "clear_tool_uses_20250919",
            "trigger": tokens(100_000),
            "keep": {"type": "tool_uses", "value": 40},
            "clear_at_least": tokens(30_000),
            "exclude_tools": ["ask_user"],
        })
    );
    assert_eq!(edits[1]["type"], "compact_20260112");
    assert_eq!(edits[1]["trigger"], tokens(180_000));
    // Longer prompts of this model cost five times as much.
    let (edits, _) = of("claude-haiku-5-5");
    assert_eq!(edits[0]["trigger"], tokens(80_000));
    assert_eq!(edits[1]["trigger"], tokens(95_000));
    // Every model gets what it accepts.
    assert_eq!(of("claude-opus-4-7").0.len(), 2);
    assert_eq!(of("claude-haiku-4-5").0.len(), 1);
    assert!(of("claude-3-7-sonnet-20250219").0.is_empty());
}

#[test]
fn nothing_before_the_vendor_s_newest_summary_is_sent_again_and_the_summary_stays() {
    let of_model = |content: &Value| {
        testing::answer(
            VENDOR,
            &json!({"model": "claude-opus-5-5", "content": content}),
        )
    };
    let summary = json!({"type": "compaction", "content": "All so far."});
    let items = vec![
        prompt("Do it."),
        of_model(&json!([{"type": "text", "text": "Old."}])),
        prompt("More."),
        of_model(&json!([summary, {"type": "text", "text": "New."}])),
        prompt("Go on."),
    ];
    let body = body("claude-opus-5-5", ToolVersion::Toolset20260801, items, &[]);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["content"][0], summary);
    assert_eq!(messages[1]["content"][0]["text"], "Go on.");
}

#[test]
fn the_words_of_a_refusal_stand_beside_the_result_that_may_be_cleared() {
    let told = format!("{REFUSED_BECAUSE} Use the branch review.");
    let refusal = CallResult {
        is_error: true,
        ..result("a", &told)
    };
    let sent = messages(vec![
        prompt("hi"),
        answer(&json!([call("a"), call("b")])),
        Item::Results(vec![refusal, result("b", "OK")]),
    ]);
    let blocks = sent[2]["content"].as_array().unwrap();
    let kinds: Vec<_> = blocks.iter().map(|block| block["type"].as_str()).collect();
    assert_eq!(
        kinds,
        [Some("tool_result"), Some("tool_result"), Some("text")]
    );
    assert_eq!(blocks[2]["text"], told);
}
