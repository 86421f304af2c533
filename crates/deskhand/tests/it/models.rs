//! Choosing models: what there is, whose choice counts, and what a model is told.

mod vendor;

use deskhand_core::event::{EventBody, Retry};
use deskhand_testkit::Session;
use serde_json::{Value, json};

use self::vendor::{FakeVendor, Say};
use crate::{
    program::Place,
    world::{serve, serve_set},
};

/// A turn that waits until a file is there.
const PATIENT: &str = r#"
steps:
  - calls:
      - bash: {command: "until [ -e go ]; do sleep 0.05; done; rm go"}
  - text: "Patiently."
"#;

const QUICK: &str = r#"
steps:
  - text: "Quickly."
"#;

/// Which model answered in the turn that ends after `after`, and the number of that end.
async fn answered_by(session: &Session, after: u64) -> (String, u64) {
    let cost = session
        .wait_for(after, |body| matches!(body, EventBody::Cost(_)))
        .await;
    let EventBody::Cost(cost) = cost.body else {
        unreachable!()
    };
    (cost.model, session.turn_end(after).await.seq)
}

async fn send(session: &Session, content: &str, model: &str) -> Value {
    let body = json!({"content": content, "model": model});
    let sent = session.client.post(&session.path("/messages"), body).await;
    sent.good()
}

#[tokio::test]
async fn everybody_who_is_signed_in_sees_what_there_is_and_what_is_missing() {
    let server = serve_set(
        &[("quick", QUICK)],
        &[
            ("OPENAI_API_KEY", "sk-test"),
            ("DESKHAND_MODELS_DEFAULT", "ollama/qwen3"),
        ],
    );
    let bob = server.client().new_user("bob").await;
    let token = json!({"name": "reads", "scope": "read"});
    let token = bob.post("/api/tokens", token).await.good();
    let reader = bob.with_token(token["token"].as_str().unwrap());
    let listed = reader.get("/api/models").await.good();
    assert_eq!(reader.with_token("").get("/api/models").await.status, 401);

    assert_eq!(listed["default"], "ollama/qwen3");
    let models = listed["models"].as_array().unwrap();
    let find = |name: &str| {
        let found = models.iter().find(|model| model["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {listed:#}"))
    };
    let usable = json!({"name": "scripted/quick", "usable": true, "problem": null, "price": null});
    assert_eq!(*find("scripted/quick"), usable);
    assert_eq!(find("openai/gpt-6-sol")["usable"], true);
    // A default that is not known by name is there as well.
    assert_eq!(find("ollama/qwen3")["usable"], true);
    let opus = json!({
        "name": "anthropic/claude-opus-5-5",
        "usable": false,
        "problem": "set ANTHROPIC_API_KEY to use it",
        "price": {"input": 4.0, "cache_write": 5.0, "cache_read": 0.2, "output": 20.0, "source": "listed"},
    });
    assert_eq!(*find("anthropic/claude-opus-5-5"), opus);
    let first_unusable = models.iter().position(|model| model["usable"] == false);
    let last_usable = models.iter().rposition(|model| model["usable"] == true);
    assert!(last_usable < first_unusable, "{listed:#}");
}

#[tokio::test]
async fn the_next_turn_has_the_sessions_new_model() {
    let server = serve(&[("patient", PATIENT), ("quick", QUICK)]);
    let session = server.client().new_plain_session("scripted/patient").await;
    session.prompt("one").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let change = json!({"model": "scripted/quick"});
    let changed = session.client.patch(&session.path(""), change).await.good();
    assert_eq!(changed["model"], "scripted/quick");
    // Everybody who watches hears of it, once.
    let again = json!({"model": "scripted/quick"});
    session.client.patch(&session.path(""), again).await.good();
    std::fs::write(server.home_of(&session).join("go"), "").unwrap();
    // The turn that ran kept the one it began with.
    let (model, end) = answered_by(&session, 0).await;
    assert_eq!(model, "scripted/patient");
    session.prompt("two").await;
    assert_eq!(answered_by(&session, end).await.0, "scripted/quick");
    let me = session.client.get("/api/me").await.good();
    let told = json!({"model": "scripted/quick", "by": me["id"], "by_name": me["name"]});
    let events = session.events(0).await;
    let changes: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "model")
        .collect();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["data"], told);

    session.client.delete(&session.path("")).await.good();
    let late = json!({"model": "scripted/patient"});
    let refused = session.client.patch(&session.path(""), late).await;
    assert_eq!(refused.code(), "session_ended");
}

#[tokio::test]
async fn a_message_may_have_a_model_of_its_own() {
    let mut server = serve(&[("patient", PATIENT), ("quick", QUICK)]);
    let session = server.client().new_plain_session("scripted/quick").await;
    let sent = send(&session, "one", "scripted/patient").await;
    assert_eq!(sent["model"], "scripted/patient");
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let two = send(&session, "two", "scripted/patient").await;
    let three = session.prompt("three").await;
    let waiting = |id: &str| session.path(&format!("/queue/{id}"));

    // While they wait, another can be chosen, or the session's.
    let two = waiting(two["id"].as_str().unwrap());
    let queue = session.client.patch(&two, json!({"model": null})).await;
    assert_eq!(queue.good()["messages"][0]["model"], Value::Null);
    let three = waiting(&three);
    let choice = json!({"model": "scripted/patient"});
    let queue = session.client.patch(&three, choice).await.good();
    assert_eq!(queue["messages"][1]["model"], "scripted/patient");
    let unusable = json!({"model": "anthropic/claude-opus-5-5"});
    let refused = session.client.patch(&three, unusable).await;
    assert_eq!(refused.code(), "unknown_model");

    // A restart forgets none of it.
    server.kill();
    server.start_again();
    let session = server.client().session(&session.id);
    std::fs::write(server.home_of(&session).join("go"), "").unwrap();
    let (model, end) = answered_by(&session, 0).await;
    assert_eq!(model, "scripted/patient");
    let (model, end) = answered_by(&session, end).await;
    assert_eq!(model, "scripted/quick");
    std::fs::write(server.home_of(&session).join("go"), "").unwrap();
    assert_eq!(answered_by(&session, end).await.0, "scripted/patient");

    let messages = session.messages().await;
    let of_people = messages.iter().filter(|message| message["role"] == "user");
    let models: Vec<_> = of_people.map(|message| &message["model"]).collect();
    assert_eq!(
        models,
        [
            &json!("scripted/patient"),
            &json!(null),
            &json!("scripted/patient")
        ]
    );
    let said = session.events(0).await;
    let said = said
        .iter()
        .find(|event| event["type"] == "message")
        .unwrap();
    assert_eq!(said["data"]["model"], "scripted/patient");
}

#[tokio::test]
async fn a_model_that_cannot_be_used_is_refused_with_the_reason() {
    let server = serve(&[("quick", QUICK)]);
    let client = server.client();
    let session = client.new_plain_session("scripted/quick").await;
    let unusable = "anthropic/claude-opus-5-5";
    let message = json!({"content": "hello", "model": unusable});
    for refused in [
        client
            .post("/api/sessions", json!({"model": unusable}))
            .await,
        client
            .patch(&session.path(""), json!({"model": unusable}))
            .await,
        client.post(&session.path("/messages"), message).await,
    ] {
        assert_eq!(
            (refused.status, refused.code()),
            (400, "unknown_model".to_owned())
        );
        let message = refused.json()["error"]["message"].to_string();
        assert!(
            message.contains("set ANTHROPIC_API_KEY to use it"),
            "{message}"
        );
    }
    let long = json!({"model": format!("ollama/{}", "x".repeat(200))});
    let refused = client.patch(&session.path(""), long).await;
    assert_eq!(refused.code(), "unknown_model");
    assert_eq!(session.messages().await, Vec::<Value>::new());
    assert_eq!(session.show().await["model"], "scripted/quick");
}

#[tokio::test]
async fn a_model_is_told_the_prompt_of_the_deployment_and_the_instructions_of_the_session() {
    let vendor = FakeVendor::start([Say::Words("Yes."), Say::Words("No.")]).await;
    let template = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(template.path(), "We are a bakery. {{date}}, {{screen}}.").unwrap();
    let server = serve_set(
        &[],
        &[
            ("OLLAMA_BASE_URL", &vendor.url),
            ("DESKHAND_PROMPT_FILE", template.path().to_str().unwrap()),
        ],
    );
    let client = server.client();
    let wanted = json!({"model": "ollama/any", "instructions": "Speak Dutch."});
    let made = client.post("/api/sessions", wanted).await.good();
    assert_eq!(made["instructions"], "Speak Dutch.");
    let session = client.session(made["id"].as_str().unwrap());
    session.prompt("hello").await;
    let end = session.turn_end(0).await;
    let told = vendor.told(0);
    assert!(told.starts_with("We are a bakery. "), "{told}");
    assert!(told.contains("1024×768."), "{told}");
    assert!(told.contains("# For this conversation\n"), "{told}");
    assert!(told.ends_with("\n\nSpeak Dutch."), "{told}");

    let change = json!({"instructions": ""});
    client.patch(&session.path(""), change).await.good();
    session.prompt("and now?").await;
    session.turn_end(end.seq).await;
    assert_eq!(vendor.told(1), told, "the system text stays");
    let said = vendor.said(1);
    assert!(said.contains("withdrawn their instructions"), "{said}");

    for bad in ["x".repeat(16 * 1024 + 1), "a\0b".to_owned()] {
        let refused = client
            .patch(&session.path(""), json!({"instructions": bad}))
            .await;
        assert_eq!(
            (refused.status, refused.code()),
            (400, "bad_instructions".to_owned())
        );
    }
}

#[tokio::test]
async fn a_vendor_that_is_away_is_waited_for_in_sight() {
    let vendor = FakeVendor::start([Say::Overloaded, Say::Words("There I am.")]).await;
    let server = serve_set(&[], &[("OLLAMA_BASE_URL", &vendor.url)]);
    let session = server.client().new_plain_session("ollama/any").await;
    session.prompt("hello").await;
    let retry = session
        .wait_for(0, |body| matches!(body, EventBody::Retry(_)))
        .await;
    let EventBody::Retry(Retry {
        attempt: 1,
        next_at,
        ..
    }) = retry.body
    else {
        panic!("{retry:?}");
    };
    assert!(next_at > retry.at, "{next_at} is not after {}", retry.at);
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    assert_eq!(session.messages().await[1]["content"], "There I am.");
}

#[test]
fn the_terminal_lists_models_and_prints_the_prompt() {
    let place = Place::new();
    let told = place.run(&["prompt", "--instructions", "Speak Dutch."]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(
        told.stdout.contains("pictures of 1024×768"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout.ends_with("\n\nSpeak Dutch.\n"),
        "{}",
        told.stdout
    );
    let unknown = place.run(&["prompt", "--model", "nobody/knows"]);
    assert!(
        unknown.stderr.contains("no vendor \"nobody\""),
        "{}",
        unknown.stderr
    );

    let server = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    server.says("Open");
    let listed = place.run(&["models"]).stdout;
    assert!(listed.starts_with("MODEL "), "{listed}");
    let demo = listed
        .lines()
        .find(|line| line.starts_with("scripted/demo "));
    assert!(
        demo.is_some_and(|line| line.ends_with("  default")),
        "{listed}"
    );
    let as_json: Value = serde_json::from_str(&place.run(&["models", "--json"]).stdout).unwrap();
    assert_eq!(as_json["default"], "scripted/demo");
    server.ctrl_c();
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn a_broken_prompt_file_is_told_at_the_start() {
    let place = Place::new();
    let file = place.write("prompt.md", "Today is {{date}}.\nYour name is {{name}}.\n");
    let place = place.with("DESKHAND_PROMPT_FILE", &file);
    let ended = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    insta::assert_snapshot!(place.neutral(&ended.stderr), @"
    deskhand: there is a mistake in the settings
      prompt.file (DESKHAND_PROMPT_FILE): HOME/prompt.md: line 2: {{name}} is not a placeholder; the placeholders are {{date}} and {{screen}}
    ");
    let place = place.with("DESKHAND_PROMPT_FILE", "/nowhere/prompt.md");
    let ended = place.run(&["config"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("/nowhere/prompt.md: cannot be read"),
        "{}",
        ended.stderr
    );
}
