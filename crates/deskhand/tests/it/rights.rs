//! Rights in a session: what each allows, how it is given and taken, and what strangers see.

use std::time::Duration;

use deskhand_core::{
    clock::{Clock, SystemClock},
    event::EventBody,
    id::SessionId,
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
};
use deskhand_testkit::{Answer, Client, Session, Watcher, not_run};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::serve;

const POLITE: &str = r#"
steps:
  - text: "Gladly."
"#;

/// A turn that would take an hour.
const BUSY: &str = r#"
steps:
  - text: "This takes an hour."
    calls:
      - bash: {command: "sleep 3600"}
  - text: "Done."
"#;

/// Something that can be asked of a session, and the least right for it.
type Wish = (&'static str, Method, &'static str, Value);

const RIGHTS: [&str; 4] = ["view", "suggest", "drive", "owner"];

/// A place in the queue where no message is.
const NOT_WAITING: &str = "/queue/0190163d-8694-739b-aea5-966c26f8ad91";

/// Everything that is not about one session and needs a sign-in.
const SIGNED_IN: [(Method, &str); 19] = [
    (Method::GET, "/metrics"),
    (Method::GET, "/api/me"),
    (Method::GET, "/api/me/audit"),
    (Method::GET, "/api/me/offers"),
    (Method::GET, "/api/audit"),
    (Method::GET, "/api/sign-ins"),
    (Method::DELETE, "/api/sign-ins"),
    (Method::GET, "/api/sessions"),
    (Method::POST, "/api/sessions"),
    (Method::POST, "/api/sign-out"),
    (Method::POST, "/api/sign-in-links"),
    (Method::GET, "/api/users"),
    (Method::POST, "/api/users"),
    (Method::GET, "/api/tokens"),
    (Method::POST, "/api/tokens"),
    (Method::GET, "/api/secrets"),
    (Method::PUT, "/api/secrets/cave"),
    (Method::DELETE, "/api/secrets/cave"),
    (Method::POST, "/api/shares/join"),
];

/// Everything about a session, but ending it.
#[expect(clippy::too_many_lines, reason = "a list of all requests")]
fn wishes() -> Vec<Wish> {
    let shell = json!({"tool": "bash", "input": {"shell": "run", "command": "true"}});
    vec![
        ("view", Method::GET, "", json!(null)),
        ("view", Method::GET, "/messages", json!(null)),
        ("view", Method::GET, "/events", json!(null)),
        ("view", Method::GET, "/network", json!(null)),
        ("view", Method::GET, "/queue", json!(null)),
        ("view", Method::GET, "/decisions", json!(null)),
        ("view", Method::GET, "/screenshot", json!(null)),
        ("view", Method::GET, "/terminals", json!(null)),
        ("view", Method::GET, "/ports", json!(null)),
        ("view", Method::GET, "/people", json!(null)),
        ("view", Method::GET, "/people/bob", json!(null)),
        (
            "suggest",
            Method::POST,
            "/messages",
            json!({"content": "hello"}),
        ),
        (
            "suggest",
            Method::PATCH,
            NOT_WAITING,
            json!({"content": "goodbye"}),
        ),
        ("suggest", Method::DELETE, NOT_WAITING, json!(null)),
        (
            "drive",
            Method::POST,
            "/messages",
            json!({"content": "hello", "delivery": "interrupt"}),
        ),
        (
            "drive",
            Method::POST,
            "/messages",
            json!({"content": "hello", "model": "scripted/polite"}),
        ),
        (
            "drive",
            Method::PATCH,
            NOT_WAITING,
            json!({"model": "scripted/polite"}),
        ),
        (
            "drive",
            Method::PATCH,
            "",
            json!({"model": "scripted/polite", "instructions": "Be quick."}),
        ),
        ("drive", Method::POST, "/stop", json!(null)),
        ("drive", Method::POST, "/actions", shell),
        (
            "drive",
            Method::GET,
            "/sandbox-token?service=port-3001",
            json!(null),
        ),
        ("drive", Method::PUT, "/lease", json!({})),
        ("drive", Method::DELETE, "/lease", json!(null)),
        ("owner", Method::PUT, "/lease", json!({"force": true})),
        ("owner", Method::PATCH, "", json!({"title": "named"})),
        ("owner", Method::PUT, "/shared-ports/3000", json!(null)),
        ("owner", Method::DELETE, "/shared-ports/3000", json!(null)),
        ("owner", Method::GET, "/shares", json!(null)),
        ("owner", Method::POST, "/shares", json!({"right": "view"})),
        (
            "owner",
            Method::PUT,
            "/people/eve",
            json!({"right": "view"}),
        ),
        ("owner", Method::DELETE, "/people/eve", json!(null)),
        (
            "owner",
            Method::PUT,
            "/people/eve",
            json!({"right": "owner"}),
        ),
        ("owner", Method::DELETE, "/offer", json!(null)),
    ]
}

async fn ask(client: &Client, method: &Method, path: &str, body: &Value) -> Answer {
    let body = (!body.is_null()).then(|| body.to_string().into_bytes());
    client.send(method.clone(), path, body).await
}

fn level(right: &str) -> usize {
    RIGHTS.iter().position(|name| *name == right).unwrap()
}

async fn grant(session: &Session, who: &str, right: &str) {
    let path = session.path(&format!("/people/{who}"));
    let granted = session.client.put(&path, json!({"right": right})).await;
    assert_eq!(granted.good()["right"], right);
}

/// Waits until the agent has nothing to do.
async fn until_idle(session: &Session) {
    session.turn_end(0).await;
    while session.show().await["state"] != "idle" {
        let newest = session.show().await["last_seq"].as_u64().unwrap() - 1;
        session
            .wait_for(newest, |body| matches!(body, EventBody::Status(_)))
            .await;
    }
}

#[tokio::test]
async fn each_right_allows_what_it_says_and_no_more() {
    let server = serve(&[("polite", POLITE)]);
    let admin = server.client();
    let owner = admin.new_user("olga").await;
    let bob = admin.new_user("bob").await;
    admin.new_user("eve").await;
    for right in ["view", "suggest", "drive"] {
        let session = owner.new_session("scripted/polite").await;
        session.shell("true").await;
        grant(&session, "Bob", right).await;
        let seen = bob.get(&session.path("")).await.good();
        assert_eq!(seen["right"], right);
        for (needed, method, path, body) in wishes() {
            let answer = ask(&bob, &method, &session.path(path), &body).await;
            if level(right) < level(needed) {
                let told = answer.json()["error"].clone();
                assert_eq!(answer.status, 403, "{right}: {method} {path}: {told}");
                assert_eq!(told["code"], "not_allowed");
                assert_eq!(told["details"], json!({"has": right, "needed": needed}));
                continue;
            }
            let expected: &[u16] = match path {
                // There may be nothing left to stop.
                "/stop" => &[202, 409],
                "/lease" => &[200, 204],
                NOT_WAITING => &[404],
                _ => &[200, 201, 202],
            };
            assert!(
                expected.contains(&answer.status),
                "{right}: {method} {path}: {}",
                answer.status
            );
            if method == Method::POST && matches!(path, "/messages" | "/stop") {
                until_idle(&session).await;
            }
        }
        let ended = bob.delete(&session.path("")).await;
        assert_eq!((ended.status, ended.code().as_str()), (403, "not_allowed"));
        let listed = bob.get("/api/sessions").await.good();
        assert_eq!(listed["sessions"][0]["id"], json!(session.id));
        session.terminate().await;
    }
}

#[tokio::test]
async fn a_message_that_waits_is_changed_by_its_author_or_by_who_may_drive() {
    let server = serve(&[("busy", BUSY)]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let dora = admin.new_user("dora").await;
    let session = admin.new_plain_session("scripted/busy").await;
    grant(&session, "bob", "suggest").await;
    grant(&session, "dora", "drive").await;
    session.prompt("begin").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let of_admin = session.path(&format!("/queue/{}", session.prompt("mine").await));
    let shared = bob.session(&session.id);
    let of_bob = session.path(&format!("/queue/{}", shared.prompt("bob's").await));

    let change = || json!({"content": "changed"});
    bob.patch(&of_bob, change()).await.good();
    for refused in [
        bob.patch(&of_admin, change()).await,
        bob.delete(&of_admin).await,
        bob.patch(&of_bob, json!({"delivery": "interrupt"})).await,
    ] {
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "not_allowed")
        );
        let details = json!({"has": "suggest", "needed": "drive"});
        assert_eq!(refused.json()["error"]["details"], details);
    }
    dora.patch(&of_admin, change()).await.good();
    dora.delete(&of_bob).await.good();
    let queue = bob.get(&session.path("/queue")).await.good();
    let messages = queue["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["content"], "changed");
    session.terminate().await;
}

#[tokio::test]
async fn a_stranger_finds_nothing_and_learns_nothing() {
    let server = serve(&[("polite", POLITE)]);
    let admin = server.client();
    let owner = admin.new_user("olga").await;
    let bob = admin.new_user("bob").await;
    let nobody = admin.with_token("");
    let session = owner.new_session("scripted/polite").await;
    session
        .act("computer", json!({"action": "screenshot"}))
        .await;
    let look = json!({"tool": "computer", "input": {"action": "screenshot"}, "look": true});
    let picture = owner.post(&session.path("/actions"), look).await.good();
    let share = owner
        .post(&session.path("/shares"), json!({"right": "view"}))
        .await
        .good();

    let blob = format!("/api/blobs/{}", picture["screenshot"].as_str().unwrap());
    let link = session.path(&format!("/shares/{}", share["id"].as_str().unwrap()));
    let mut all: Vec<_> = wishes()
        .into_iter()
        .map(|(_, method, path, body)| (method, session.path(path), body))
        .collect();
    all.extend([
        (Method::GET, session.path("/stream"), json!(null)),
        (Method::GET, session.path("/vnc"), json!(null)),
        (Method::POST, session.path("/terminals"), json!({})),
        (
            Method::PATCH,
            session.path("/terminals/1"),
            json!({"name": "x"}),
        ),
        (Method::DELETE, session.path("/terminals/1"), json!(null)),
        (Method::GET, blob.clone(), json!(null)),
        (Method::DELETE, link, json!(null)),
        (Method::DELETE, session.path(""), json!(null)),
    ]);
    // An administrator has no more right in other people's sessions than anybody else.
    for stranger in [&bob, &admin] {
        for (method, path, body) in &all {
            let answer = if path.ends_with("/stream") || path.ends_with("/vnc") {
                stranger.upgrade(path).await
            } else {
                ask(stranger, method, path, body).await
            };
            assert_eq!(answer.status, 404, "{method} {path}");
            // The same words as for a session that never was.
            let unknown = SessionId::new().to_string();
            let never = path.replace(&session.id, &unknown);
            if never != *path {
                let never = if path.ends_with("/stream") || path.ends_with("/vnc") {
                    stranger.upgrade(&never).await
                } else {
                    ask(stranger, method, &never, body).await
                };
                let never = String::from_utf8_lossy(&never.body).replace(&unknown, &session.id);
                assert_eq!(
                    String::from_utf8_lossy(&answer.body),
                    never,
                    "{method} {path}"
                );
            }
        }
        let listed = stranger.get("/api/sessions").await.good();
        assert_eq!(listed, json!({"sessions": [], "next": null}));
    }
    all.extend(SIGNED_IN.map(|(method, path)| (method, path.to_owned(), json!({}))));
    for (method, path, body) in &all {
        let answer = ask(&nobody, method, path, body).await;
        assert_eq!(answer.status, 401, "{method} {path}");
    }
    // The owner still has it all.
    assert_eq!(owner.get(&blob).await.status, 200);
    session.terminate().await;
}

#[tokio::test]
async fn a_lost_right_ends_open_streams_and_screens() {
    let server = serve(&[]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    grant(&session, "bob", "drive").await;
    let shared = bob.session(&session.id);
    let mut stream = shared.follow(0).await;
    let mut screen = Watcher::open(&shared).await;
    shared.take_control(300).await.good();
    screen.point((111, 222)).await;
    assert_eq!(pointer(&shared).await, "X=111, Y=222");

    // With less of a right the screen begins again, and what is sent to it moves nothing.
    grant(&session, "bob", "suggest").await;
    assert_eq!(screen.closed().await.0, 1008);
    let right_lost = LeaseChange::Ended {
        reason: LeaseEnd::RightLost,
    };
    let ended = |body: &EventBody| matches!(body, EventBody::Lease(LeaseChanged { change, .. }) if *change == right_lost);
    session.wait_for(0, ended).await;
    let mut screen = Watcher::open(&shared).await;
    screen.point((333, 444)).await;
    assert_eq!(pointer(&session).await, "X=111, Y=222");
    assert_eq!(screen.size(), (1024, 768));

    let path = session.path("/people/bob");
    admin.delete(&path).await.good();
    assert_eq!(stream.closed().await.0, 1008);
    assert_eq!(screen.closed().await.0, 1008);
    assert_eq!(bob.get(&session.path("")).await.status, 404);
    let gone = admin.delete(&path).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "no_person"));
    session.terminate().await;
}

#[tokio::test]
async fn nobody_but_the_holder_of_control_gets_the_clipboard() {
    /// Has something in the clipboard, and gives it to whoever asks.
    const PROGRAMS: &str = include_str!("../../../sandbox/tests/it/takeover/programs.py");
    if !std::path::Path::new("/usr/bin/python3").exists() {
        return not_run("the program with the clipboard is written in Python");
    }
    let server = serve(&[]);
    let admin = server.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    let write =
        json!({"command": "create", "path": "/home/agent/programs.py", "file_text": PROGRAMS});
    session.act("editor", write).await;
    grant(&session, "bob", "view").await;
    grant(&session, "eve", "drive").await;
    let mut watchers = [
        Watcher::open(&bob.session(&session.id)).await,
        Watcher::open(&eve.session(&session.id)).await,
    ];
    // While nobody has control, and while another person has it.
    for is_controlled in [false, true] {
        if is_controlled {
            session.take_control(300).await.good();
        }
        let copy = "rm -f ~/copier; setsid -f /usr/bin/python3 ~/programs.py copier hunter2 > ~/log 2>&1; \
                    for i in $(seq 1000); do [ -s ~/copier ] && break; sleep 0.01; done; \
                    [ -s ~/copier ] && echo copied || cat ~/log";
        assert_eq!(session.shell(copy).await.trim(), "copied");
        for watcher in &mut watchers {
            // Each look waits for an answer, which comes after everything that was sent before.
            for _ in 0..20 {
                watcher.look().await;
            }
            assert_eq!(watcher.n_clipboards(), 0);
        }
    }
    session.terminate().await;
}

#[tokio::test]
async fn a_token_that_only_reads_moves_nothing() {
    let server = serve(&[]);
    let admin = server.client();
    let session = admin.new_session("scripted/demo").await;
    session
        .act(
            "computer",
            json!({"action": "move", "at": {"x": 50, "y": 60}}),
        )
        .await;
    let reads = json!({"name": "wall", "scope": "read"});
    let token = admin.post("/api/tokens", reads).await.good();
    let wall = admin.with_token(token["token"].as_str().unwrap());
    // Not even while its user has control.
    session.take_control(300).await.good();
    let mut screen = Watcher::open(&wall.session(&session.id)).await;
    screen.point((333, 444)).await;
    assert_eq!(pointer(&session).await, "X=50, Y=60");
    session.terminate().await;
}

async fn pointer(session: &Session) -> String {
    let told = session
        .act("computer", json!({"action": "cursor_position"}))
        .await;
    told["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_lets_people_in_until_it_ends() {
    let server = serve(&[]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_plain_session("scripted/demo").await;
    let shares = session.path("/shares");
    let made = admin
        .post(&shares, json!({"right": "suggest"}))
        .await
        .good();
    let code = made["code"].as_str().unwrap();
    assert!(
        made["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/#share={code}"))
    );
    let listed = admin.get(&shares).await;
    assert!(!String::from_utf8_lossy(&listed.body).contains(code));
    assert_eq!(listed.good()["shares"][0]["id"], made["id"]);

    let join = async |code: &str| bob.post("/api/shares/join", json!({"code": code})).await;
    let joined = join(code).await.good();
    assert_eq!(
        (&joined["id"], &joined["right"]),
        (&json!(session.id), &json!("suggest"))
    );
    let people = admin.get(&session.path("/people")).await.good();
    let people: Vec<_> = people["people"]
        .as_array()
        .unwrap()
        .iter()
        .map(|person| {
            (
                person["name"].as_str().unwrap(),
                person["right"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(people, [("admin", "owner"), ("bob", "suggest")]);

    let link = format!("{shares}/{}", made["id"].as_str().unwrap());
    admin.delete(&link).await.good();
    // Who is in stays in, and may leave.
    assert_eq!(bob.get(&session.path("")).await.status, 200);
    bob.delete(&session.path("/people/bob")).await.good();
    assert_eq!(bob.get(&session.path("")).await.status, 404);
    for code in [code, "", "made up"] {
        let refused = join(code).await;
        assert_eq!((refused.status, refused.code().as_str()), (404, "no_share"));
    }
    for (body, code) in [
        (json!({"right": "owner"}), "bad_right"),
        (json!({"right": "everything"}), "malformed"),
        (
            json!({"right": "view", "expires_at": SystemClock.now() - Duration::from_secs(1)}),
            "over",
        ),
    ] {
        let refused = admin.post(&shares, body).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, code));
    }
    let person = session.path("/people/admin");
    for refused in [
        admin.put(&person, json!({"right": "view"})).await,
        admin.delete(&person).await,
    ] {
        assert_eq!((refused.status, refused.code().as_str()), (409, "is_owner"));
    }
    for who in ["nobody", "a%00b", "0190163d-8694-739b-aea5-966c26f8ad91"] {
        let path = session.path(&format!("/people/{who}"));
        let refused = admin.put(&path, json!({"right": "view"})).await;
        assert_eq!((refused.status, refused.code().as_str()), (404, "no_user"));
    }
    session.terminate().await;
}

#[tokio::test]
async fn an_owner_can_hand_a_session_over() {
    let server = serve(&[]);
    let admin = server.client();
    let (ada, bob) = (admin.new_user("ada").await, admin.new_user("bob").await);
    let session = ada.new_plain_session("scripted/demo").await;
    let (path, owner) = (session.path("/people/bob"), json!({"right": "owner"}));
    ada.put(&path, json!({"right": "drive"})).await.good();
    let refused = bob.put(&path, owner.clone()).await;
    assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
    session.shell("true").await;
    assert_eq!(ada.put(&path, owner).await.status, 202);
    let accept = format!("/api/me/offers/{}/accept", session.id);
    let keeps = json!({"giver_keeps": "drive"});
    let accepted = bob.post(&accept, keeps).await.good();
    assert_eq!(accepted["sandbox"], "stopped");
    let right = async |client: &deskhand_testkit::Client| {
        client.get(&session.path("")).await.good()["right"].clone()
    };
    assert_eq!(
        (right(&bob).await, right(&ada).await),
        (json!("owner"), json!("drive"))
    );
    let used = async |client: &deskhand_testkit::Client| {
        client.get("/api/me/limits").await.good()["awake_sessions"]["used"].clone()
    };
    assert_eq!((used(&bob).await, used(&ada).await), (json!(0), json!(0)));
    bob.session(&session.id).shell("true").await;
    assert_eq!((used(&bob).await, used(&ada).await), (json!(1), json!(0)));
    assert_eq!(ada.delete(&session.path("")).await.status, 403);
    bob.delete(&session.path("")).await.good();
}
