use serde_json::{Value, json};

use super::*;

/// Returns the narrator's steps for a list of events, one line each.
fn told(events: &[Value]) -> (String, Narrator) {
    let mut narrator = Narrator::default();
    let mut lines = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let mut event = event.clone();
        event["seq"] = (at + 1).into();
        event["at"] = format!("2030-01-01T00:00:0{at}Z").into();
        let event: Event = serde_json::from_value(event).unwrap();
        for step in narrator.tell(&event) {
            let took = step.took_ms.map(|ms| format!(" in {ms} ms"));
            lines.push(format!(
                "{} ms {:?}: {}{}",
                step.after_ms,
                step.mark,
                step.text,
                took.unwrap_or_default()
            ));
        }
    }
    (lines.join("\n"), narrator)
}

fn turn() -> &'static str {
    "01890000-0000-7000-8000-000000000001"
}

#[test]
fn a_turn_reads_as_its_steps_and_keeps_the_answer_apart() {
    let (lines, narrator) = told(&[
        json!({"type": "status", "data": {"state": "running", "sandbox": "starting"}}),
        json!({"type": "text", "data": {"turn": turn(), "block": 0, "text": "I will\nlook. "}}),
        json!({"type": "tool_use", "data":
            {"turn": turn(), "call": "a", "tool": "computer",
             "input": {"action": "screenshot"}, "description": "Looked at the screen"}}),
        json!({"type": "tool_use", "data":
            {"turn": turn(), "call": "b", "tool": "bash",
             "input": {"shell": "run", "command": "ls"}, "description": "Ran ls"}}),
        json!({"type": "tool_result", "data": {"turn": turn(), "call": "a", "text": "", "duration_ms": 7}}),
        json!({"type": "tool_result", "data":
            {"turn": turn(), "call": "b", "text": "no\nsuch file", "is_error": true, "duration_ms": 3}}),
        json!({"type": "text", "data": {"turn": turn(), "block": 1, "text": "All is well."}}),
        json!({"type": "message", "data":
            {"id": turn(), "role": "assistant", "content": "All is well.", "turn": turn()}}),
        json!({"type": "complete", "data":
            {"turn": turn(), "outcome": "done", "n_steps": 2, "duration_ms": 8000}}),
    ]);
    insta::assert_snapshot!(lines, @"
    2000 ms Said: I will look.
    4000 ms Done: Looked at the screen in 7 ms
    5000 ms Failed: Ran ls: no such file in 3 ms
    8000 ms Note: Done in 8000 ms
    ");
    assert_eq!(narrator.answer.as_deref(), Some("All is well."));
    assert_eq!(narrator.end, Some(TurnEnd::Done));
}

#[test]
fn an_error_is_the_end_only_of_a_turn() {
    let trouble = |turn: Option<&str>| {
        let mut event = json!({"type": "error", "data": {"code": "x", "message": "It broke."}});
        if let Some(turn) = turn {
            event["data"]["turn"] = turn.into();
        }
        told(&[event])
    };
    let (lines, narrator) = trouble(None);
    assert_eq!(
        (lines.as_str(), narrator.end),
        ("0 ms Failed: It broke.", None)
    );
    assert_eq!(trouble(Some(turn())).1.end, Some(TurnEnd::Failed));
}

#[test]
fn people_who_take_over_are_told_of() {
    let lease = |data: Value| {
        let mut event = json!({"type": "lease", "data": {"user": turn(), "name": "bob"}});
        event["data"]
            .as_object_mut()
            .unwrap()
            .extend(data.as_object().unwrap().clone());
        event
    };
    let until = "2030-01-01T00:05:00Z";
    let (lines, narrator) = told(&[
        lease(json!({"change": "taken", "until": until})),
        lease(json!({"change": "extended", "until": until})),
    ]);
    assert_eq!(lines, "0 ms Note: bob took over mouse and keyboard");
    assert_eq!(narrator.activity, "Waiting until bob hands back");
    let (lines, narrator) = told(&[lease(json!({"change": "ended", "reason": "handed_back"}))]);
    assert_eq!(lines, "0 ms Note: bob handed back");
    assert_eq!(narrator.activity, "Thinking");
}

#[test]
fn another_model_is_told_of() {
    let data = json!({"model": "a/b", "by": turn(), "by_name": "ada"});
    let (lines, _) = told(&[json!({"type": "model", "data": data})]);
    assert_eq!(lines, "0 ms Note: ada changed the model to a/b");
}
