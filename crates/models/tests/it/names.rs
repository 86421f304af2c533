//! Which models there are, and what is said about those there are not.

use deskhand_core::model::Models;
use deskhand_models::{ConfiguredModels, ModelSettings};
use insta::assert_snapshot;

use crate::fixtures::Folder;

const GREETING: &str = "steps: [{text: Hello.}]";

#[test]
fn the_default_model_is_there_without_any_folder() {
    let models = ConfiguredModels::new(ModelSettings::default()).unwrap();
    assert_eq!(models.default_model(), "scripted/demo");
    models.model("scripted/demo").unwrap();
}

#[test]
fn unknown_models_are_told_what_there_is_and_where_more_goes() {
    let folder = Folder::with(GREETING).and("notes.txt", "");
    assert_snapshot!(folder.refusal("scripted/nothing"), @"no scenario has this name; there is scripted/demo, scripted/test; more scenarios go into FOLDER as NAME.yaml");
    assert_snapshot!(folder.refusal("demo"), @"models are named `vendor/name`; vendors that are set up: ollama; there is scripted/demo, scripted/test; more scenarios go into FOLDER as NAME.yaml");
    assert_snapshot!(folder.refusal("acme/large"), @r#"no vendor "acme" is set up; vendors that are set up: ollama; there is scripted/demo, scripted/test; more scenarios go into FOLDER as NAME.yaml"#);
    let error = ConfiguredModels::new(ModelSettings::default())
        .unwrap()
        .model("scripted/nothing")
        .unwrap_err();
    assert_snapshot!(error, @r#"there is no model "scripted/nothing": no scenario has this name; there is scripted/demo; more scenarios need a scenario folder in the configuration"#);
}

#[test]
fn names_lead_nowhere_but_into_the_folder() {
    let folder = Folder::with(GREETING);
    for name in [
        "scripted/",
        "scripted/../test",
        "scripted/test.yaml",
        "scripted//etc/passwd",
        "scripted/Test",
        "scripted/t\0",
    ] {
        let reason = folder.refusal(name);
        assert!(reason.contains("made of a-z"), "{name}: {reason}");
    }
}

#[test]
fn an_edited_file_counts_the_next_time() {
    let folder = Folder::with("steps: []");
    folder.refusal("scripted/test");
    let folder = folder.and("test.yaml", GREETING);
    folder.models().model("scripted/test").unwrap();
}

#[test]
fn a_file_goes_before_the_built_in_scenario() {
    let folder = Folder::new().and("demo.yaml", "steps: [{}]");
    assert_snapshot!(folder.refusal("scripted/demo"), @"demo.yaml has an error: line 1, column 9: a step needs `text`, `calls` or `error`");
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("test.yaml")).unwrap();
    assert_snapshot!(folder.refusal("scripted/test"), @"test.yaml cannot be read: it is not a file");
}

#[test]
fn mistakes_in_a_file_are_named_with_line_and_column() {
    let told = |yaml: &str| Folder::with(yaml).refusal("scripted/test");
    assert_snapshot!(told("steps:\n  - txt: Hello."), @"test.yaml has an error: line 2, column 5: unknown field `txt`, expected one of expect, retry, capture, delay_ms, chunk_delay_ms, thinking, text, calls, safety_check, budget, usage, unfinished, error");
    assert_snapshot!(told("steps:\n  - text: [\n"), @"test.yaml has an error: line 2, column 11: expected string scalar");
    assert_snapshot!(told("steps: [{text: a}]\nturns: []"), @"test.yaml has an error: line 1, column 1: a scenario has `turns` or `steps`, not both");
    assert_snapshot!(told("{}"), @"test.yaml has an error: line 1, column 1: a scenario needs `steps` or `turns`");
    assert_snapshot!(told("steps:\n  - text: a\n  - text: b"), @"test.yaml has an error: line 2, column 5: a step without `calls` or with `error` ends the turn, so the steps after it would never be played; it goes on after `unfinished` and after an `error` with `times`");
    assert_snapshot!(told("steps:\n  - calls: [{bash: {command: ls}}]"), @"test.yaml has an error: line 2, column 5: the last step does not end the turn: add a step that has only `text`");
    assert_snapshot!(told("steps:\n  - text: Your {{ order }}."), @"test.yaml has an error: line 2, column 5: there is no value {{ order }}: use `prompt`, `steering`, `last_result`, `result.1` or a part that this or an earlier step of the turn captures");
    assert_snapshot!(told("steps:\n  - capture: {prompt: {after: a}}\n    text: a"), @r#"test.yaml has an error: line 2, column 5: "prompt" cannot name a captured part: use a-z, 0-9 and _, beginning with a letter, and not `prompt`, `steering` or `last_result`"#);
    assert_snapshot!(told("steps:\n  - expect: {colour: green}\n    text: a"), @r##"test.yaml has an error: line 2, column 22: "green" is not a colour: write it as "#rrggbb""##);
    assert_snapshot!(told("steps:\n  - text: a\n    calls:\n      - computer: {action: clikc}\n  - text: b"), @"test.yaml has an error: line 4, column 19: the computer tool does not take this input: unknown variant `clikc`, expected one of `screenshot`, `zoom`, `move`, `click`, `mouse_down`, `mouse_up`, `drag`, `scroll`, `type`, `key`, `hold_key`, `wait`, `cursor_position`");
    assert_snapshot!(told("steps:\n  - text: a\n    calls:\n      - computer: {action: click, at: {find: red}}\n  - text: b"), @r##"test.yaml has an error: line 4, column 19: "red" is not a colour: write it as "#rrggbb""##);
    assert_snapshot!(told("steps:\n  - calls:\n      - bash: {cmd: ls}\n  - text: b"), @"test.yaml has an error: line 3, column 15: the bash tool does not take this input: unknown field `cmd`, expected `command` or `timeout_ms`");
    let no_tool = told("steps:\n  - calls:\n      - telephone: {url: x}\n  - text: b");
    let expected = r#"test.yaml has an error: line 3, column 20: there is no tool "telephone"; the tools are computer, "#;
    assert!(no_tool.starts_with(expected), "{no_tool}");
    assert_snapshot!(told("steps:\n  - text: a\n    error: {kind: odd, message: b}"), @"test.yaml has an error: line 3, column 19: unknown variant `odd`, expected one of rejected, refused, unavailable, overloaded, rate_limited, server_error, empty, cut_off");
}

#[test]
fn a_model_that_cannot_be_played_is_named_with_line_and_column() {
    let told = |model: &str| {
        let yaml = format!("chunk_delay_ms: 0\nplays: {model}\n{GREETING}");
        Folder::with(&yaml).refusal("scripted/test")
    };
    assert_snapshot!(told("gemini"), @r#"test.yaml has an error: line 2, column 8: `plays` names a model as `vendor/name`, not "gemini""#);
    assert_snapshot!(told("gemini/gemini-9"), @r#"test.yaml has an error: line 2, column 8: gemini has no model "gemini-9" that is known here; there is gemini-3.8-flash, gemini-3.7-flash, gemini-3.6-flash, gemini-3.5-flash, gemini-3.5-flash-lite, gemini-3.1-pro-preview, gemini-3-flash-preview, gemini-2.5-computer-use-preview-10-2025"#);
    assert_snapshot!(told("acme/large"), @r#"test.yaml has an error: line 2, column 8: there is no vendor "acme" to play; there is anthropic, openai, gemini, bedrock, vertex, openrouter, ollama, vllm, litellm"#);
    assert_snapshot!(told("[gemini]"), @"test.yaml has an error: line 2, column 8: expected string scalar");
}

#[test]
fn troubles_that_cannot_be_meant_are_named_with_line_and_column() {
    let told = |step: &str| Folder::with(&format!("steps:\n  - {step}")).refusal("scripted/test");
    assert_snapshot!(told("{text: a, error: {kind: rejected, times: 2}}"), @"test.yaml has an error: line 2, column 5: an `error` of the kind `rejected` has no `times`: the turn ends with the first");
    assert_snapshot!(told("{text: a, error: {kind: refused, after_ms: 2}}"), @"test.yaml has an error: line 2, column 5: an `error` of the kind `refused` has no `after_ms`: the model is not asked again later");
    assert_snapshot!(told("{text: a, error: {kind: empty, message: b, times: 1}}"), @"test.yaml has an error: line 2, column 5: an `error` of the kind `empty` has no `message`: it is an answer");
    assert_snapshot!(told("{text: a, error: {kind: overloaded, after_chars: 1}}"), @"test.yaml has an error: line 2, column 5: an `error` of the kind `overloaded` has no `after_chars`: nothing is said before it");
    assert_snapshot!(told("{text: a, error: {kind: overloaded, times: 0}}"), @"test.yaml has an error: line 2, column 5: `times` of an `error` is 1 or more");
    assert_snapshot!(told("{error: {kind: overloaded, times: 1}}"), @"test.yaml has an error: line 2, column 5: a step whose `error` has `times` needs `text` or `calls` to play after the errors");
    assert_snapshot!(told("{text: a, error: [{kind: empty}, {kind: overloaded, times: 1}]}"), @"test.yaml has an error: line 2, column 5: an `error` without `times` repeats for ever, so the errors after it would never occur");
    assert_snapshot!(told("{text: a, error: [{kind: empty, often: 1}]}"), @"test.yaml has an error: line 2, column 37: unknown field `often`, expected one of kind, message, times, after_ms, after_chars");
    assert_snapshot!(told("{text: a, unfinished: true}"), @"test.yaml has an error: line 2, column 5: the last step does not end the turn: add a step that has only `text`");
    assert_snapshot!(told("{unfinished: true}\n  - text: a"), @"test.yaml has an error: line 2, column 5: a step needs `text`, `calls` or `error`");
    assert_snapshot!(told("calls:\n      - {bash: {command: ls}, editor: {command: view}}\n  - text: a"), @"test.yaml has an error: line 3, column 9: a call names one tool, such as bash, and nothing else but safety_check");
    assert_snapshot!(told("calls:\n      - safety_check: why\n  - text: a"), @"test.yaml has an error: line 3, column 9: a call names one tool, such as bash, and nothing else but safety_check");
}

#[test]
fn the_examples_in_the_documentation_are_scenarios() {
    let documentation = include_str!("../../../../docs/guide/scenarios.md");
    let examples = documentation.split("```yaml\n").skip(1);
    let examples: Vec<&str> = examples
        .filter_map(|text| Some(text.split_once("```")?.0))
        .filter(|example| example.contains("steps:"))
        .chain([include_str!("../../../../examples/weather.yaml")])
        .collect();
    assert!(examples.len() > 1, "{examples:?}");
    for example in examples {
        let folder = Folder::with(example);
        let found = folder.models().model("scripted/test");
        assert!(found.is_ok(), "{found:?} in {example}");
    }
}
