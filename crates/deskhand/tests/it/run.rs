//! `deskhand run`: from the prompt to the answer, with a real sandbox.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    program::{Place, eventually, survivors},
    world::serve,
};

const PLAN: &str = "
steps:
  - calls:
      - update_plan: {steps: [{text: Look, state: doing}, {text: Tell, state: pending}]}
  - calls:
      - update_plan: {steps: [{text: Look, state: done}, {text: Tell, state: doing}]}
  - text: Nothing to see.
";

#[test]
fn the_demo_ends_with_the_order_number() {
    let place = Place::new();
    let task = place.start(&["run", "show me the demo"]);
    let ended = task.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("1001"), "{}", ended.stdout);
    assert!(ended.stderr.contains("✓ Ran "), "{}", ended.stderr);
    assert!(!place.data_dir().join("server.json").exists());
}

#[test]
fn json_is_every_event_in_order_and_nothing_else() {
    let ended = Place::new().run(&["run", "show me the demo", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at + 1);
    }
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["data"]["outcome"]),
        (&"complete".into(), &"done".into())
    );
}

/// Looks at the file that came with the task.
const READS: &str = "
steps:
  - calls:
      - bash: {command: \"cat ~/uploads/plan.txt\"}
  - expect: {text_contains: \"Water the fern.\"}
    text: I have read it.
";

#[tokio::test]
async fn files_go_along_with_the_task() {
    let server = serve(&[("reads", READS)]);
    let place = Place::new()
        .with("DESKHAND_SERVER", &server.url())
        .with("DESKHAND_TOKEN", &server.token());
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.txt");
    std::fs::write(&plan, "Water the fern.").unwrap();
    let run = move |plan: &str| {
        let args = [
            "run",
            "--model",
            "scripted/reads",
            "--attach",
            plan,
            "Do it",
        ];
        place.run(&args)
    };
    let (ended, gone) = tokio::task::spawn_blocking(move || {
        let _folder = folder;
        (run(plan.to_str().unwrap()), run("/nowhere/a.txt"))
    })
    .await
    .unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.trim(), "I have read it.");
    let told = "Attached: /home/agent/uploads/plan.txt";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(gone.code, Some(1), "{}", gone.stderr);
    let told = "could not attach /nowhere/a.txt";
    assert!(gone.stderr.contains(told), "{}", gone.stderr);
}

#[test]
fn ctrl_c_stops_the_turn_and_leaves_no_process() {
    let place = Place::new();
    let task = place.start(&["run", "show me the demo"]);
    task.notes("✓");
    let started = task.descendants();
    assert!(!started.is_empty());
    task.ctrl_c();
    let ended = task.end();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    eventually("every process of the sandbox is gone", || {
        survivors(&started).is_empty()
    });
}

#[test]
fn a_kept_session_is_there_for_the_next_server() {
    let place = Place::new();
    let ended = place.run(&["run", "show me the demo", "--keep"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("The session is kept. `deskhand serve` shows it at /sessions/")
    );
}

#[test]
fn a_running_server_is_used_and_its_sandbox_is_gone_afterwards() {
    let place = Place::new();
    let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    server.says("Open");
    let before = server.descendants();
    let ended = place.run(&["run", "show me the demo"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    eventually("no sandbox is left", || server.descendants() == before);
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn an_unknown_model_is_refused_in_words() {
    let ended = Place::new().run(&["run", "hello", "--model", "scripted/nobody"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("there is no model \"scripted/nobody\""),
        "{}",
        ended.stderr
    );
}

#[tokio::test]
async fn the_plan_is_shown_as_it_changes_and_stays_with_the_session() {
    let server = serve(&[("plan", PLAN)]);
    let place = Place::new()
        .with("DESKHAND_SERVER", &server.url())
        .with("DESKHAND_TOKEN", &server.token());
    let args = ["run", "go", "--model", "scripted/plan", "--keep"];
    let ended = tokio::task::spawn_blocking(move || place.run(&args))
        .await
        .unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for shown in ["Plan: ▸ Look  ○ Tell", "Plan: ✓ Look  ▸ Tell"] {
        assert!(ended.stderr.contains(shown), "{}", ended.stderr);
    }
    let sessions = server.client().get("/api/sessions").await.good();
    let steps = &sessions["sessions"][0]["standing"]["plan"]["steps"];
    let expected = json!([{"text": "Look", "state": "done"}, {"text": "Tell", "state": "doing"}]);
    assert_eq!(steps, &expected);
}
