//! The Model Context Protocol: what the tools do, for whom, and what they refuse.

mod by_hand;
mod client;
mod door;
mod elicitation;

use std::time::Duration;

use deskhand_testkit::sandboxes::FakeCommand;
use deskhand_world::World;
use serde_json::{Value, json};

use self::client::{Mcp, call_stateless, messages};

/// Looks at the screen and reports.
const LOOKS: &str = r#"
steps:
  - text: "I look."
    calls:
      - computer: {action: screenshot}
  - text: "There is a shop."
"#;

/// Asks which colour to take.
const ASKS: &str = r#"
steps:
  - text: "I have to ask."
    calls:
      - ask_user: {question: "Which colour?", form: choices, choices: [{value: r, label: Red}, {value: b, label: Blue}]}
  - text: "Told: {{ result.1 }}"
"#;

/// Runs a command that takes a long time.
const WORKS: &str = r#"
steps:
  - text: "I build."
    calls:
      - bash: {command: "make everything"}
  - text: "Built."
"#;

async fn world() -> World {
    let world = World::start(&[("looks", LOOKS), ("asks", ASKS), ("works", WORKS)]).await;
    let long = FakeCommand {
        takes: Duration::from_secs(3_600),
        ..FakeCommand::default()
    };
    world.sandboxes().on_command("make everything", long);
    world
}

fn endpoint(world: &World) -> String {
    format!("{}/mcp", world.url())
}

fn task(scenario: &str) -> Value {
    json!({
        "startUrl": "https://shop.example/",
        "instructions": "See what they sell.",
        "model": format!("scripted/{scenario}"),
    })
}

/// Starts an agent and returns the id of its session.
async fn start(mcp: &Mcp, scenario: &str) -> String {
    let started = mcp.facts("agent_start", task(scenario)).await;
    assert_eq!(started["status"], "running");
    started["sessionId"].as_str().unwrap().to_owned()
}

/// Waits until an agent is no longer running.
async fn wait(mcp: &Mcp, session: &str) -> Value {
    mcp.facts(
        "agent_status",
        json!({"sessionId": session, "waitSeconds": 60}),
    )
    .await
}

#[tokio::test]
async fn an_agent_is_started_awaited_read_continued_and_ended() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;

    let session = start(&mcp, "looks").await;
    let status = wait(&mcp, &session).await;
    assert_eq!(status["status"], "completed", "{status}");
    assert_eq!(status["answer"], "There is a shop.");
    assert!(
        status["lastStep"]
            .as_str()
            .is_some_and(|step| !step.is_empty()),
        "{status}"
    );
    assert!(
        status["endedAt"].is_string() && status["ended"] == false,
        "{status}"
    );

    let log = mcp.facts("agent_log", json!({"sessionId": session})).await;
    let kinds: Vec<_> = entries(&log)
        .map(|entry| entry["kind"].as_str().unwrap())
        .collect();
    let in_order = [
        "user",
        "step",
        "screenshot",
        "says",
        "step",
        "screenshot",
        "agent",
        "complete",
    ];
    let mut rest = kinds.iter();
    assert!(
        in_order.iter().all(|kind| rest.any(|seen| seen == kind)),
        "{kinds:?}"
    );
    let texts: Vec<_> = entries(&log)
        .take(2)
        .map(|entry| entry["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        ["See what they sell.", "Opened https://shop.example/"]
    );

    let shown = mcp
        .call("agent_get_last_image", json!({"sessionId": session}))
        .await;
    let image = &shown["content"][1];
    assert_eq!(
        (&image["type"], &image["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    assert!(
        image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"),
        "it is a PNG"
    );

    let reply = json!({"sessionId": session, "replyText": "And what do they sell?"});
    assert_eq!(mcp.facts("agent_reply", reply).await["effect"], "continued");
    assert_eq!(wait(&mcp, &session).await["answer"], "There is a shop.");

    for _ in 0..2 {
        let ended = mcp.facts("agent_end", json!({"sessionId": session})).await;
        assert_eq!(
            (&ended["ended"], &ended["status"]),
            (&json!(true), &json!("completed"))
        );
    }
    let reply = json!({"sessionId": session, "replyText": "Still there?"});
    assert_eq!(mcp.refusal("agent_reply", reply).await, "session_ended");
}

#[tokio::test]
async fn a_question_is_shown_and_answered() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "asks").await;
    let status = wait(&mcp, &session).await;
    assert_eq!(status["status"], "waiting", "{status}");
    let question = &status["question"];
    assert_eq!(question["text"], "Which colour?");
    assert_eq!(question["choices"], json!(["Red", "Blue"]));

    let reply = |text: &str| json!({"sessionId": session, "replyText": text});
    assert_eq!(
        mcp.refusal("agent_reply", reply("green")).await,
        "bad_answer"
    );
    assert_eq!(
        mcp.facts("agent_reply", reply("blue")).await["effect"],
        "answered"
    );
    assert_eq!(wait(&mcp, &session).await["answer"], "Told: b");
}

#[tokio::test]
async fn waiting_is_bounded_and_reports_progress() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "works").await;
    let params = json!({
        "name": "agent_status",
        "arguments": {"sessionId": session, "waitSeconds": 90},
        "_meta": {"progressToken": "p"},
    });
    let waiting = mcp.ask("tools/call", params);
    let passing = async {
        // The step is reported as soon as it happens; then time passes.
        let at_work = world.client().session(&session);
        at_work.wait_for(0, |body| body.kind() == "tool_use").await;
        world.pass(Duration::from_secs(91)).await;
    };
    let (said, ()) = tokio::join!(waiting, passing);
    let answer = said.last().unwrap();
    let status = &answer["result"]["structuredContent"];
    assert_eq!(status["status"], "running", "{answer}");
    assert!(status["runningSeconds"].as_i64().unwrap() >= 90, "{status}");
    let progress = said
        .iter()
        .filter(|message| message["method"] == "notifications/progress");
    let progress: Vec<_> = progress.map(|message| &message["params"]).collect();
    assert!(!progress.is_empty(), "{said:?}");
    assert!(
        progress
            .iter()
            .all(|progress| progress["progressToken"] == "p")
    );
    assert!(
        progress.is_sorted_by_key(|progress| progress["progress"].as_f64()),
        "{progress:?}"
    );

    let reply = json!({"sessionId": session, "replyText": "And then clean up."});
    assert_eq!(mcp.facts("agent_reply", reply).await["effect"], "queued");
    let status = mcp
        .facts("agent_status", json!({"sessionId": session}))
        .await;
    assert_eq!(
        (&status["status"], &status["nQueued"]),
        (&json!("running"), &json!(1))
    );
    let ended = mcp.facts("agent_end", json!({"sessionId": session})).await;
    assert_eq!(ended["ended"], true);
}

#[tokio::test]
async fn a_wait_can_be_cancelled() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "works").await;
    let params = json!({
        "name": "agent_status",
        "arguments": {"sessionId": session, "waitSeconds": 300},
        "_meta": {"progressToken": 1},
    });
    // The response has begun when the call is known to the server. It is the second request after the handshake.
    let response = mcp.send("tools/call", params).await;
    mcp.notify("notifications/cancelled", json!({"requestId": 2}))
        .await;
    let said = messages(response).await;
    assert!(
        said.iter().all(|message| message["id"] != 2),
        "nobody wants the answer: {said:?}"
    );
    mcp.facts("agent_end", json!({"sessionId": session})).await;
}

#[tokio::test]
async fn a_status_is_small() {
    let long = "\\\"tea\\\" ".repeat(400);
    let talks = format!("steps:\n  - text: \"{long}\"\n");
    let world = World::start(&[("talks", &talks)]).await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "talks").await;
    wait(&mcp, &session).await;
    let result = mcp
        .call("agent_status", json!({"sessionId": session}))
        .await;
    let n_bytes = result.to_string().len();
    assert!(n_bytes < 2_048, "{n_bytes} bytes");
    let log = mcp.facts("agent_log", json!({"sessionId": session})).await;
    assert!(log.to_string().len() < 20_000);
}

#[tokio::test]
async fn a_log_comes_in_pages_and_with_pictures_on_request() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "looks").await;
    wait(&mcp, &session).await;
    let whole = mcp.facts("agent_log", json!({"sessionId": session})).await;
    assert!(whole.get("nextAfter").is_none(), "{whole}");
    let (mut paged, mut after) = (Vec::new(), json!(0));
    loop {
        let page = json!({"sessionId": session, "limit": 2, "after": after});
        let page = mcp.facts("agent_log", page).await;
        assert!(entries(&page).count() <= 2);
        paged.extend(entries(&page).cloned());
        match page.get("nextAfter") {
            Some(next) => after = next.clone(),
            None => break,
        }
    }
    let texts = |entries: &mut dyn Iterator<Item = &Value>| {
        entries
            .map(|entry| entry["text"].as_str().unwrap())
            .collect::<String>()
    };
    assert_eq!(texts(&mut paged.iter()), texts(&mut entries(&whole)));

    let plain = mcp.call("agent_log", json!({"sessionId": session})).await;
    assert_eq!(plain["content"].as_array().unwrap().len(), 1);
    let with_images = json!({"sessionId": session, "includeImages": true});
    let shown = mcp.call("agent_log", with_images).await;
    assert_eq!(shown["content"][1]["type"], "image");
    let picture = entries(&shown["structuredContent"]).find(|entry| entry["kind"] == "screenshot");
    assert_eq!(picture.unwrap()["image"], 1);
}

#[tokio::test]
async fn sessions_are_resources() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "looks").await;
    wait(&mcp, &session).await;
    let listed = mcp.result("resources/list", json!({})).await;
    let uri = format!("session://{session}/log");
    assert_eq!(listed["resources"][0]["uri"], uri);
    let read = async |uri: &str| {
        mcp.ask("resources/read", json!({"uri": uri}))
            .await
            .pop()
            .unwrap()
    };
    let log = read(&uri).await;
    let text = log["result"]["contents"][0]["text"].as_str().unwrap();
    let log: Value = serde_json::from_str(text).unwrap();
    let picture = entries(&log)
        .find(|entry| entry["kind"] == "screenshot")
        .unwrap();
    for uri in [
        picture["uri"].as_str().unwrap(),
        &format!("session://{session}/screenshot"),
    ] {
        let picture = read(uri).await;
        assert_eq!(
            picture["result"]["contents"][0]["mimeType"], "image/png",
            "{picture}"
        );
    }
    let templates = mcp.result("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 4);
    for unknown in [
        "session://nobody/log".to_owned(),
        format!("session://{session}/secrets"),
        format!("session://{session}/screenshots/1"),
        format!("session://{session}/artifacts/1"),
        "file:///etc/passwd".to_owned(),
    ] {
        assert!(read(&unknown).await["error"]["code"].is_i64(), "{unknown}");
    }
    let prompts = mcp.result("prompts/list", json!({})).await;
    let name = &prompts["prompts"][0]["name"];
    let arguments = json!({"startUrl": "https://shop.example", "question": "Is there tea?"});
    let prompt = mcp
        .result("prompts/get", json!({"name": name, "arguments": arguments}))
        .await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Is there tea?"), "{text}");
}

#[tokio::test]
async fn bad_input_is_refused_in_words() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let nobody = "0190a000-0000-7000-8000-000000000000";
    for (tool, input, code) in [
        ("agent_status", json!({"sessionId": nobody}), "no_session"),
        ("agent_status", json!({"sessionId": "nobody"}), "bad_id"),
        ("agent_status", json!({"sessionId": 7}), "malformed"),
        ("agent_status", json!({}), "malformed"),
        (
            "agent_status",
            json!({"sessionId": nobody, "waitSeconds": "long"}),
            "malformed",
        ),
        (
            "agent_log",
            json!({"sessionId": nobody, "limit": 0}),
            "malformed",
        ),
        ("agent_log", json!({"sessionId": nobody}), "no_session"),
        ("agent_end", json!({"sessionId": nobody}), "no_session"),
        (
            "agent_get_last_image",
            json!({"sessionId": nobody}),
            "no_session",
        ),
        (
            "agent_reply",
            json!({"sessionId": nobody, "replyText": "x"}),
            "no_session",
        ),
        (
            "agent_start",
            json!({"startUrl": "https://shop.example"}),
            "malformed",
        ),
        (
            "agent_start",
            with(&task("looks"), "instructions", json!(" ")),
            "malformed",
        ),
        (
            "agent_start",
            with(&task("looks"), "instructions", json!("x".repeat(300_000))),
            "long_message",
        ),
        (
            "agent_start",
            with(&task("looks"), "model", json!("nobody/nothing")),
            "unknown_model",
        ),
        (
            "agent_start",
            with(&task("looks"), "maxCostUsd", json!(-1)),
            "bad_budget",
        ),
        (
            "agent_start",
            with(&task("looks"), "startUrl", json!("file:///etc/passwd")),
            "bad_url",
        ),
        (
            "agent_start",
            with(&task("looks"), "startUrl", json!("javascript:alert(1)")),
            "bad_url",
        ),
        (
            "agent_start",
            with(&task("looks"), "extra", json!(1)),
            "malformed",
        ),
    ] {
        assert_eq!(mcp.refusal(tool, input).await, code, "{tool}");
    }
    let none = mcp
        .ask("tools/call", json!({"name": "rm", "arguments": {}}))
        .await;
    assert_eq!(none.last().unwrap()["error"]["code"], -32602);
    // Nothing was left behind by what was refused.
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"], json!([]));
}

#[tokio::test]
async fn the_newest_revision_needs_no_session() {
    let world = world().await;
    let (client, url) = (world.client(), endpoint(&world));
    let started = call_stateless(&client, &url, "agent_start", task("looks")).await;
    assert!(
        started["result"]["structuredContent"].is_object(),
        "{started}"
    );
    let started = &started["result"]["structuredContent"];
    let wait = json!({"sessionId": started["sessionId"], "waitSeconds": 60});
    let status = call_stateless(&client, &url, "agent_status", wait).await;
    assert_eq!(
        status["result"]["structuredContent"]["answer"], "There is a shop.",
        "{status}"
    );
}

fn entries(log: &Value) -> impl Iterator<Item = &Value> {
    log["entries"].as_array().unwrap().iter()
}

/// Returns a task with another value in one field.
fn with(task: &Value, field: &str, value: Value) -> Value {
    let mut task = task.clone();
    task[field] = value;
    task
}
