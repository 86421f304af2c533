//! Terminals: who sees them, who types, and when they end.

use std::time::Duration;

use deskhand_core::{
    event::EventBody, id::SessionId, sandbox::RunnerRequest, session::SandboxState,
    terminal::ReadOnly,
};
use deskhand_testkit::{Answer, Client, Session, TerminalClient};
use deskhand_world::World;
use serde_json::{Value, json};

async fn share(session: &Session, who: &str, right: &str) {
    let path = session.path(&format!("/people/{who}"));
    let body = json!({"right": right});
    session.client.put(&path, body).await.good();
}

/// Creates a user who has this right in the session.
async fn guest(session: &Session, name: &str, right: &str) -> Session {
    let client: Client = session.client.new_user(name).await;
    share(session, name, right).await;
    client.session(&session.id)
}

async fn terminals(session: &Session) -> Vec<Value> {
    let mut listed = session.client.get(&session.path("/terminals")).await.good();
    serde_json::from_value(listed["terminals"].take()).unwrap()
}

fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

#[tokio::test]
async fn people_share_a_terminal_and_a_late_viewer_sees_what_was_before() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let bobs = guest(&session, "bob", "drive").await;
    let body = json!({"name": "build", "size": {"cols": 100, "rows": 30}});
    let mut own = TerminalClient::open_with(&session, body).await;
    assert_eq!((own.terminal.number, own.read_only), (1, None));
    own.type_in("from admin\r").await;
    own.until("from admin\r\nfrom admin").await;

    let mut others = TerminalClient::attach(&bobs, 1).await;
    others.until("from admin\r\nfrom admin").await;
    others.type_in("from bob\r").await;
    own.until("from bob\r\nfrom bob").await;
    others.resize(120, 40).await;
    own.until_state(|it| it.terminal.size.cols == 120).await;

    let path = bobs.path("/terminals/1");
    let renamed = bobs.client.patch(&path, json!({"name": "tests"})).await;
    assert_eq!(renamed.good()["name"], "tests");
    own.until_state(|it| it.terminal.name == "tests").await;
    let all = terminals(&session).await;
    let names: Vec<&str> = all.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent", "tests"]);

    bobs.client.delete(&bobs.path("/terminals/1")).await.good();
    assert_eq!(own.closed().await.0, 1000);
    let gone = session.client.upgrade(&session.path("/terminals/1")).await;
    assert_eq!(refusal(&gone), (404, "no_terminal".to_owned()));
}

#[tokio::test]
async fn rights_decide_who_watches_and_who_types() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let viewers = guest(&session, "vera", "view").await;
    let suggesters = guest(&session, "sue", "suggest").await;
    let strangers = session.client.new_user("eve").await.session(&session.id);
    let mut own = TerminalClient::open(&session).await;
    for lower in [&viewers, &suggesters] {
        let mut watching = TerminalClient::attach(lower, 1).await;
        assert_eq!(watching.read_only, Some(ReadOnly::Watching));
        watching.type_in("not passed on\r").await;
        watching.resize(30, 30).await;
        let path = lower.path("/terminals");
        for refused in [
            lower.client.post(&path, json!({})).await,
            lower.client.delete(&format!("{path}/1")).await,
            lower
                .client
                .patch(&format!("{path}/1"), json!({"name": "x"}))
                .await,
        ] {
            assert_eq!(refusal(&refused), (403, "not_allowed".to_owned()));
        }
        // This comes after what was not passed on.
        own.type_in("seen\r").await;
        let seen = watching.until("seen\r\nseen").await;
        assert!(!seen.contains("not passed on"), "{seen}");
        assert_eq!(watching.terminal.size.cols, 80);
    }
    let path = strangers.path("/terminals");
    for refused in [
        strangers.client.get(&path).await,
        strangers.client.post(&path, json!({})).await,
        strangers.client.upgrade(&format!("{path}/1")).await,
    ] {
        assert_eq!(refusal(&refused), (404, "no_session".to_owned()));
    }
    // Somebody who may type can choose to watch.
    let watching = TerminalClient::attach_at(&session, "/terminals/1?watch=true").await;
    assert_eq!(watching.read_only, Some(ReadOnly::Watching));
    // The agent's shell takes no input of anybody.
    let agent = TerminalClient::attach(&session, 0).await;
    assert_eq!(agent.read_only, Some(ReadOnly::AgentShell));
    let kill = session.client.delete(&session.path("/terminals/0")).await;
    assert_eq!(refusal(&kill), (400, "bad_terminal".to_owned()));
}

#[tokio::test]
async fn a_person_with_control_types_alone_and_in_new_terminals() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let bobs = guest(&session, "bob", "drive").await;
    let mut before = TerminalClient::open(&session).await;
    let mut bobs_view = TerminalClient::attach(&bobs, 1).await;
    bobs.take_control(60).await.good();
    before
        .until_state(|it| it.read_only == Some(ReadOnly::Control))
        .await;
    bobs_view
        .until_state(|it| it.read_only == Some(ReadOnly::Paused))
        .await;
    assert!(terminals(&session).await[1]["paused"] == true);
    before.type_in("admin\r").await;
    bobs_view.type_in("bob\r").await;
    let refused = session
        .client
        .post(&session.path("/terminals"), json!({}))
        .await;
    assert_eq!(refusal(&refused), (409, "somebody_else_drives".to_owned()));
    let refused = session.client.delete(&session.path("/terminals/1")).await;
    assert_eq!(refusal(&refused), (409, "somebody_else_drives".to_owned()));

    let mut private = TerminalClient::open(&bobs).await;
    private.type_in("alone\r").await;
    private.until("alone\r\nalone").await;
    let mut watching = TerminalClient::attach(&session, private.terminal.number).await;
    assert_eq!(watching.read_only, Some(ReadOnly::Control));
    watching.until("alone\r\nalone").await;

    bobs.hand_back().await.good();
    before.until_state(|it| it.read_only.is_none()).await;
    before.type_in("back\r").await;
    let seen = before.until("back\r\nback").await;
    assert!(!seen.contains("admin") && !seen.contains("bob"), "{seen}");
}

#[tokio::test]
async fn a_connection_ends_with_the_right_and_with_the_sandbox() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let bobs = guest(&session, "bob", "drive").await;
    let mut own = TerminalClient::open(&session).await;
    let mut others = TerminalClient::attach(&bobs, 1).await;
    share(&session, "bob", "view").await;
    assert_eq!(others.closed().await.0, 1008);
    let again = TerminalClient::attach(&bobs, 1).await;
    assert_eq!(again.read_only, Some(ReadOnly::Watching));

    let id: SessionId = session.id.parse().unwrap();
    world
        .sandboxes()
        .running(id)
        .unwrap()
        .die("it was pulled out");
    assert_eq!(own.closed().await.0, 1000);
    assert_eq!(terminals(&session).await.len(), 0);
    let refused = session.client.upgrade(&session.path("/terminals/1")).await;
    assert_eq!(refusal(&refused), (409, "no_sandbox".to_owned()));
    // Opening one starts the sandbox again, and it is another terminal.
    let anew = TerminalClient::open(&session).await;
    assert_eq!(anew.terminal.number, 1);
    assert_ne!(anew.terminal.id, own.terminal.id);
}

#[tokio::test]
async fn what_happens_in_a_terminal_keeps_its_session_awake() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    TerminalClient::open(&session).await;
    let id: SessionId = session.id.parse().unwrap();
    let sandbox = world.sandboxes().running(id).unwrap();
    // An idle session sleeps after 15 minutes.
    for n in 0..3 {
        world.pass(Duration::from_mins(10)).await;
        let mut terminal = TerminalClient::attach(&session, 1).await;
        terminal.type_in(&format!("{n}\r")).await;
        terminal.until(&format!("{n}\r\n{n}")).await;
    }
    world.pass(Duration::from_mins(20)).await;
    let is_stopped = |body: &EventBody| matches!(body, EventBody::Status(status) if status.sandbox == SandboxState::Stopped);
    session.wait_for(0, is_stopped).await;
    // The agent was never asked to do any of it.
    let shells = sandbox.carried_out();
    let is_shell = |request: &RunnerRequest| matches!(request, RunnerRequest::Shell(_));
    assert!(!shells.iter().any(is_shell));
}

#[tokio::test]
async fn bad_terminals_are_refused_and_there_are_not_too_many() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let path = session.path("/terminals");
    for body in [
        json!({"name": ""}),
        json!({"name": "a\u{1b}[2J"}),
        json!({"name": "x".repeat(65)}),
        json!({"size": {"cols": 1, "rows": 24}}),
        json!({"size": {"cols": 80, "rows": 201}}),
        json!({"command": ""}),
        json!({"command": "a\0b"}),
    ] {
        let refused = session.client.post(&path, body).await;
        assert_eq!(refusal(&refused), (400, "bad_terminal".to_owned()));
    }
    for _ in 0..10 {
        session.client.post(&path, json!({})).await.good();
    }
    let refused = session.client.post(&path, json!({})).await;
    assert_eq!(refusal(&refused), (429, "too_many_terminals".to_owned()));
    session.client.delete(&format!("{path}/3")).await.good();
    session.client.post(&path, json!({})).await.good();
    for missing in ["3", "99", "x", "-1"] {
        let refused = session.client.delete(&format!("{path}/{missing}")).await;
        assert_eq!(refused.status, 404, "{missing}");
    }
    session.terminate().await;
    let refused = session.client.post(&path, json!({})).await;
    assert_eq!(refusal(&refused), (409, "session_ended".to_owned()));
}

#[tokio::test]
async fn secrets_that_were_typed_are_redacted_also_across_messages() {
    const FILLS: &str = r#"
steps:
  - calls:
      - fill_secret: {name: bank}
  - text: "{{ last_result }}"
"#;
    let world = World::start(&[("fills", FILLS)]).await;
    let stored = json!({"value": "open sesame", "origins": ["https://bank.example"]});
    let stored = world.client().put("/api/secrets/bank", stored).await;
    assert_eq!(stored.status, 204);
    let new = json!({"model": "scripted/fills", "approvals": {"mode": "never"}});
    let new = world.client().post("/api/sessions", new).await.good();
    let session = world.client().session(new["id"].as_str().unwrap());
    let mut terminal = TerminalClient::open(&session).await;
    let id: SessionId = session.id.parse().unwrap();
    let sandbox = world.sandboxes().running(id).unwrap();
    sandbox.set_focus(Some("https://bank.example".parse().unwrap()));
    session.prompt("fill it in").await;
    session.turn_end(0).await;
    assert_eq!(sandbox.typed().len(), 1);
    for piece in ["it is open", " ses", "ame, isn't it\r"] {
        terminal.type_in(piece).await;
    }
    let shown = terminal
        .until("isn't it\r\nit is [secret bank], isn't it")
        .await;
    assert!(!shown.contains("sesame"), "{shown}");
    // Somebody who types sees the first letters, though a secret begins with them.
    terminal.forget();
    terminal.type_in("ope").await;
    terminal.until("ope").await;
}
