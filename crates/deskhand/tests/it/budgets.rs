//! What sessions and people may use: asked for before it is passed, counted, and given by those who may.

use deskhand_core::{
    budget::Bound,
    event::{EventBody, Outcome},
};
use deskhand_testkit::{Client, Session};
use serde_json::{Value, json};

use crate::{
    program::Place,
    world::{serve, serve_set},
};

/// Four steps of $0.004 each.
const COSTLY: &str = r#"
price: {input: 1}
steps:
  - usage: {input: 3000, output: 1000}
    calls: [{bash: {command: "echo one"}}]
  - usage: {input: 1000, cache_read: 2000, output: 1000}
    calls: [{bash: {command: "echo two"}}]
  - usage: {cache_write: 4000}
    calls: [{bash: {command: "echo three"}}]
  - usage: {input: 4000}
    text: "All done."
"#;

/// Does the same again and again.
const STUCK: &str = r#"
steps:
  - calls: [{bash: {command: "echo stuck"}}]
  - calls: [{bash: {command: "echo stuck"}}]
  - calls: [{bash: {command: "echo stuck"}}]
  - calls: [{bash: {command: "echo stuck"}}]
  - calls: [{bash: {command: "echo stuck"}}]
  - text: "Told: {{ steering }}"
"#;

async fn session_with(client: &Client, budget: Value) -> Session {
    let body = json!({"model": "scripted/costly", "budget": budget});
    let session = client.post("/api/sessions", body).await.good();
    client.session(session["id"].as_str().unwrap())
}

/// What is asked next after event `after`, and its number.
async fn asked(session: &Session, after: u64) -> (Value, u64) {
    let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
    let seq = raised.await.seq;
    (open(session).await.pop().unwrap(), seq)
}

async fn open(session: &Session) -> Vec<Value> {
    let page = session.client.get(&session.path("/decisions")).await.good();
    page["decisions"].as_array().unwrap().clone()
}

fn answer_path(session: &Session, decision: &Value) -> String {
    let id = decision["id"].as_str().unwrap();
    session.path(&format!("/decisions/{id}/answer"))
}

async fn n_costs(session: &Session) -> usize {
    let events = session.events(0).await;
    events
        .iter()
        .filter(|event| event["type"] == "cost")
        .count()
}

async fn end_of(session: &Session, after: u64) -> (Outcome, Option<Bound>, u64) {
    let end = session.turn_end(after).await;
    let EventBody::Complete(complete) = end.body else {
        panic!("{end:?}")
    };
    (complete.outcome, complete.bound, end.seq)
}

#[tokio::test]
async fn a_turn_waits_before_the_call_that_would_pass_its_budget_and_also_after_kill_9() {
    let mut server = serve(&[("costly", COSTLY)]);
    let session = session_with(&server.client(), json!({"usd": 0.01})).await;
    session.prompt("go").await;
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(decision["kind"], "budget");
    assert_eq!(
        decision["over"],
        json!({"bound": "session_usd", "used": 0.008, "limit": 0.01, "more": 0.01})
    );
    assert_eq!(n_costs(&session).await, 2);

    server.kill();
    server.start_again();
    let session = server.client().session(&session.id);
    let shown = session.show().await;
    assert_eq!(shown["state"], "waiting");
    assert_eq!(
        shown["budget"],
        json!({"usd": {"used": 0.008, "limit": 0.01}, "tokens": {"used": 8000, "limit": null}})
    );
    let still: Vec<_> = open(&session).await;
    assert_eq!(still.len(), 1);
    assert_eq!(still[0]["id"], decision["id"]);

    let path = answer_path(&session, &decision);
    session
        .client
        .post(&path, json!({"yes": true}))
        .await
        .good();
    let (outcome, bound, _) = end_of(&session, seq).await;
    assert_eq!((outcome, bound), (Outcome::Done, None));
    assert_eq!(n_costs(&session).await, 4);
    let path = session.path("/decisions?state=all");
    let all = session.client.get(&path).await.good();
    assert_eq!(all["decisions"].as_array().unwrap().len(), 1, "asked once");
    let shown = session.show().await;
    assert_eq!(
        shown["budget"]["usd"],
        json!({"used": 0.016, "limit": 0.02})
    );
    let usage = session.client.get("/api/me/usage").await.good();
    assert_eq!(usage["month"], json!({"usd": 0.016, "tokens": 16000}));
    assert_eq!(usage["today"]["usd"], json!({"used": 0.016, "limit": 50.0}));
}

#[tokio::test]
async fn a_no_ends_the_turn_well_and_another_budget_lets_the_next_one_go_on() {
    let server = serve(&[("costly", COSTLY)]);
    let client = server.client();
    let session = session_with(&client, json!({"tokens": 10_000})).await;
    assert_eq!(session.show().await["budget"]["usd"]["limit"], 5.0);
    session.prompt("go").await;
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(decision["over"]["bound"], "session_tokens");
    let path = answer_path(&session, &decision);
    client.post(&path, json!({"yes": false})).await.good();
    let (outcome, bound, end) = end_of(&session, seq).await;
    assert_eq!(
        (outcome, bound),
        (Outcome::Enough, Some(Bound::SessionTokens))
    );
    assert_eq!(n_costs(&session).await, 2);
    assert_eq!(session.show().await["state"], "idle");

    session.prompt("on").await;
    let (_, seq) = asked(&session, end).await;
    for bad in [json!({"usd": -1}), json!({"tokens": 2_000_000_000_000_u64})] {
        let refused = client
            .patch(&session.path(""), json!({"budget": bad}))
            .await;
        assert_eq!((refused.status, &*refused.code()), (400, "bad_budget"));
        let refused = client.post("/api/sessions", json!({"budget": bad})).await;
        assert_eq!((refused.status, &*refused.code()), (400, "bad_budget"));
    }
    let none = json!({"budget": {"tokens": 0}});
    client.patch(&session.path(""), none).await.good();
    let (outcome, _, _) = end_of(&session, seq).await;
    assert_eq!(outcome, Outcome::Done);
    let settled = client
        .get(&session.path("/decisions?state=withdrawn"))
        .await;
    assert_eq!(settled.good()["decisions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn only_an_administrator_gives_more_for_a_day() {
    let server = serve_set(
        &[("costly", COSTLY)],
        &[("DESKHAND_BUDGET_DAY_USD", "0.01")],
    );
    let admin = server.client();
    let ada = admin.new_user("ada").await;
    let session = ada.new_plain_session("scripted/costly").await;
    session.prompt("go").await;
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(decision["over"]["bound"], "day_usd");
    let path = answer_path(&session, &decision);
    let refused = ada.post(&path, json!({"yes": true})).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "not_administrator")
    );
    assert_eq!(admin.post(&path, json!({"yes": true})).await.status, 404);

    // Another limit is enough.
    let me = ada.get("/api/me").await.good();
    let limits = format!("/api/users/{}/limits", me["id"].as_str().unwrap());
    admin.put(&limits, json!({"day_usd": 0.02})).await.good();
    assert_eq!(admin.get(&limits).await.good()["day_usd"], 0.02);
    let (outcome, _, end) = end_of(&session, seq).await;
    assert_eq!(outcome, Outcome::Done);

    // So is the yes of an administrator who may answer in the session.
    session.prompt("again").await;
    let (decision, seq) = asked(&session, end).await;
    let right = json!({"right": "drive"});
    ada.put(&session.path("/people/admin"), right).await.good();
    let path = answer_path(&session, &decision);
    admin.post(&path, json!({"yes": true})).await.good();
    let (outcome, _, _) = end_of(&session, seq).await;
    assert_eq!(outcome, Outcome::Done);
    let usage = ada.get("/api/me/usage").await.good();
    assert_eq!(usage["today"]["usd"], json!({"used": 0.032, "limit": 0.04}));
}

#[tokio::test]
async fn an_agent_in_a_circle_is_told_and_a_person_is_asked() {
    let server = serve(&[("stuck", STUCK)]);
    let client = server.client();
    let session = client.new_plain_session("scripted/stuck").await;
    session.prompt("go").await;
    let told = session.wait_for(0, |body| matches!(body, EventBody::Notice(_)));
    let EventBody::Notice(notice) = told.await.body else {
        unreachable!()
    };
    assert_eq!((notice.bound, notice.used), (Bound::Repeats, 3.0));
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(decision["over"]["bound"], "repeats");
    let path = answer_path(&session, &decision);
    client.post(&path, json!({"yes": true})).await.good();
    end_of(&session, seq).await;
    let messages = session.messages().await;
    let words = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(
        words.starts_with("Told: [You have repeated yourself or failed 3 times"),
        "{words}"
    );
}

#[test]
fn a_task_from_the_terminal_has_a_budget_and_says_when_it_is_used_up() {
    let place = Place::new();
    std::fs::create_dir(place.home().join("scenarios")).unwrap();
    place.write("scenarios/costly.yaml", COSTLY);
    let folder = place.home().join("scenarios");
    let place = place.with("DESKHAND_MODELS_SCENARIOS_DIR", folder.to_str().unwrap());
    let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    server.says("Open");
    let args = [
        "run",
        "go",
        "--model",
        "scripted/costly",
        "--budget-usd",
        "0.01",
    ];
    let task = place.start(&args);
    task.notes("Give it $0.01 more?");
    let how = task.notes("Answer it with `deskhand answer ");
    let id = how.split_whitespace().nth(6).unwrap();
    assert_eq!(place.run(&["answer", id, "--no"]).code, Some(0));
    task.notes("Ended at its limit");
    assert_eq!(task.end().code, Some(1));
    server.ctrl_c();
    assert_eq!(server.end().code, Some(0));
}

#[tokio::test]
async fn a_run_says_yes_to_its_budget_as_often_as_it_was_told_to() {
    let server = serve(&[("costly", COSTLY)]);
    let place = Place::new()
        .with("DESKHAND_SERVER", &server.url())
        .with("DESKHAND_TOKEN", &server.token());
    let walk = move || {
        let task = place.start(&[
            "run",
            "--model",
            "scripted/costly",
            "--budget-usd",
            "0.005",
            "--yes-to-budgets",
            "1",
            "go",
        ]);
        task.notes("Yes, as --yes-to-budgets says (1 of 1).");
        let how = task.notes("Answer it with `deskhand answer ");
        let id = how.split_whitespace().nth(6).unwrap();
        assert_eq!(place.run(&["answer", id, "--no"]).code, Some(0));
        task.end()
    };
    let ended = tokio::task::spawn_blocking(walk).await.unwrap();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    // There was no second yes after what has been read.
    assert!(
        !ended.stderr.contains("--yes-to-budgets"),
        "{}",
        ended.stderr
    );
}
