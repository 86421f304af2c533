//! `deskhand run` that asks, `deskhand decisions` and `deskhand answer`.

use crate::program::Place;

const ASKS: &str = r#"
steps:
  - text: "I ask."
    calls:
      - ask_user: {question: "Which colour?", form: choices, choices: [{value: r, label: Red}, {value: g, label: Green}]}
      - bash: {command: "git push x\e]52;c;eA==\a #\u202e harmless"}
  - text: "Told {{ result.1 }}, then {{ result.2 }}"
"#;

#[test]
fn what_a_task_asks_is_listed_and_answered_from_another_terminal() {
    let place = Place::new();
    std::fs::create_dir(place.home().join("scenarios")).unwrap();
    place.write("scenarios/asks.yaml", ASKS);
    let folder = place.home().join("scenarios");
    let place = place.with("DESKHAND_MODELS_SCENARIOS_DIR", folder.to_str().unwrap());
    let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    server.says("Open");
    assert!(
        place
            .run(&["decisions"])
            .stderr
            .contains("Nothing is waiting")
    );

    let task = place.start(&["run", "go", "--model", "scripted/asks"]);
    task.notes("Which colour?");
    let how = task.notes("Answer it with `deskhand answer ");
    let id = how.split_whitespace().nth(6).unwrap();
    let listed = place.run(&["decisions"]).stdout;
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines[0], format!("{id}\tquestion\tgo"));
    assert_eq!(lines[1..], ["  Which colour?", "  1  Red", "  2  Green"]);

    let wrong = place.run(&["answer", id, "blue"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("is not a choice"), "{}", wrong.stderr);
    let right = place.run(&["answer", id, "green"]);
    assert_eq!(right.code, Some(0), "{}", right.stderr);

    // The terminal is told nothing, and the text reads as it is.
    let command = task.notes("$ git push x");
    let shown = r"$ git push x\u001b]52;c;eA==\u0007 #\u202e harmless";
    assert!(command.ends_with(shown), "{command:?}");
    let listed = place.run(&["decisions"]).stdout;
    assert!(listed.contains(shown), "{listed:?}");
    let how = task.notes("Answer it with `deskhand answer ");
    let id = how.split_whitespace().nth(6).unwrap();
    assert_eq!(place.run(&["answer", id, "--no"]).code, Some(0));
    let late = place.run(&["answer", id, "--yes"]);
    assert!(late.stderr.contains("`deskhand decisions`"), "{late:?}");
    let ended = task.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("Told g, then Not executed"));
    let told = "not run, since a person refused it";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    server.ctrl_c();
    assert_eq!(server.end().code, Some(0));
}
