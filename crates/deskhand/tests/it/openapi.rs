//! The OpenAPI document: it lists every route, and what the server answers is what it says.

use std::collections::BTreeSet;

use deskhand_core::{
    action::{Action, Button, Point, Region},
    attachment::Attachment,
    blob::{BlobFormat, BlobName},
    browser::WebUrl,
    budget::{Bound, Budget, Over},
    decision::{Ask, DecisionKind, DecisionState, Form, Reply, Subject},
    edit::EditCommand,
    event::{
        Artifact, Complete, Cost, DecisionRaised, DecisionSettled, Event, EventBody, Failure,
        FilesPlaced, GatewayUse, HandedOver, HostContacted, MessageSaid, ModelChanged, ModelTold,
        NotDone, Notice, Outcome, PageOpened, PlacedFile, PlanChanged, PlanStep, QueueChange,
        QueueChanged, Retry, Said, Screenshot, SessionChanged, Status, StepState, Summarized,
        ToldFacts, ToolResult, ToolUse,
    },
    id::{AttachmentId, DecisionId, MessageId, TurnId, UserId},
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
    message::{Delivery, Role},
    model::{Effort, Usage},
    network::policy::{BlockReason, NetworkMode},
    policy::{Policy, Rule, RuleTool},
    right::Right,
    session::{Phase, SandboxState},
    shell::ShellRequest,
    tool::ResultPart,
};
use deskhand_testkit::{Client, Document, Operation, Session};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{program::Place, world::serve};

/// Asks in every form.
const ASKS: &str = r#"
steps:
  - calls:
      - ask_user: {question: "?"}
      - ask_user: {question: "?", form: yes_no, default: true, expires_in_s: 600}
      - ask_user: {question: "?", form: choices, choices: [a, b]}
      - ask_user: {question: "?", form: file}
      - bash: {command: "git push"}
  - text: "Thanks."
"#;

/// Hands a file to people.
const SHARES: &str = r#"
steps:
  - calls:
      - bash: {command: "echo text > note.txt"}
      - share_file: {path: note.txt}
  - text: There it is.
"#;

#[test]
#[expect(clippy::too_many_lines, reason = "a list of all routes")]
fn the_document_lists_every_route_with_its_answers() {
    let operations = printed().operations();
    let line = |operation: &Operation| {
        let statuses = operation.statuses().join(" ");
        format!("{:6} {} → {statuses}", operation.method, operation.path)
    };
    let lines: Vec<_> = operations.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    GET    /api/activity → 200 409 429
    POST   /api/activity → 200 400 403 404 408 409 413 429 500 503
    GET    /api/audit → 200 400 401 403 429 500 503
    GET    /api/blobs/{name} → 200 401 403 404 429 500 503
    GET    /api/decisions → 200 400 401 403 429 500 503
    GET    /api/docs → 200
    GET    /api/docs/{file} → 200 404
    GET    /api/eval-suites → 200 401 403 429 500 503
    GET    /api/evals → 200 400 401 403 429 500 503
    POST   /api/evals → 201 400 401 403 408 413 429 500 503
    DELETE /api/evals/{id} → 204 400 401 403 404 409 429 500 503
    GET    /api/evals/{id} → 200 401 403 404 429 500 503
    POST   /api/evals/{id}/stop → 200 401 403 404 429 500 503
    GET    /api/events → 101 400 401 403 429 500 503
    GET    /api/me → 200 401 403 429 500 503
    GET    /api/me/audit → 200 400 401 403 429 500 503
    GET    /api/me/layout → 200 401 403 429 500 503
    PUT    /api/me/layout → 204 400 401 403 408 413 429 500 503
    GET    /api/me/limits → 200 401 403 429 500 503
    GET    /api/me/network → 200 401 403 429 500 503
    PUT    /api/me/network → 200 400 401 403 408 413 429 500 503
    GET    /api/me/offers → 200 401 403 429 500 503
    DELETE /api/me/offers/{session} → 204 401 403 404 429 500 503
    POST   /api/me/offers/{session}/accept → 200 400 401 403 404 408 413 429 500 503
    GET    /api/me/usage → 200 401 403 429 500 503
    GET    /api/models → 200 401 403 429 500 503
    POST   /api/models/check → 200 400 401 403 408 409 413 429 500 503
    GET    /api/openapi.json → 200
    GET    /api/secrets → 200 401 403 429 500 503
    DELETE /api/secrets/{name} → 204 401 403 404 429 500 503
    PUT    /api/secrets/{name} → 204 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions → 200 400 401 403 429 500 503
    POST   /api/sessions → 201 400 401 403 408 413 429 500 503
    DELETE /api/sessions/{id} → 204 400 401 403 404 429 500 503
    GET    /api/sessions/{id} → 200 401 403 404 429 500 503
    PATCH  /api/sessions/{id} → 200 400 401 403 404 408 409 413 429 500 503
    POST   /api/sessions/{id}/actions → 200 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/artifacts/{seq} → 200 401 403 404 429 500 503
    POST   /api/sessions/{id}/attachments → 201 400 401 403 404 408 409 413 429 500 503
    DELETE /api/sessions/{id}/attachments/{attachment} → 204 401 403 404 429 500 503
    GET    /api/sessions/{id}/attachments/{attachment} → 200 401 403 404 429 500 503
    GET    /api/sessions/{id}/clipboard → 200 401 403 404 409 413 429 500 503
    PUT    /api/sessions/{id}/clipboard → 204 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/decisions → 200 400 401 403 404 429 500 503
    POST   /api/sessions/{id}/decisions/{decision}/answer → 200 400 401 403 404 408 409 413 422 429 500 503
    GET    /api/sessions/{id}/events → 200 400 401 403 404 429 500 503
    GET    /api/sessions/{id}/files → 200 400 401 403 404 409 413 429 500 503
    DELETE /api/sessions/{id}/files/{path} → 204 400 401 403 404 409 412 429 500 503
    GET    /api/sessions/{id}/files/{path} → 200 206 304 400 401 403 404 409 413 416 429 500 503
    POST   /api/sessions/{id}/files/{path} → 200 400 401 403 404 408 409 413 429 500 503
    PUT    /api/sessions/{id}/files/{path} → 200 201 400 401 403 404 408 409 412 413 429 500 503
    DELETE /api/sessions/{id}/lease → 204 401 403 404 409 429 500 503
    PUT    /api/sessions/{id}/lease → 200 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/messages → 200 400 401 403 404 429 500 503
    POST   /api/sessions/{id}/messages → 202 400 401 403 404 408 409 413 422 429 500 503
    GET    /api/sessions/{id}/network → 200 400 401 403 404 429 500 503
    DELETE /api/sessions/{id}/offer → 204 401 403 404 429 500 503
    GET    /api/sessions/{id}/people → 200 401 403 404 429 500 503
    DELETE /api/sessions/{id}/people/{user} → 204 401 403 404 409 429 500 503
    GET    /api/sessions/{id}/people/{user} → 200 401 403 404 429 500 503
    PUT    /api/sessions/{id}/people/{user} → 200 202 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/ports → 200 401 403 404 429 500 503
    DELETE /api/sessions/{id}/queue → 200 401 403 404 429 500 503
    GET    /api/sessions/{id}/queue → 200 401 403 404 429 500 503
    DELETE /api/sessions/{id}/queue/{message} → 204 401 403 404 409 429 500 503
    PATCH  /api/sessions/{id}/queue/{message} → 200 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/sandbox-token → 200 400 401 403 404 410 429 500 503
    GET    /api/sessions/{id}/screenshot → 200 401 403 404 429 500 503
    DELETE /api/sessions/{id}/shared-ports/{port} → 204 401 403 404 429 500 503
    PUT    /api/sessions/{id}/shared-ports/{port} → 204 401 403 404 429 500 503
    GET    /api/sessions/{id}/shares → 200 401 403 404 429 500 503
    POST   /api/sessions/{id}/shares → 201 400 401 403 404 408 413 429 500 503
    DELETE /api/sessions/{id}/shares/{share} → 204 401 403 404 429 500 503
    GET    /api/sessions/{id}/sound → 101 400 401 403 404 409 429 500 503
    POST   /api/sessions/{id}/stop → 202 401 403 404 409 429 500 503
    GET    /api/sessions/{id}/stream → 101 400 401 403 404 429 500 503
    GET    /api/sessions/{id}/terminals → 200 401 403 404 429 500 503
    POST   /api/sessions/{id}/terminals → 201 400 401 403 404 408 409 413 429 500 503
    DELETE /api/sessions/{id}/terminals/{n} → 204 400 401 403 404 409 429 500 503
    GET    /api/sessions/{id}/terminals/{n} → 101 400 401 403 404 409 429 500 503
    PATCH  /api/sessions/{id}/terminals/{n} → 200 400 401 403 404 408 409 413 429 500 503
    GET    /api/sessions/{id}/video → 101 400 401 403 404 409 429 500 503
    GET    /api/sessions/{id}/vnc → 101 400 401 403 404 409 429 500 503
    GET    /api/sessions/{id}/watch-links → 200 401 403 404 429 500 503
    POST   /api/sessions/{id}/watch-links → 201 400 401 403 404 408 409 413 429 500 503
    DELETE /api/sessions/{id}/watch-links/{link} → 204 401 403 404 429 500 503
    GET    /api/settings → 200 401 403 429 500 503
    PATCH  /api/settings → 200 400 401 403 408 413 429 500 503
    POST   /api/shares/join → 200 400 401 403 404 408 413 429 500 503
    POST   /api/sign-in → 204 400 401 403 408 409 413 429 500 503
    POST   /api/sign-in-links → 201 401 403 429 500 503
    DELETE /api/sign-ins → 204 401 403 429 500 503
    GET    /api/sign-ins → 200 401 403 429 500 503
    DELETE /api/sign-ins/{id} → 204 401 403 404 429 500 503
    POST   /api/sign-out → 204 401 403 429 500 503
    GET    /api/streams → 200 400 401 403 429 500 503
    GET    /api/streams/active → 200 401 403 429 500 503
    GET    /api/streams/figures → 200 401 403 429 500 503
    GET    /api/streams/setup → 200 401 403 429 500 503
    POST   /api/streams/{id}/stop → 204 401 403 404 409 429 500 503
    GET    /api/tokens → 200 401 403 429 500 503
    POST   /api/tokens → 201 400 401 403 408 413 429 500 503
    DELETE /api/tokens/{id} → 204 401 403 404 429 500 503
    GET    /api/users → 200 400 401 403 429 500 503
    POST   /api/users → 201 400 401 403 408 409 413 429 500 503
    PATCH  /api/users/{id} → 200 400 401 403 404 408 409 413 429 500 503
    GET    /api/users/{id}/limits → 200 401 403 404 429 500 503
    PUT    /api/users/{id}/limits → 200 400 401 403 404 408 413 429 500 503
    POST   /api/users/{id}/sign-in-links → 201 400 401 403 404 408 409 413 429 500 503
    GET    /api/watch/{token} → 200 404 429 500 503
    GET    /api/watch/{token}/sound → 101 400 404 409 429 500 503
    GET    /api/watch/{token}/video → 101 400 404 409 429 500 503
    GET    /health → 200 503
    GET    /metrics → 200 401 403 429 500 503
    ");
}

#[test]
fn the_document_is_well_formed() {
    let document = printed();
    assert_eq!(document.0["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for Operation {
        method,
        path,
        description,
    } in document.operations()
    {
        let id = description["operationId"].as_str().unwrap().to_owned();
        assert!(ids.insert(id.clone()), "{id} names two operations");
        assert!(description["summary"].is_string(), "{method} {path}");
        let parameters = description["parameters"].as_array();
        let in_path = parameters
            .into_iter()
            .flatten()
            .filter(|p| p["in"] == "path");
        let named: BTreeSet<_> = in_path.map(|p| p["name"].as_str().unwrap()).collect();
        let wanted: BTreeSet<_> = path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        assert_eq!(named, wanted, "{method} {path}");
    }
    let text = document.0.to_string();
    for part in text.split("\"$ref\":\"#").skip(1) {
        let place = part.split('"').next().unwrap();
        assert!(document.0.pointer(place).is_some(), "{place} is nowhere");
    }
}

#[tokio::test]
async fn the_server_and_the_program_give_the_same_document() {
    let server = serve(&[]);
    let stranger = server.client().with_token("");
    assert_eq!(stranger.document().await.0, printed().0);
    let page = stranger.get("/api/docs").await;
    let text = String::from_utf8(page.body).unwrap();
    assert!(
        !text.contains("http"),
        "the page loads nothing from elsewhere"
    );
    for file in ["swagger-ui.css", "swagger-ui-bundle.js", "start.js"] {
        assert!(text.contains(file));
        assert_eq!(stranger.get(&format!("/api/docs/{file}")).await.status, 200);
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a list of all routes")]
async fn every_documented_route_is_there_and_answers_as_documented() {
    let server = serve(&[("asks", ASKS), ("shares", SHARES)]);
    let client = server.client();
    let document = client.document().await;
    let sharing = client.new_session("scripted/shares").await;
    sharing.prompt("share it").await;
    let shared = sharing.wait_for(0, |body| matches!(body, EventBody::Artifact(_)));
    let shared = shared.await.seq.to_string();
    let session = client.new_session("scripted/demo").await;
    let blob = look(&session).await;
    let attached = attached(&session).await;
    let message = session.prompt("show me the demo").await;
    let asking = client.new_session("scripted/asks").await;
    asking.prompt("ask me").await;
    let raised = asking.wait_for(0, |body| matches!(body, EventBody::Decision(_)));
    let EventBody::Decision(asked) = raised.await.body else {
        unreachable!()
    };
    let made = async |path: &str, body: Value| {
        let made = client.post(path, body).await.good();
        made["id"].as_str().unwrap().to_owned()
    };
    let user = made("/api/users", json!({"name": "bob"})).await;
    let token = made("/api/tokens", json!({"name": "spare"})).await;
    let task = "find-the-note";
    let eval = json!({"built_in": "desktop", "models": ["scripted/fool"], "tasks": [task]});
    let eval = made("/api/evals", eval).await;
    let share = made(&session.path("/shares"), json!({"right": "view"})).await;
    let watch = client
        .post(&session.path("/watch-links"), json!({}))
        .await
        .good();
    let (watch_link, watch_url) = (watch["id"].as_str(), watch["url"].as_str());
    let (_, watch_token) = watch_url.unwrap().split_once("/watch/").unwrap();
    let secret = json!({"value": "open sesame", "origins": ["https://example.com"]});
    client.put("/api/secrets/spare", secret).await.good();
    let person = session.path("/people/bob");
    client.put(&person, json!({"right": "view"})).await.good();
    let ada = client.new_user("ada").await;
    let (offered, declined) = (offer(&ada, "admin").await, offer(&ada, "admin").await);
    let withdrawn = offer(&client, "ada").await;
    let sign_in = sign_in(&client).await;
    let mut operations = document.operations();
    // What ends the session comes last.
    operations.sort_by_key(|operation| {
        let deletes = operation.method == "DELETE";
        (deletes, std::cmp::Reverse(operation.path.len()))
    });
    for operation in &operations {
        let id = match operation.path.split('/').nth(2) {
            Some("users") => &user,
            Some("tokens") => &token,
            Some("sign-ins") => &sign_in,
            Some("evals") => &eval,
            _ if operation.path.ends_with("/offer") => &withdrawn,
            _ if operation.path.contains("{decision}") => &asking.id,
            _ if operation.path.contains("{seq}") => &sharing.id,
            _ => &session.id,
        };
        let name = match operation.path.starts_with("/api/secrets/") {
            true => "spare",
            false => &blob,
        };
        let path = operation
            .path
            .replace("{id}", id)
            .replace("{user}", "bob")
            .replace("{share}", &share)
            .replace("{link}", watch_link.unwrap())
            .replace("{token}", watch_token)
            .replace("{decision}", &asked.decision.to_string())
            .replace("{name}", name)
            .replace("{path}", "~")
            .replace("{seq}", &shared)
            .replace("{attachment}", &attached)
            .replace("{message}", &message)
            .replace("{n}", "1")
            .replace("{port}", "3000")
            .replace(
                "{session}",
                if operation.method == "DELETE" {
                    &declined
                } else {
                    &offered
                },
            )
            .replace("{file}", "start.js");
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let mut bodies = vec![None, Some(br#"{"what": "?"}"#.to_vec())];
        if method == Method::DELETE {
            // What is gone cannot be removed once more.
            bodies.pop();
        }
        for body in bodies {
            let answer = client.send(method.clone(), &path, body).await;
            let status = answer.status.to_string();
            let name = format!("{} {} {status}", operation.method, operation.path);
            assert!(operation.statuses().contains(&status), "{name}");
            assert_ne!(answer.status, 404, "{name}");
            let content = &operation.description["responses"][&status]["content"];
            if let Some(json) = content.get("application/json") {
                let checked = document.check_all(&json["schema"], &answer.json(), &name);
                checked.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn pages_have_the_bounds_that_the_document_names() {
    let server = serve(&[]);
    let client = server.client();
    let session = client.new_session("scripted/demo").await;
    let mut n_bounds = 0;
    for operation in client.document().await.operations() {
        let parameters = operation.description["parameters"].as_array();
        for parameter in parameters.into_iter().flatten() {
            let Some(most) = parameter["schema"]["maximum"].as_u64() else {
                continue;
            };
            n_bounds += 1;
            let path = operation.path.replace("{id}", &session.id);
            let path = path.replace("{path}", "~");
            let name = parameter["name"].as_str().unwrap();
            let asked = async |n: u64| client.get(&format!("{path}?{name}={n}")).await.status;
            assert_eq!(asked(most).await, 200, "{path}");
            assert_eq!(asked(most + 1).await, 400, "{path}");
            assert_eq!(asked(0).await, 400, "{path}");
        }
    }
    assert_eq!(n_bounds, 13);
}

#[test]
fn every_event_is_what_the_document_says() {
    let document = printed();
    let mut described = BTreeSet::new();
    for (n, body) in events().into_iter().enumerate() {
        let event = Event {
            seq: n as u64 + 1,
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            body,
        };
        let sent = serde_json::to_value(&event).unwrap();
        document.check("SessionEvent", &sent).unwrap();
        described.insert(event.body.kind());
    }
    let kinds = document.0["components"]["schemas"]["EventBody"]["oneOf"].as_array();
    let kinds = kinds.unwrap().iter();
    let named: BTreeSet<_> = kinds
        .map(|kind| kind["properties"]["type"]["enum"][0].as_str().unwrap())
        .collect();
    assert_eq!(named, described);
    assert_eq!(described, EventBody::KINDS.iter().copied().collect());
}

#[test]
fn every_tool_input_is_what_the_document_says() {
    let document = printed();
    for input in tool_inputs() {
        document.check("ToolInput", &input).unwrap();
    }
}

#[tokio::test]
async fn what_a_turn_leaves_behind_is_what_the_document_says() {
    let server = serve(&[]);
    let client = server.client();
    let document = client.document().await;
    let session = client.new_session("scripted/demo").await;
    session.prompt("Order two lamps").await;
    session.turn_end(0).await;
    let acted = session.act("bash", json!({"shell": "run", "command": "id"}));
    document.check("Acted", &acted.await).unwrap();
    let posts = [
        ("/api/sign-in-links".to_owned(), json!({}), "SignInLink"),
        ("/api/users".to_owned(), json!({"name": "bob"}), "User"),
        ("/api/tokens".to_owned(), json!({"name": "ci"}), "MadeToken"),
        (
            session.path("/shares"),
            json!({"right": "view"}),
            "MadeShare",
        ),
    ];
    for (path, body, name) in posts {
        let answer = client.post(&path, body).await.good();
        document.check(name, &answer).unwrap();
    }
    let secret = json!({"value": "open sesame", "origins": ["https://example.com"]});
    client.put("/api/secrets/cave", secret).await.good();
    let checks = [
        ("/api/secrets".to_owned(), "Secrets"),
        ("/api/me".to_owned(), "User"),
        ("/api/sessions".to_owned(), "SessionsPage"),
        (session.path(""), "Session"),
        (session.path("/messages"), "MessagesPage"),
        (session.path("/events"), "EventsPage"),
        (session.path("/queue"), "Queue"),
        (session.path("/people"), "People"),
        (session.path("/people/admin"), "Person"),
        (session.path("/shares"), "Shares"),
        ("/api/users".to_owned(), "UsersPage"),
        ("/api/tokens".to_owned(), "Tokens"),
        ("/api/settings".to_owned(), "Settings"),
        ("/api/sign-ins".to_owned(), "SignIns"),
        ("/api/audit".to_owned(), "AuditPage"),
        ("/api/me/audit".to_owned(), "AuditPage"),
        ("/api/me/offers".to_owned(), "Offers"),
    ];
    for (path, name) in checks {
        let answer = client.get(&path).await.good();
        document.check(name, &answer).unwrap();
    }
}

#[tokio::test]
async fn what_is_asked_and_answered_is_what_the_document_says() {
    let server = serve(&[("asks", ASKS)]);
    let client = server.client();
    let document = client.document().await;
    let session = client.new_session("scripted/asks").await;
    session.prompt("ask me").await;
    let mut after = 0;
    for answer in [
        json!({"text": "x"}),
        json!({"yes": true}),
        json!({"choices": ["b"]}),
        json!({"file": {"name": "a", "base64": "YQ=="}}),
        json!({"yes": false}),
    ] {
        let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
        let raised = raised.await;
        after = raised.seq;
        let EventBody::Decision(asked) = raised.body else {
            unreachable!()
        };
        document.check("AnswerDecision", &answer).unwrap();
        let path = session.path(&format!("/decisions/{}/answer", asked.decision));
        let answered = client.post(&path, answer).await.good();
        document.check("Decision", &answered).unwrap();
    }
    session.turn_end(after).await;
    for (path, name) in [
        (session.path("/decisions?state=all"), "DecisionsPage"),
        (session.path("/events"), "EventsPage"),
        ("/api/decisions?state=answered".to_owned(), "DecisionsPage"),
    ] {
        let answer = client.get(&path).await.good();
        document.check(name, &answer).unwrap();
    }
}

/// The document as `deskhand openapi` prints it.
fn printed() -> Document {
    let ended = Place::new().run(&["openapi"]);
    Document(serde_json::from_str(&ended.stdout).unwrap())
}

/// Offers a new session to a user; answers its id.
async fn offer(client: &Client, to: &str) -> String {
    let session = client.new_session("scripted/demo").await;
    let path = session.path(&format!("/people/{to}"));
    client.put(&path, json!({"right": "owner"})).await.good();
    session.id
}

/// Signs a browser in; answers the id of the sign-in.
async fn sign_in(client: &Client) -> String {
    let link = client.post("/api/sign-in-links", json!({})).await.good();
    let (_, code) = link["url"].as_str().unwrap().split_once("#code=").unwrap();
    client.sign_in(code).await;
    let listed = client.get("/api/sign-ins").await.good();
    listed["sign_ins"][0]["id"].as_str().unwrap().to_owned()
}

/// Takes a picture; answers its name.
async fn look(session: &Session) -> String {
    let look = json!({"tool": "computer", "input": {"action": "screenshot"}});
    let acted = session.client.post(&session.path("/actions"), look).await;
    acted.good()["screenshot"].as_str().unwrap().to_owned()
}

/// What is asked and how it was settled, with or without what may be absent.
fn decision_events(turn: TurnId, some: bool) -> [EventBody; 2] {
    [
        EventBody::Decision(DecisionRaised {
            turn,
            decision: DecisionId::new(),
            ask: Ask {
                call: some.then(String::new),
                kind: DecisionKind::Question,
                prompt: String::new(),
                form: if some { Form::YesNo } else { Form::Text },
                subject: some.then(|| Subject {
                    tool: String::new(),
                    input: json!({}),
                }),
                over: some.then_some(Over {
                    bound: Bound::SessionUsd,
                    used: 0.5,
                    limit: 1.0,
                    more: 1.0,
                }),
                rule: some.then(|| Rule::allowing(RuleTool::Bash, "git push".to_owned())),
                default: some.then_some(Reply::Yes(true)),
                expires_at: some.then(|| "2026-01-02T03:04:05Z".parse().unwrap()),
            },
        }),
        EventBody::Answer(DecisionSettled {
            turn,
            decision: DecisionId::new(),
            state: DecisionState::Expired,
            answer: some.then_some(Reply::Yes(true)),
            by: some.then(UserId::new),
        }),
    ]
}

/// What is told of models.
fn model_events(turn: TurnId, some: bool) -> [EventBody; 10] {
    [
        EventBody::Cost(Cost {
            turn,
            step: 1,
            usd: 0.5,
            model: if some { "a/b" } else { "" }.to_owned(),
            usage: Usage::default(),
            unpriced: some,
            unfinished: some,
            aside: some,
            broken_off: some,
            summary: some,
        }),
        EventBody::Gateway(GatewayUse {
            turn: some.then_some(turn),
            model: "a/b".to_owned(),
            usd: 0.5,
            usage: Usage::default(),
            unpriced: some,
            unfinished: some,
        }),
        EventBody::Model(ModelChanged {
            model: "a/b".to_owned(),
            by: UserId::new(),
            by_name: String::new(),
        }),
        changed_event(some),
        EventBody::Network(HostContacted {
            host: "a.example".to_owned(),
            port: 443,
            blocked: some.then_some(BlockReason::NotListed),
        }),
        EventBody::HandedOver(HandedOver {
            from: UserId::new(),
            from_name: String::new(),
            to: UserId::new(),
            to_name: String::new(),
            giver_keeps: Right::View,
        }),
        EventBody::Retry(Retry {
            turn,
            attempt: 1,
            message: String::new(),
            next_at: jiff::Timestamp::UNIX_EPOCH,
            model: some.then(String::new),
            without_files: some,
            refused: some,
        }),
        EventBody::Notice(Notice {
            turn,
            bound: Bound::Steps,
            used: 40.0,
            limit: 50.0,
            message: String::new(),
        }),
        EventBody::Summary(Summarized {
            turn,
            text: some.then(String::new),
        }),
        EventBody::Told(ModelTold {
            turn,
            text: String::new(),
            facts: ToldFacts::default(),
        }),
    ]
}

/// One of each kind, with and without what may be absent.
#[expect(clippy::too_many_lines, reason = "a list of all events")]
fn events() -> Vec<EventBody> {
    let (turn, blob) = (TurnId::new(), BlobName::of([7; 32], BlobFormat::Png));
    let mut events = Vec::new();
    for (some, phase, sandbox) in [
        (true, Phase::Running, SandboxState::Ready),
        (false, Phase::Initializing, SandboxState::None),
    ] {
        let some_turn = some.then_some(turn);
        let call = "1".to_owned();
        let said = Said {
            turn,
            block: 0,
            text: String::new(),
        };
        events.extend(decision_events(turn, some));
        events.extend(model_events(turn, some));
        events.extend([
            EventBody::Status(Status {
                state: phase,
                sandbox,
                reason: some.then(String::new),
                turn: some_turn,
                prompt: some.then(MessageId::new),
            }),
            EventBody::Message(MessageSaid {
                id: MessageId::new(),
                role: if some { Role::User } else { Role::Assistant },
                content: String::new(),
                author: some.then(UserId::new),
                author_name: some.then(String::new),
                delivery: [Delivery::Queue, Delivery::Steer][usize::from(some)],
                model: some.then(|| "a/b".to_owned()),
                effort: some.then_some(Effort::High),
                turn: some_turn,
                attachments: some.then(attachment).into_iter().collect(),
                start_url: some.then(start_url),
            }),
            placed_event(turn, some),
            opened_event(turn, some),
            plan_event(turn, some),
            EventBody::Thinking(said.clone()),
            EventBody::Text(said),
            EventBody::ToolUse(ToolUse {
                turn: some_turn,
                call: call.clone(),
                tool: "bash".to_owned(),
                input: json!({"shell": "restart"}),
                description: some.then(String::new),
                by: some.then(UserId::new),
                checks: Vec::new(),
            }),
            EventBody::ToolResult(ToolResult {
                turn: some_turn,
                call: call.clone(),
                text: String::new(),
                is_error: some,
                duration_ms: 1,
                partial: some,
                parts: if some { result_parts() } else { Vec::new() },
                state: some.then(|| json!({"cwd": "/"})),
                not_done: some.then_some(NotDone::Refused),
            }),
            EventBody::Screenshot(Screenshot {
                turn: some_turn,
                call: some.then_some(call),
                blob: blob.clone(),
                width: 1,
                height: 1,
            }),
            EventBody::Artifact(Artifact {
                turn,
                name: String::new(),
                size: 1,
                media_type: String::new(),
                blob: BlobName::of_file([0; 32]),
            }),
            EventBody::Error(Failure {
                turn: some_turn,
                code: String::new(),
                message: String::new(),
            }),
            EventBody::Complete(Complete {
                turn,
                outcome: [Outcome::Stopped, Outcome::Done][usize::from(some)],
                n_steps: 1,
                duration_ms: 1,
                bound: some.then_some(Bound::Seconds),
            }),
        ]);
    }
    events.extend(queue_changes());
    events.extend(lease_changes());
    events
}

fn plan_event(turn: TurnId, is_doing: bool) -> EventBody {
    let state = if is_doing {
        StepState::Doing
    } else {
        StepState::Done
    };
    let text = String::new();
    let steps = vec![PlanStep { text, state }];
    EventBody::Plan(PlanChanged { turn, steps })
}

/// Attaches a file, and returns its id.
async fn attached(session: &Session) -> String {
    let path = session.path("/attachments?name=a.txt");
    let file = Some(b"text".to_vec());
    let attached = session.client.send(Method::POST, &path, file).await.good();
    attached["id"].as_str().unwrap().to_owned()
}

fn attachment() -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "a.png".to_owned(),
        media_type: "image/png".to_owned(),
        n_bytes: 1,
        blob: BlobName::of_file([1; 32]),
    }
}

fn start_url() -> WebUrl {
    "https://a.example/".parse().unwrap()
}

fn opened_event(turn: TurnId, is_open: bool) -> EventBody {
    EventBody::Opened(PageOpened {
        turn,
        message: MessageId::new(),
        url: start_url(),
        shown_url: is_open.then(String::new),
        title: is_open.then(String::new),
        problem: (!is_open).then(String::new),
    })
}

fn placed_event(turn: TurnId, is_written: bool) -> EventBody {
    let file = PlacedFile {
        attachment: AttachmentId::new(),
        path: is_written.then(String::new),
        problem: (!is_written).then(String::new),
    };
    EventBody::Placed(FilesPlaced {
        turn,
        message: MessageId::new(),
        files: vec![file],
    })
}

fn result_parts() -> Vec<ResultPart> {
    let at = Point { x: 1, y: 2 };
    vec![
        ResultPart::from("at "),
        ResultPart::Point(at),
        ResultPart::Coordinates(at),
    ]
}

fn changed_event(some: bool) -> EventBody {
    EventBody::Changed(SessionChanged {
        by: UserId::new(),
        by_name: String::new(),
        title: some.then(String::new),
        effort: some.then_some(None),
        instructions: some.then(String::new),
        approvals: some.then(Policy::default),
        budget: some.then_some(Budget {
            usd: Some(0.5),
            tokens: None,
        }),
        network: some.then(|| NetworkMode::Open.into()),
        mcp_servers: some.then(Vec::new),
    })
}

fn queue_changes() -> impl Iterator<Item = EventBody> {
    let changes = [
        QueueChange::Edited {
            content: String::new(),
        },
        QueueChange::Redelivered {
            delivery: Delivery::Interrupt,
        },
        QueueChange::Moved {
            before: Some(MessageId::new()),
        },
        QueueChange::Moved { before: None },
        QueueChange::Reassigned {
            model: Some("a/b".to_owned()),
        },
        QueueChange::Reassigned { model: None },
        QueueChange::Reweighed {
            effort: Some(Effort::Low),
        },
        QueueChange::Reweighed { effort: None },
        QueueChange::Held,
        QueueChange::Released,
        QueueChange::Removed,
    ];
    changes.into_iter().map(|change| {
        EventBody::Queue(QueueChanged {
            message: MessageId::new(),
            by: UserId::new(),
            change,
        })
    })
}

fn lease_changes() -> impl Iterator<Item = EventBody> {
    let until = "2030-01-01T00:00:00Z".parse().unwrap();
    let ends = [
        LeaseEnd::HandedBack,
        LeaseEnd::Expired,
        LeaseEnd::Disconnected,
        LeaseEnd::RightLost,
        LeaseEnd::SessionEnded,
    ];
    let from = Some(UserId::new());
    let changes = [
        LeaseChange::Taken { until, from },
        LeaseChange::Taken { until, from: None },
        LeaseChange::Extended { until },
    ];
    let ends = ends.map(|reason| LeaseChange::Ended { reason });
    changes.into_iter().chain(ends).map(|change| {
        EventBody::Lease(LeaseChanged {
            user: UserId::new(),
            name: String::new(),
            change,
        })
    })
}

/// Each thing that a computer can be told.
fn tool_inputs() -> Vec<Value> {
    let point = Point { x: 1, y: 2 };
    let keys = || "ctrl+s".to_owned();
    let text = || "text".to_owned();
    let modifiers = || vec!["shift".to_owned()];
    let button = Button::Right;
    let region = Region {
        x0: 0,
        y0: 0,
        x1: 1,
        y1: 1,
    };
    let actions = [
        Action::Screenshot,
        Action::Zoom { region },
        Action::Move { at: point },
        Action::Click {
            button,
            count: 1,
            at: Some(point),
            modifiers: modifiers(),
        },
        Action::MouseDown { button },
        Action::MouseUp { button },
        Action::Drag {
            path: vec![point],
            modifiers: modifiers(),
        },
        Action::Scroll {
            at: Some(point),
            dx: 1,
            dy: -1,
            modifiers: modifiers(),
        },
        Action::Type { text: text() },
        Action::Key {
            keys: keys(),
            repeat: 1,
        },
        Action::HoldKey {
            keys: keys(),
            ms: 1,
        },
        Action::Wait { ms: 1 },
        Action::CursorPosition,
    ];
    let shell = [
        ShellRequest::Run {
            command: text(),
            timeout_ms: 1,
        },
        ShellRequest::Restart,
    ];
    let path = || "/home".to_owned();
    let edits = [
        EditCommand::View {
            path: path(),
            view_range: Some([1, -1]),
        },
        EditCommand::Create {
            path: path(),
            file_text: text(),
        },
        EditCommand::StrReplace {
            path: path(),
            old_str: text(),
            new_str: text(),
        },
        EditCommand::Insert {
            path: path(),
            insert_line: 0,
            insert_text: text(),
        },
        EditCommand::UndoEdit { path: path() },
    ];
    let actions = actions.iter().map(serde_json::to_value);
    let shell = shell.iter().map(serde_json::to_value);
    let edits = edits.iter().map(serde_json::to_value);
    let all = actions.chain(shell).chain(edits);
    all.map(Result::unwrap).collect()
}
