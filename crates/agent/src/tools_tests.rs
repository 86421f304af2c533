use std::collections::HashSet;

use deskhand_core::policy::{Mode, Policy, Reach, Rule, RuleTool, Then, Verdict};
use serde_json::json;

use super::*;

fn read(tool: &str, input: &Value) -> Box<dyn Invocation> {
    all().read(tool, input).unwrap()
}

fn policy(mode: Mode, rules: &[(RuleTool, &str, Then)]) -> Policy {
    let rule = |(tool, pattern, then): &(RuleTool, &str, Then)| Rule {
        tool: *tool,
        pattern: (*pattern).to_owned(),
        then: *then,
        exact: false,
    };
    Policy {
        mode,
        rules: rules.iter().map(rule).collect(),
    }
}

fn verdict(policy: &Policy, tool: &str, input: &Value) -> Verdict {
    policy.verdict(&read(tool, input).proposal(), Reach::Connected)
}

#[test]
fn every_tool_is_found_by_its_name_and_no_name_is_used_twice() {
    let tools = all();
    let shown = ScreenSize::default();
    let specs = tools.specs(shown);
    let names: HashSet<&str> = specs.iter().map(|spec| &*spec.name).collect();
    assert_eq!(names.len(), specs.len());
    for (tool, spec) in tools.tools.iter().zip(specs.iter()) {
        assert_eq!(tool.name(), spec.name);
        assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        if let Some(native) = spec.native {
            assert_eq!(native.name(), spec.name);
        }
    }
    assert!(
        specs[0]
            .description
            .contains("Screenshots are 1024×768 pixels")
    );
}

#[test]
fn a_session_has_the_tools_it_is_given() {
    let tools = ToolSet::new(vec![Arc::new(bash::BashTool)]);
    assert_eq!(tools.specs(ScreenSize::default()).len(), 1);
    let refused = tools.check("computer", &json!({"action": "screenshot"}));
    assert_eq!(
        refused.unwrap_err(),
        "there is no tool \"computer\"; the tools are bash"
    );
}

#[test]
fn people_read_calls_as_what_was_done() {
    let long = "x".repeat(200);
    for (tool, input, sentence) in [
        (
            "bash",
            json!({"shell": "run", "command": "ls  -l\n"}),
            "Ran ls -l".to_owned(),
        ),
        (
            "bash",
            json!({"shell": "run", "command": long}),
            format!("Ran {}…", &long[..119]),
        ),
        (
            "bash",
            json!({"shell": "restart"}),
            "Restarted the shell".to_owned(),
        ),
        (
            "editor",
            json!({"command": "view", "path": "/x"}),
            "Read /x".to_owned(),
        ),
        (
            "editor",
            json!({"command": "create", "path": "/x", "file_text": ""}),
            "Wrote /x".to_owned(),
        ),
        (
            "editor",
            json!({"command": "insert", "path": "/x", "insert_line": 0, "insert_text": "a"}),
            "Edited /x".to_owned(),
        ),
        (
            "editor",
            json!({"command": "undo_edit", "path": "/x"}),
            "Undid the last edit of /x".to_owned(),
        ),
        (
            "ask_user",
            json!({"question": "Which\none?"}),
            "Asked “Which one?”".to_owned(),
        ),
        (
            "fill_secret",
            json!({"name": "bank"}),
            "Filled in the secret bank".to_owned(),
        ),
    ] {
        assert_eq!(read(tool, &input).describe(), sentence);
    }
    let unreadable = ToolCall {
        id: "a".to_owned(),
        tool: "computer".to_owned(),
        input: json!({"action": "dance"}),
        checks: Vec::new(),
        problem: None,
    };
    assert_eq!(all().describe(&unreadable), None);
}

#[test]
fn modes_judge_calls_by_their_risk() {
    let always = policy(Mode::Always, &[]);
    let asked = |wish: &str| Verdict::Ask(format!("The agent wants to {wish}."));
    for (tool, input, expected) in [
        ("computer", json!({"action": "screenshot"}), Verdict::Allow),
        (
            "computer",
            json!({"action": "click"}),
            asked("use mouse and keyboard"),
        ),
        (
            "bash",
            json!({"shell": "run", "command": "ls"}),
            asked("run a command"),
        ),
        (
            "bash",
            json!({"shell": "run", "command": "git push"}),
            asked("run a command that changes something outside this computer"),
        ),
        (
            "bash",
            json!({"shell": "restart"}),
            asked("start a new shell"),
        ),
        (
            "editor",
            json!({"command": "view", "path": "/x"}),
            Verdict::Allow,
        ),
        (
            "editor",
            json!({"command": "undo_edit", "path": "/x"}),
            asked("use the editor"),
        ),
        ("ask_user", json!({"question": "?"}), Verdict::Allow),
        (
            "fill_secret",
            json!({"name": "bank"}),
            asked("type the secret bank into the page in front"),
        ),
    ] {
        assert_eq!(verdict(&always, tool, &input), expected, "{input}");
    }
    let risky = Policy::default();
    for (tool, input, is_asked) in [
        ("computer", json!({"action": "click"}), false),
        ("bash", json!({"shell": "run", "command": "ls"}), false),
        (
            "bash",
            json!({"shell": "run", "command": "cd x && sudo ls"}),
            true,
        ),
        ("fill_secret", json!({"name": "bank"}), true),
    ] {
        let verdict = verdict(&risky, tool, &input);
        assert_eq!(matches!(verdict, Verdict::Ask(_)), is_asked, "{input}");
    }
}

#[test]
fn rules_match_the_text_of_calls() {
    use RuleTool::{Any, Bash, Computer, FillSecret};
    let rules = [
        (Bash, "git push origin main*", Then::Refuse),
        (Computer, "type *password*", Then::Refuse),
        (Computer, "key ctrl+w", Then::Refuse),
        (Any, "view /etc/*", Then::Refuse),
        (FillSecret, "ba*", Then::Refuse),
        (Any, "*", Then::Allow),
    ];
    let policy = policy(Mode::Always, &rules);
    for (tool, input, expected) in [
        (
            "bash",
            json!({"shell": "run", "command": "cd r; git push origin main -f"}),
            Verdict::Refuse,
        ),
        (
            "bash",
            json!({"shell": "run", "command": "git push origin x"}),
            Verdict::Allow,
        ),
        (
            "computer",
            json!({"action": "type", "text": "my password is x"}),
            Verdict::Refuse,
        ),
        (
            "computer",
            json!({"action": "key", "keys": "ctrl+w"}),
            Verdict::Refuse,
        ),
        (
            "computer",
            json!({"action": "key", "keys": "ctrl+s"}),
            Verdict::Allow,
        ),
        (
            "editor",
            json!({"command": "view", "path": "/etc/passwd"}),
            Verdict::Refuse,
        ),
        ("fill_secret", json!({"name": "bank"}), Verdict::Refuse),
        ("fill_secret", json!({"name": "shop"}), Verdict::Allow),
    ] {
        assert_eq!(verdict(&policy, tool, &input), expected, "{input}");
    }
}

#[test]
fn people_use_the_computer_the_shell_and_the_editor_by_hand_and_nothing_else() {
    let by_hand = |tool, input: Value| read(tool, &input).by_hand();
    assert_eq!(by_hand("computer", json!({"action": "screenshot"})), Ok(()));
    assert_eq!(by_hand("bash", json!({"shell": "restart"})), Ok(()));
    assert_eq!(
        by_hand("editor", json!({"command": "undo_edit", "path": "/x"})),
        Ok(())
    );
    let refused = by_hand("ask_user", json!({"question": "?"})).unwrap_err();
    assert!(refused.contains("send it a message"), "{refused}");
    let refused = by_hand("fill_secret", json!({"name": "bank"})).unwrap_err();
    assert!(refused.contains("type yours"), "{refused}");
}

#[test]
fn a_question_that_cannot_be_answered_is_not_read() {
    let refused = all().check("ask_user", &json!({"question": " "}));
    assert_eq!(
        refused.unwrap_err(),
        "the ask_user tool does not take this input: the question is empty"
    );
}
