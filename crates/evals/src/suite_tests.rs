use deskhand_testkit::fuzz;

use super::*;

/// Reads a suite that has only this task.
fn read_task(task: &str) -> Result<EvalTask, ReadSuiteError> {
    let indented = task.trim_start().replace('\n', "\n    ");
    let yaml = format!("name: s\ntasks:\n  - {indented}");
    Suite::read(&yaml).map(|mut suite| suite.tasks.remove(0))
}

fn problem(yaml: &str) -> String {
    Suite::read(yaml).unwrap_err().to_string()
}

#[test]
fn a_task_has_all_that_it_says_and_the_rest_from_the_defaults() {
    let suite = Suite::read(
        "name: mine\n\
         description: Two tasks.\n\
         defaults:\n\
         \x20 computer: browser\n\
         \x20 network: usual\n\
         \x20 instructions: Be quick.\n\
         \x20 limits: {steps: 9, usd: 2}\n\
         tasks:\n\
         \x20 - name: first\n\
         \x20   tags: [files, easy]\n\
         \x20   task: Do it.\n\
         \x20   files: {~/a/b.txt: \"one\\n\"}\n\
         \x20   pages: {index.html: <h1>Hi</h1>}\n\
         \x20   open: http://localhost:8000/\n\
         \x20   setup: mkdir x\n\
         \x20   check: test -d x\n\
         \x20   limits: {seconds: 30}\n\
         \x20   oracle: [{text: Done.}]\n\
         \x20 - {name: second, task: Do that., check: \"true\", computer: desktop, network: closed, instructions: ''}\n",
    );
    let suite = suite.unwrap();
    assert_eq!((&*suite.name, suite.tasks.len()), ("mine", 2));
    let first = suite.task("first").unwrap();
    assert_eq!(first.tags, ["files", "easy"]);
    assert_eq!(first.computer, ComputerKind::Browser);
    assert_eq!(first.network, SuiteNetwork::Usual);
    assert_eq!(first.instructions, "Be quick.");
    assert_eq!(
        first.files,
        [("~/a/b.txt".parse().unwrap(), "one\n".to_owned())]
    );
    assert_eq!(first.pages["index.html"], "<h1>Hi</h1>");
    assert_eq!(first.open, Some("http://localhost:8000/".parse().unwrap()));
    assert_eq!(first.setup.as_deref(), Some("mkdir x"));
    let limits = TaskLimits {
        steps: 9,
        seconds: 30,
        usd: 2.0,
    };
    assert_eq!(first.limits, limits);
    assert!(first.steps(Double::Oracle).is_some() && first.steps(Double::Fool).is_none());
    let second = suite.task("second").unwrap();
    assert_eq!(second.computer, ComputerKind::Desktop);
    assert_eq!(second.network, SuiteNetwork::Closed);
    assert_eq!(second.instructions, "");
    assert!(suite.task("third").is_none());
}

#[test]
fn mistakes_have_a_position_and_a_way_out() {
    let task = "tasks: [{name: a, task: b, check: c}]";
    let problems = [
        "",
        "name: s\ntasks: []\n",
        "name: s\ntasks:\n  - {name: a, task: b}\n",
        "name: s\ntasks:\n  - {name: a, task: b, check: c, chekc: d}\n",
        "name: s\ntasks:\n  - {name: a, task: ' ', check: c}\n",
        "name: s\ntasks:\n  - {name: A b, task: b, check: c}\n",
        "name: s\ntasks:\n  - {name: a, task: b, check: c}\n  - {name: a, task: b, check: c}\n",
        &format!("name: S\n{task}\n"),
        &format!("name: s\ndefaults: {{limits: {{steps: 0}}}}\n{task}\n"),
        &format!("name: s\ndefaults: {{computer: laptop}}\n{task}\n"),
    ];
    let problems = problems.map(problem).join("\n");
    insta::assert_snapshot!(problems);
}

#[test]
fn mistakes_in_a_task_are_found() {
    let head = "name: a\ntask: b\ncheck: c\n";
    let problems = [
        "files: {a.txt: x}",
        "files: {~/../a.txt: x}",
        "pages: {../a.html: x}",
        "pages: {.a: x}",
        "open: file:///etc/passwd",
        "limits: {usd: 0}",
        "limits: {seconds: 100000}",
        "tags: [Big]",
        "oracle: []",
        "fool: [say]",
        "setup: ''",
    ];
    let problems = problems.map(|line| {
        let error = read_task(&format!("{head}{line}")).unwrap_err();
        error.to_string()
    });
    insta::assert_snapshot!(problems.join("\n"));
}

#[test]
fn a_suite_has_a_size_that_fits_into_a_request() {
    let long = format!("name: s\n# {}", "x".repeat(LARGEST_SUITE_BYTES));
    assert!(problem(&long).contains("at most"));
    let head = "name: a\ntask: b\ncheck: ";
    let error = read_task(&format!("{head}{}", "x".repeat(70_000))).unwrap_err();
    assert!(error.to_string().contains("`check` has at most"), "{error}");
}

#[test]
fn a_double_gets_its_steps_as_a_scenario() {
    let task =
        "name: a\ntask: b\ncheck: c\noracle:\n  - calls: [{bash: {command: ls}}]\n  - text: Done.";
    let task = read_task(task).unwrap();
    assert_eq!(Double::Fool.instructions(&task), None);
    let text = Double::Oracle.instructions(&task).unwrap();
    insta::assert_snapshot!(text);
    assert_eq!(Double::of_model("scripted/oracle"), Some(Double::Oracle));
    assert_eq!(Double::of_model("scripted/demo"), None);
}

#[test]
fn fuzz_suites() {
    let small = b"name: s\ndefaults: {limits: {steps: 9}}\ntasks: [{name: a, task: b, check: c, files: {~/a: b}, \
                  pages: {a.html: b}, open: localhost, tags: [t], oracle: [{text: a}]}]\n";
    fuzz("suites", &[small, b"name: s\ntasks: []"], |input| {
        if let Err(error) = Suite::read(&String::from_utf8_lossy(input)) {
            assert!(!error.problem.is_empty() && error.line > 0);
        }
    });
}
