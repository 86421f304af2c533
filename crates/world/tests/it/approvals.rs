//! What people may answer to a request for approval: for once, for longer, and no with words.

use deskhand_core::{browser::PointedElement, event::EventBody};
use deskhand_testkit::{Client, Session, sandboxes::FakeCommand};
use deskhand_world::World;
use serde_json::{Value, json};

const COMMAND: &str = "git push origin main";
const RUNS: &str = r#"
steps:
  - calls:
      - bash: {command: "git push origin main"}
  - text: "Result: {{ result.1 }}"
"#;
const CLICKS: &str = r#"
steps:
  - calls:
      - computer: {action: click, at: {x: 10, y: 20}}
  - text: "Result: {{ result.1 }}"
"#;
const DECLARES: &str = r#"
steps:
  - calls:
      - computer: {action: click, at: {x: 10, y: 20}, consequence: send, why: "the report to Ada"}
  - text: "Result: {{ result.1 }}"
"#;

async fn world() -> World {
    let scenarios = [("runs", RUNS), ("clicks", CLICKS), ("declares", DECLARES)];
    let world = World::start(&scenarios).await;
    let pushed = FakeCommand {
        output: "pushed\n".to_owned(),
        ..FakeCommand::default()
    };
    world.sandboxes().on_command(COMMAND, pushed);
    world
}

/// Sends the agent to work until it asks, and returns the question.
async fn asked(session: &Session, after: u64) -> (Value, u64) {
    session.prompt("go").await;
    let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
    let seq = raised.await.seq;
    let open = session.client.get(&session.path("/decisions")).await.good();
    (open["decisions"][0].clone(), seq)
}

async fn last_words(session: &Session, after: u64) -> (String, u64) {
    let end = session.turn_end(after).await;
    let messages = session.messages().await;
    let words = messages.last().unwrap()["content"].as_str().unwrap();
    (words.to_owned(), end.seq)
}

fn answer_path(session: &Session, decision: &Value) -> String {
    let id = decision["id"].as_str().unwrap();
    session.path(&format!("/decisions/{id}/answer"))
}

async fn answer(session: &Session, client: &Client, decision: &Value, given: Value) {
    let path = answer_path(session, decision);
    client.post(&path, given).await.good();
}

fn rule(tool: &str, text: &str) -> Value {
    json!({"tool": tool, "pattern": text, "then": "allow", "exact": true})
}

#[tokio::test]
async fn a_yes_for_this_session_adds_a_rule_that_people_see_and_remove() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/runs").await;
    let bob = client.new_user("bob").await;
    let right = json!({"right": "drive"});
    client.put(&session.path("/people/bob"), right).await.good();
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(decision["rule"], rule("bash", COMMAND));

    let path = answer_path(&session, &decision);
    let refused = bob.post(&path, json!({"yes": true, "for": "always"})).await;
    assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
    let yes = json!({"yes": true, "for": "session"});
    let answered = bob.post(&path, yes.clone()).await.good();
    assert_eq!(answered["answer"], yes);
    let (words, end) = last_words(&session, seq).await;
    assert_eq!(words, "Result: pushed");
    let approvals = &session.show().await["approvals"];
    let expected = json!({"mode": "risky", "rules": [rule("bash", COMMAND)]});
    assert_eq!(*approvals, expected);
    let settings = client.get("/api/settings").await.good();
    assert_eq!(
        settings["approvals"]["rules"],
        json!([]),
        "only this session"
    );

    session.prompt("again").await;
    let (words, end) = last_words(&session, end).await;
    assert_eq!(words, "Result: pushed", "nobody is asked again");
    let none = json!({"approvals": {"mode": "risky", "rules": []}});
    client.patch(&session.path(""), none).await.good();
    let (decision, _) = asked(&session, end).await;
    assert_eq!(decision["state"], "open", "the rule is gone");
}

#[tokio::test]
async fn always_holds_in_new_sessions_of_the_owner_too() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/runs").await;
    let (decision, seq) = asked(&session, 0).await;
    answer(
        &session,
        &client,
        &decision,
        json!({"yes": true, "for": "always"}),
    )
    .await;
    last_words(&session, seq).await;
    assert_eq!(
        session.show().await["approvals"]["rules"],
        json!([rule("bash", COMMAND)])
    );
    let settings = client.get("/api/settings").await.good();
    assert_eq!(
        settings["approvals"]["rules"],
        json!([rule("bash", COMMAND)])
    );
    let next = client.new_session("scripted/runs").await;
    next.prompt("go").await;
    let (words, _) = last_words(&next, 0).await;
    assert_eq!(words, "Result: pushed", "nobody is asked");
}

#[tokio::test]
async fn a_full_policy_takes_a_yes_for_once_only() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/runs").await;
    let rules: Vec<Value> = (0..50)
        .map(|n| rule("bash", &format!("echo {n}")))
        .collect();
    let full = json!({"approvals": {"mode": "risky", "rules": rules}});
    client.patch(&session.path(""), full).await.good();
    let (decision, seq) = asked(&session, 0).await;
    let path = answer_path(&session, &decision);
    let refused = client
        .post(&path, json!({"yes": true, "for": "session"}))
        .await;
    assert_eq!((refused.status, &*refused.code()), (409, "too_many_rules"));
    answer(&session, &client, &decision, json!({"yes": true})).await;
    let (words, _) = last_words(&session, seq).await;
    assert_eq!(words, "Result: pushed");
}

#[tokio::test]
async fn the_words_of_a_no_are_told_to_the_agent() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/runs").await;
    let (decision, seq) = asked(&session, 0).await;
    let path = answer_path(&session, &decision);
    for malformed in [
        json!({"yes": true, "because": "x"}),
        json!({"yes": false, "for": "session"}),
        json!({"yes": true, "for": "ever"}),
        json!({"because": "x"}),
    ] {
        let refused = client.post(&path, malformed.clone()).await;
        assert_eq!(refused.status, 400, "{malformed}");
    }
    let no = json!({"yes": false, "because": "Push to the branch review instead."});
    let answered = client.post(&path, no.clone()).await.good();
    assert_eq!(answered["answer"], no);
    let (words, _) = last_words(&session, seq).await;
    assert_eq!(
        words,
        "Result: Not executed: a person was asked and said no, with these words: Push to the branch review instead."
    );
    assert_eq!(session.show().await["approvals"]["rules"], json!([]));
}

#[tokio::test]
async fn a_click_is_asked_about_by_the_element_under_the_pointer() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/clicks").await;
    session.prompt("go").await;
    let (words, mut end) = last_words(&session, 0).await;
    assert!(words.starts_with("Result: Clicked"), "{words}");

    let sandbox = world
        .sandboxes()
        .running(session.id.parse().unwrap())
        .unwrap();
    sandbox.set_element(Some(PointedElement {
        origin: "https://shop.example".to_owned(),
        title: "Your cart".to_owned(),
        role: "button".to_owned(),
        name: "Place order".to_owned(),
        is_submit: true,
        ..PointedElement::default()
    }));
    let (decision, seq) = asked(&session, end).await;
    assert_eq!(
        decision["prompt"],
        "The agent wants to click “Place order” on a page of https://shop.example, titled “Your cart”. This may buy or \
         order something."
    );
    let text = "click https://shop.example Place order";
    assert_eq!(decision["rule"], rule("computer", text));
    answer(
        &session,
        &client,
        &decision,
        json!({"yes": true, "for": "session"}),
    )
    .await;
    (_, end) = last_words(&session, seq).await;
    session.prompt("again").await;
    let (words, _) = last_words(&session, end).await;
    assert!(
        words.starts_with("Result: Clicked"),
        "nobody is asked again: {words}"
    );
}

#[tokio::test]
async fn a_yes_is_not_used_on_another_page_than_it_was_given_for() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/clicks").await;
    session.prompt("wake up").await;
    let (_, mut end) = last_words(&session, 0).await;
    let id = session.id.parse().unwrap();
    let sandbox = world.sandboxes().running(id).unwrap();
    let order = |name: &str, title: &str| PointedElement {
        origin: "https://shop.example".to_owned(),
        title: title.to_owned(),
        role: "button".to_owned(),
        name: name.to_owned(),
        ..PointedElement::default()
    };
    for (after, expected) in [
        (
            Some(order("Place order", "Your cart (2)")),
            "Result: Clicked",
        ),
        (
            Some(order("Delete account", "Your cart")),
            "the page has changed",
        ),
        (None, "the page has changed"),
    ] {
        sandbox.set_element(Some(order("Place order", "Your cart")));
        let (decision, seq) = asked(&session, end).await;
        sandbox.set_element(after);
        answer(&session, &client, &decision, json!({"yes": true})).await;
        let words;
        (words, end) = last_words(&session, seq).await;
        assert!(words.contains(expected), "{words}");
    }
}

#[tokio::test]
async fn a_consequence_that_the_model_declares_is_asked_about() {
    let world = world().await;
    let client = world.client();
    let session = client.new_session("scripted/declares").await;
    let (decision, seq) = asked(&session, 0).await;
    assert_eq!(
        decision["prompt"],
        "The agent wants to do something that may send something. The agent says: the report to Ada."
    );
    assert_eq!(
        decision["rule"],
        Value::Null,
        "nobody knows what it would allow"
    );
    let path = answer_path(&session, &decision);
    let refused = client
        .post(&path, json!({"yes": true, "for": "session"}))
        .await;
    assert_eq!((refused.status, &*refused.code()), (422, "bad_answer"));
    answer(&session, &client, &decision, json!({"yes": false})).await;
    let (words, _) = last_words(&session, seq).await;
    assert!(words.starts_with("Result: Not executed"), "{words}");
}
