use deskhand_core::{event::ModelTold, id::TurnId, vault::HttpUse};

use super::*;
use crate::{
    system_prompt::{PromptTemplate, secrets::UsableSecret},
    tools::{self, Tool},
};

fn prompt(template: &str, instructions: &str) -> SystemPrompt {
    SystemPrompt {
        template: PromptTemplate::parse(template).unwrap(),
        instructions: instructions.to_owned(),
        ..SystemPrompt::default()
    }
}

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

const MONDAY: &str = "2026-11-16T23:59:59Z";
const TUESDAY: &str = "2026-11-17T00:00:00Z";
const TEMPLATE: &str = "On {{date}}, pictures of {{screen}}.";

/// A tool whose description the test chooses.
#[derive(Debug)]
struct Described(&'static str, &'static str);

impl Tool for Described {
    fn name(&self) -> &str {
        self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.to_owned(),
            description: self.1.to_owned(),
            parameters: serde_json::json!({"type": "object"}),
            native: None,
        }
    }

    fn read(
        &self,
        _input: &serde_json::Value,
    ) -> Result<Box<dyn tools::Invocation>, tools::BadCall> {
        unreachable!("no test calls it")
    }
}

fn described(tools: &[(&'static str, &'static str)]) -> ToolSet {
    let tool = |(name, text): &(&'static str, &'static str)| {
        std::sync::Arc::new(Described(name, text)) as std::sync::Arc<dyn Tool>
    };
    ToolSet::new(tools.iter().map(tool).collect())
}

#[test]
fn a_briefing_is_what_a_first_turn_was_told_and_survives_storage() {
    let instructions = "Write {{screen}} and {{date}} as they are.";
    let asked = prompt(TEMPLATE, instructions);
    let briefing = Briefing::new(&asked, &tools::all(), at(MONDAY));
    let stored = serde_json::to_string(&briefing).unwrap();
    let read: Briefing = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, briefing);
    for (width, height) in [(1024, 768), (640, 480)] {
        let shown = ScreenSize { width, height };
        assert_eq!(read.system(shown), asked.fill(at(MONDAY), shown));
        assert_eq!(read.tools(shown), tools::all().specs(shown));
    }
    assert!(read.system(ScreenSize::default()).contains(instructions));
}

#[test]
fn only_what_has_changed_is_told_and_only_once() {
    let before = prompt(TEMPLATE, "Speak Dutch.");
    let tools = tools::all();
    let briefing = Briefing::new(&before, &tools, at(MONDAY));
    let news = |log: &[EventBody], prompt: &SystemPrompt, now: &str| {
        briefing.news(briefing.known(log), prompt, &tools, at(now))
    };
    assert_eq!(news(&[], &before, MONDAY), None);
    let (text, facts) = news(&[], &prompt(TEMPLATE, "Speak Greek."), TUESDAY).unwrap();
    insta::assert_snapshot!(text, @r"
    [Today is Tuesday, 17 November 2026.]

    [The people in this conversation have changed their instructions. Follow these in place of the earlier ones:]

    Speak Greek.
    ");
    let log = [EventBody::Told(ModelTold {
        turn: TurnId::new(),
        text,
        facts,
    })];
    assert_eq!(
        news(&log, &prompt(TEMPLATE, " Speak Greek.\n"), TUESDAY),
        None
    );
    let (text, _) = news(&log, &prompt(TEMPLATE, ""), TUESDAY).unwrap();
    assert_eq!(
        text,
        "[The people in this conversation have withdrawn their instructions.]"
    );
    let other = prompt("Now {{date}} with {{screen}}.\n", "Speak Greek.");
    let (text, _) = news(&log, &other, TUESDAY).unwrap();
    insta::assert_snapshot!(text, @r"
    [The text that you were given before this conversation has changed. This applies in place of it; the instructions of the people in this conversation stay in force:]

    Now Tuesday, 17 November 2026 with the size that you know.
    ");
}

#[test]
fn tools_that_changed_are_told_and_new_ones_are_not_offered() {
    let asked = prompt(TEMPLATE, "");
    let before = described(&[("look", "Looks."), ("act", "Acts."), ("end", "Ends.")]);
    let briefing = Briefing::new(&asked, &before, at(MONDAY));
    let now = described(&[
        ("look", "Looks."),
        ("act", "Acts at {{screen}}."),
        ("new", ""),
    ]);
    let (text, _) = briefing
        .news(briefing.known(&[]), &asked, &now, at(MONDAY))
        .unwrap();
    insta::assert_snapshot!(text, @r#"
    [The tool `act` has changed: Acts at the size that you know. The schema of its input is now {"type":"object"}]

    [The tool `end` can no longer be used.]
    "#);
    let offered = briefing.tools(ScreenSize::default());
    let names: Vec<&str> = offered.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["look", "act", "end"]);
    assert_eq!(offered[1].description, "Acts.");
}

#[test]
fn secrets_for_programs_stand_in_the_system_text_and_changes_are_told() {
    let github = UsableSecret {
        name: "github".parse().unwrap(),
        origins: vec!["https://api.github.com".parse().unwrap()],
        http: HttpUse {
            headers: vec!["authorization".parse().unwrap()],
            env: "GITHUB_TOKEN".parse().unwrap(),
        },
    };
    let (tools, now) = (described(&[]), at(MONDAY));
    let without = prompt(TEMPLATE, "Be brief.");
    let with = SystemPrompt {
        secrets: vec![github],
        ..without.clone()
    };
    let line = "- `GITHUB_TOKEN`: the secret github, in `authorization` of requests to https://api.github.com";
    let briefing = Briefing::new(&with, &tools, now);
    let text = briefing.system(ScreenSize::default());
    let (before, after) = text.split_once(line).expect("the line is there");
    assert!(before.contains("# Secrets for HTTP APIs"), "{text}");
    assert!(after.ends_with("Be brief.\n"), "{text}");

    let known = briefing.known(&[]).clone();
    assert_eq!(briefing.news(&known, &with, &tools, now), None);
    let (note, known) = briefing.news(&known, &without, &tools, now).unwrap();
    assert!(note.contains("can no longer use secrets"), "{note}");
    let (note, _) = briefing.news(&known, &with, &tools, now).unwrap();
    assert!(note.ends_with(line), "{note}");

    // A session from before there were such secrets is told nothing while it has none.
    let stored = serde_json::to_value(Briefing::new(&without, &tools, now)).unwrap();
    assert_eq!(stored["facts"].get("secrets"), None);
}
