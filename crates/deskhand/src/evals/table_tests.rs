use serde_json::{Value, json};

use super::*;

fn trial(number: u64, model: &str, state: &str, reason: Option<&str>) -> Value {
    json!({
        "number": number, "model": model, "round": 1, "state": state, "reason": reason,
        "session": (state != "skipped").then_some("0190a000-0000-7000-8000-000000000000"),
        "n_steps": 4, "cost_usd": 0.01, "seconds": 12.5, "n_restarts": 0,
        "started_at": null, "ended_at": null,
    })
}

fn figures(model: &str, passed: u64, failed: u64, success: &Value) -> Value {
    json!({
        "model": model, "n_passed": passed, "n_failed": failed, "n_errors": failed, "n_skipped": 0, "n_open": 0,
        "success": success, "median_steps": 4.0, "median_seconds": 12.5, "median_usd": 0.01, "total_usd": 0.02,
    })
}

#[test]
fn models_are_side_by_side_with_links_to_what_failed() {
    let (a, b) = ("anthropic/claude-opus-5-5", "openai/gpt-6");
    let results = json!({
        "id": "0190a000-0000-7000-8000-000000000001", "suite": "mine", "models": [a, b], "runs": 1, "parallel": 4,
        "budget_usd": null, "state": "done", "waits_for": null, "n_trials": 6, "n_ended": 6, "n_passed": 3,
        "cost_usd": 0.04, "created_at": "2026-01-02T03:04:05Z", "ended_at": null, "description": "",
        "figures": [
            figures(a, 2, 0, &json!({"rate": 1.0, "low": 0.342, "high": 1.0})),
            figures(b, 1, 1, &json!({"rate": 0.5, "low": 0.095, "high": 0.905})),
        ],
        "tasks": [
            {"name": "rename-photos", "tags": [], "task": "…", "trials": [
                trial(0, a, "passed", None), trial(1, b, "failed", Some("a.jpg is still there"))]},
            {"name": "sum", "tags": [], "task": "…", "trials": [
                trial(2, a, "passed", Some("right")), trial(3, b, "passed", None)]},
            {"name": "form", "tags": [], "task": "…", "trials": [
                trial(4, a, "skipped", Some("the budget of the eval was used up")),
                trial(5, b, "error", Some("\u{1b}[2Jthe set-up failed"))]},
        ],
    });
    let results = serde_json::from_value(results).unwrap();
    let lines = lines(&results, "http://localhost:7878");
    let lines: Vec<_> = lines
        .iter()
        .map(|line| console::strip_ansi_codes(&line.to_string()).into_owned())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn trials_without_a_result_have_no_share() {
    let rounds = |states: &[&str]| {
        let trials = states.iter().map(|state| trial(0, "a", state, None));
        let trials: Vec<TrialView> = trials
            .map(|one| serde_json::from_value(one).unwrap())
            .collect();
        let cell = cell(&trials.iter().collect::<Vec<_>>());
        (cell.text, cell.style)
    };
    assert_eq!(
        rounds(&["error", "skipped"]),
        (NONE.to_owned(), Style::new().dim())
    );
    assert_eq!(
        rounds(&["error", "failed"]),
        ("0/1".to_owned(), Style::new().red())
    );
}
