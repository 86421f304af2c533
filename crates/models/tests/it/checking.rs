//! Checks of models against fake vendors: what works, and each kind of failure with its remedy.

use deskhand_agent::model_check;
use deskhand_core::{
    model::Models,
    model_check::{CheckVerdict, CheckedPoint, ModelReport},
};
use serde_json::{Value, json};

use crate::{server::Reply, wire::Wire};

const OPUS: &str = "anthropic/claude-opus-5-5";
const TERRA: &str = "openai/gpt-6.1-terra";
const FLASH: &str = "gemini/gemini-3.8-flash";
const OWN: &str = "ollama/llama4";
const RESOLD: &str = "openrouter/acme/sees";

fn events(events: &[Value]) -> Reply {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    Reply::stream(&events.collect::<String>())
}

/// An answer over chat completions: a call of the computer with this input, or words.
fn chat(input: Option<Value>, cached: u64) -> Reply {
    let (delta, finish) = match input {
        Some(input) => {
            let function = json!({"name": "computer", "arguments": input.to_string()});
            let call =
                json!({"index": 0, "id": "call_1", "type": "function", "function": function});
            (json!({"tool_calls": [call]}), "tool_calls")
        }
        None => (json!({"content": "I see a disc."}), "stop"),
    };
    events(&[
        json!({"choices": [{"delta": delta}]}),
        json!({"choices": [{"delta": {}, "finish_reason": finish}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 7000, "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": cached}}}),
    ])
}

fn click(x: i32, y: i32) -> Option<Value> {
    Some(json!({"action": "left_click", "coordinate": [x, y]}))
}

/// An answer of Claude: signed thinking and a click, or words.
fn claude(click: Option<[i32; 2]>, cached: u64) -> Reply {
    let usage = json!({"input_tokens": 900, "cache_read_input_tokens": cached, "output_tokens": 1});
    let mut told = vec![
        json!({"type": "message_start", "message": {"usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    let reason = match click {
        Some(at) => {
            let input = json!({"coordinate": at}).to_string();
            told.extend([
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1",
                    "name": "left_click", "toolset_name": "computer", "input": {}}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": input}}),
                json!({"type": "content_block_stop", "index": 1}),
            ]);
            "tool_use"
        }
        None => {
            told.extend([
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "done"}}),
                json!({"type": "content_block_stop", "index": 1}),
            ]);
            "end_turn"
        }
    };
    told.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}));
    told.push(json!({"type": "message_stop"}));
    events(&told)
}

async fn report_at(wire: &Wire, model: &str) -> ModelReport {
    let found = wire.models().model(model).unwrap();
    model_check::check(model, &*found).await
}

async fn report(model: &str, replies: impl IntoIterator<Item = Reply>) -> ModelReport {
    report_at(&Wire::answering(replies).await, model).await
}

/// The verdict on a point, what is told about it, and the remedy.
fn found(report: &ModelReport, point: CheckedPoint) -> (CheckVerdict, String) {
    let mut findings = report.findings.iter();
    let finding = findings.find(|finding| finding.point == point).unwrap();
    let remedy = finding.remedy.as_deref().unwrap_or_default();
    (finding.verdict, format!("{} → {remedy}", finding.text))
}

#[track_caller]
fn assert_found(report: &ModelReport, point: CheckedPoint, verdict: CheckVerdict, parts: &[&str]) {
    let (actual, told) = found(report, point);
    assert_eq!(actual, verdict, "{point:?}: {told}");
    for part in parts {
        assert!(told.contains(part), "{point:?}: {told}");
    }
}

#[tokio::test]
async fn a_model_that_works_passes_every_point() {
    let wire = Wire::answering([claude(Some([800, 300]), 0), claude(None, 6_500)]).await;
    let report = report_at(&wire, OPUS).await;
    let verdicts: Vec<CheckVerdict> = report.findings.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [CheckVerdict::Passed; 7], "{report:#?}");
    assert_eq!(report.n_calls, 2);
    assert!(report.is_good() && report.cost_usd.unwrap() > 0.0);
    let asked = wire.asked();
    // The second call has the first answer as it was, and the same beginning.
    let second = asked[1].body["messages"].to_string();
    assert!(second.contains("c2lnbmVk"), "{second}");
    assert_eq!(asked[0].body["system"], asked[1].body["system"]);
    assert_eq!(asked[0].body["tools"], asked[1].body["tools"]);
    assert!(asked[0].headers["user-agent"].starts_with("deskhand/"));
}

#[tokio::test]
async fn a_model_may_look_before_it_clicks() {
    let look = Some(json!({"action": "screenshot"}));
    let replies = [chat(look, 0), chat(click(800, 300), 0), chat(None, 0)];
    let report = report(OWN, replies).await;
    assert!(report.is_good(), "{report:#?}");
    assert_eq!(report.n_calls, 3);
    assert_found(
        &report,
        CheckedPoint::Price,
        CheckVerdict::Passed,
        &["costs nothing"],
    );
    assert_found(&report, CheckedPoint::Cache, CheckVerdict::Skipped, &[]);
}

#[tokio::test]
async fn a_failure_after_a_look_is_told() {
    let look = Some(json!({"action": "screenshot"}));
    let told = json!({"error": {"message": "tool messages are not supported"}});
    let report = report(OWN, [chat(look, 0), Reply::refusal(400, &told)]).await;
    assert!(!report.is_good(), "{report:#?}");
    let parts = ["tool messages are not supported", "its own earlier answer"];
    assert_found(
        &report,
        CheckedPoint::SecondStep,
        CheckVerdict::Failed,
        &parts,
    );
    assert_found(&report, CheckedPoint::Answer, CheckVerdict::Passed, &[]);
}

#[tokio::test]
async fn a_wrong_key_and_an_unknown_model_are_told_apart_for_every_vendor() {
    let refusal =
        |status, message: &str| Reply::refusal(status, &json!({"error": {"message": message}}));
    for (model, status, message) in [
        (OPUS, 401, "invalid x-api-key"),
        (TERRA, 401, "Incorrect API key provided"),
        (
            FLASH,
            400,
            "API key not valid. Please pass a valid API key.",
        ),
        (RESOLD, 401, "No auth credentials found"),
    ] {
        let report = report(model, [refusal(status, message)]).await;
        assert!(!report.is_good());
        assert_found(
            &report,
            CheckedPoint::Answer,
            CheckVerdict::Failed,
            &[message, "key anew"],
        );
        assert_found(&report, CheckedPoint::Click, CheckVerdict::Skipped, &[]);
    }
    for model in [OPUS, TERRA, FLASH, RESOLD, OWN] {
        let report = report(model, [refusal(404, "no such model")]).await;
        let parts = ["no such model", "Compare the name"];
        assert_found(&report, CheckedPoint::Answer, CheckVerdict::Failed, &parts);
    }
}

#[tokio::test]
async fn a_vendor_that_cannot_be_reached_is_told() {
    let nobody = [("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")];
    let wire = Wire::with([chat(None, 0)], &nobody).await;
    let report = report_at(&wire, OWN).await;
    let parts = ["could not be reached", "base_url"];
    assert_found(&report, CheckedPoint::Answer, CheckVerdict::Failed, &parts);
}

#[tokio::test]
async fn a_model_without_tools_is_told_whether_it_refuses_or_only_talks() {
    let talks = report(OWN, [chat(None, 0)]).await;
    let parts = ["I see a disc.", "call functions"];
    assert_found(&talks, CheckedPoint::Tools, CheckVerdict::Failed, &parts);
    let refuses = json!({"error": {"message": "llama4 does not support tools"}});
    let refuses = report(OWN, [Reply::refusal(400, &refuses)]).await;
    let parts = ["does not support tools", "call functions"];
    assert_found(&refuses, CheckedPoint::Tools, CheckVerdict::Failed, &parts);
}

#[tokio::test]
async fn a_picture_that_is_refused_is_told_with_its_size() {
    let told = json!({"error": {"message": "image dimensions exceed the limit"}});
    let report = report(RESOLD, [Reply::refusal(400, &told)]).await;
    let parts = ["1024×768", "smaller screen"];
    assert_found(&report, CheckedPoint::Picture, CheckVerdict::Failed, &parts);
}

#[tokio::test]
async fn a_click_that_misses_is_told_with_the_unit_that_would_hit() {
    for (x, y, remedy) in [
        (
            781,
            391,
            "coordinates = \"thousandths\"` in `[models.ollama]",
        ),
        (100, 100, "made for computer use"),
    ] {
        let report = report(OWN, [chat(click(x, y), 0), chat(None, 0)]).await;
        let place = format!("({x}, {y})");
        assert_found(
            &report,
            CheckedPoint::Click,
            CheckVerdict::Failed,
            &[&place, remedy],
        );
    }
    // A model whose name says thousandths, and which points in pixels.
    let report = report("ollama/qwen3-vl", [chat(click(800, 300), 0), chat(None, 0)]).await;
    let parts = ["coordinates = \"pixels\"` in `[models.ollama]"];
    assert_found(&report, CheckedPoint::Click, CheckVerdict::Failed, &parts);
}

#[tokio::test]
async fn a_signature_that_is_rejected_is_told() {
    let told = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let refusal = Reply::refusal(400, &json!({"error": {"message": told}}));
    let report = report(OPUS, [claude(Some([800, 300]), 0), refusal]).await;
    let parts = ["Invalid `signature`", "proxy between"];
    assert_found(
        &report,
        CheckedPoint::SecondStep,
        CheckVerdict::Failed,
        &parts,
    );
    assert_found(&report, CheckedPoint::Click, CheckVerdict::Passed, &[]);
}

#[tokio::test]
async fn a_cache_that_is_not_read_is_a_warning_and_an_unknown_price_a_failure() {
    let report = report(RESOLD, [chat(click(800, 300), 0), chat(None, 0)]).await;
    assert_found(
        &report,
        CheckedPoint::Cache,
        CheckVerdict::Warned,
        &["none of its", "Check again"],
    );
    let parts = ["unknown", "[models.prices]", "openrouter/acme/sees"];
    assert_found(&report, CheckedPoint::Price, CheckVerdict::Failed, &parts);
    assert_eq!(report.cost_usd, None);
}

#[tokio::test]
async fn a_guessed_price_is_a_warning_and_the_cost_is_told_first() {
    let wire = Wire::answering([claude(Some([800, 300]), 0), claude(None, 10)]).await;
    let report = report_at(&wire, "anthropic/claude-opus-6").await;
    assert_found(
        &report,
        CheckedPoint::Price,
        CheckVerdict::Warned,
        &["guessed"],
    );
    assert!(report.is_good());
    let estimate = |name: &str| model_check::estimate(&*wire.models().model(name).unwrap());
    let usd = estimate(OPUS).unwrap();
    assert!((0.01..0.1).contains(&usd), "{usd}");
    assert_eq!(estimate(OWN), None);
}
