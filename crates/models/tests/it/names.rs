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
    assert_snapshot!(told("steps:\n  - txt: Hello."), @"test.yaml has an error: line 2, column 5: unknown field `txt`, expected one of expect, retry, capture, delay_ms, chunk_delay_ms, thinking, text, calls, safety_check, budget, usage, error");
    assert_snapshot!(told("steps:\n  - text: [\n"), @"test.yaml has an error: line 2, column 11: expected string scalar");
    assert_snapshot!(told("steps: [{text: a}]\nturns: []"), @"test.yaml has an error: line 1, column 1: a scenario has `turns` or `steps`, not both");
    assert_snapshot!(told("{}"), @"test.yaml has an error: line 1, column 1: a scenario needs `steps` or `turns`");
    assert_snapshot!(told("steps:\n  - text: a\n  - text: b"), @"test.yaml has an error: line 2, column 5: a step without `calls` or with `error` ends the turn, so the steps after it would never be played");
    assert_snapshot!(told("steps:\n  - calls: [{bash: {command: ls}}]"), @"test.yaml has an error: line 2, column 5: the last step is asked for what comes after its `calls`: end the turn with a step that has only `text`");
    assert_snapshot!(told("steps:\n  - text: Your {{ order }}."), @"test.yaml has an error: line 2, column 5: nothing is called {{ order }}: there is `prompt`, `steering`, `last_result`, `result.1` and what this or an earlier step of the turn captures");
    assert_snapshot!(told("steps:\n  - capture: {prompt: {after: a}}\n    text: a"), @r#"test.yaml has an error: line 2, column 5: "prompt" cannot name a captured part: take a-z, 0-9 and _, beginning with a letter, and none of `prompt`, `steering` and `last_result`"#);
    assert_snapshot!(told("steps:\n  - expect: {colour: green}\n    text: a"), @r##"test.yaml has an error: line 2, column 22: "green" is not a colour: write it as "#rrggbb""##);
    assert_snapshot!(told("steps:\n  - text: a\n    calls:\n      - computer: {action: clikc}\n  - text: b"), @"test.yaml has an error: line 4, column 19: the computer tool does not take this input: unknown variant `clikc`, expected one of `screenshot`, `zoom`, `move`, `click`, `mouse_down`, `mouse_up`, `drag`, `scroll`, `type`, `key`, `hold_key`, `wait`, `cursor_position`");
    assert_snapshot!(told("steps:\n  - text: a\n    calls:\n      - computer: {action: click, at: {find: red}}\n  - text: b"), @r##"test.yaml has an error: line 4, column 19: "red" is not a colour: write it as "#rrggbb""##);
    assert_snapshot!(told("steps:\n  - calls:\n      - bash: {cmd: ls}\n  - text: b"), @"test.yaml has an error: line 3, column 15: the bash tool does not take this input: unknown field `cmd`, expected `command` or `timeout_ms`");
    assert_snapshot!(told("steps:\n  - calls:\n      - browser: {url: x}\n  - text: b"), @"test.yaml has an error: line 3, column 9: unknown variant `browser`, expected one of computer, bash, editor, ask_user, fill_secret");
    assert_snapshot!(told("steps:\n  - text: a\n    error: {kind: odd, message: b}"), @"test.yaml has an error: line 3, column 19: unknown variant `odd`, expected one of rejected, unavailable");
}

#[test]
fn the_example_in_the_documentation_is_a_scenario() {
    let documentation = include_str!("../../../../docs/scenarios.md");
    let (_, example) = documentation.split_once("```yaml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    Folder::with(example)
        .models()
        .model("scripted/test")
        .unwrap();
}
