//! Secrets: the agent types them into a real page, and nobody else gets to see them.

pub(crate) mod page;

use std::{fs::Permissions, os::unix::fs::PermissionsExt, path::Path};

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::{Server, Session, Watcher};
use serde_json::{Value, json};

use self::page::{Picture, SERVER};
use crate::world::serve;

/// What must turn up nowhere.
const CANARY: &str = "Canary-7f3a-Zq";
/// The same in base64, for a command that prints it without naming it.
const CANARY_BASE64: &str = "Q2FuYXJ5LTdmM2EtWnE=";
/// And as the page's server tells that it got it.
const CANARY_SHA256: &str = "5ca9c26858550b6731678a9baac3e56f4e1c71ae21f418e64507933f27587659";

/// Goes to a page of another origin and is refused, then to the right one: its frames of other origins
/// refuse, its fields are filled in and sent, and the page shows what it got.
const LOGS_IN: &str = r##"
chunk_delay_ms: 0
steps:
  - calls:
      - computer: {action: screenshot}
  - expect: {colour: "#f7f4ee", min_pixels: 20000}
    retry: {times: 120, wait_ms: 250}
    calls:
      - computer: {action: click, at: {x: 500, y: 700}}
      - fill_secret: {name: bank}
  - expect: {text_contains: "no text field has the focus"}
    calls:
      - computer: {action: key, keys: ctrl+l}
      - computer: {action: type, text: "http://127.0.0.1:8001/\n"}
      - computer: {action: screenshot}
  - expect: {colour: ["#1f7a4d", "#c8744a"]}
    retry: {times: 120, wait_ms: 250}
    calls:
      - computer: {action: click, at: {find: "#1f7a4d"}}
      - fill_secret: {name: bank}
  - expect: {text_contains: "on a page of http://127.0.0.1:8001, and this secret may only be typed on http://localhost:8001"}
    calls:
      - computer: {action: key, keys: ctrl+l}
      - computer: {action: type, text: "http://localhost:8001/\n"}
      - computer: {action: wait, ms: 1000}
      - computer: {action: screenshot}
  - expect: {colour: ["#1f7a4d", "#c8744a", "#335599", "#aa22aa", "#22aaaa"]}
    retry: {times: 120, wait_ms: 250}
    calls:
      - computer: {action: click, at: {find: "#aa22aa"}}
      - fill_secret: {name: bank}
  - expect: {text_contains: "on a page of http://localhost:8002,"}
    calls:
      - computer: {action: click, at: {find: "#22aaaa"}}
      - fill_secret: {name: bank}
  - expect: {text_contains: "on a page of http://127.0.0.1:8002,"}
    calls:
      - fill_secret: {name: other}
  - expect: {text_contains: "there is no secret other; the secrets are bank"}
    calls:
      - computer: {action: click, at: {find: "#1f7a4d"}}
      - fill_secret: {name: bank}
      - computer: {action: click, at: {find: "#c8744a"}}
      - fill_secret: {name: bank}
      - computer: {action: move, at: {x: 900, y: 700}}
      - computer: {action: screenshot}
  - expect: {no_errors: true}
    calls:
      - bash: {command: "echo Q2FuYXJ5LTdmM2EtWnE= | base64 -d; sleep 0.5; echo .; echo Q2FuYXJ5LTdmM2EtWnE= | base64 -d > /tmp/file"}
      - editor: {command: view, path: /tmp/file}
  - expect: {text_contains: "[secret bank]"}
    calls:
      - computer: {action: click, at: {find: "#335599"}}
      - computer: {action: move, at: {x: 900, y: 700}}
      - computer: {action: screenshot}
  - expect: {colour: "#ffdd00"}
    retry: {times: 120, wait_ms: 250}
    text: It is done.
"##;

const ONLY_FILLS: &str = r#"
chunk_delay_ms: 0
steps:
  - calls:
      - fill_secret: {name: bank}
  - text: "{{ last_result }}"
"#;

async fn store(server: &Server, value: &str) {
    let body = json!({"value": value, "origins": ["http://localhost:8001"]});
    let stored = server.client().put("/api/secrets/bank", body).await;
    assert_eq!(stored.status, 204, "{:?}", stored.code());
}

/// Says yes to every secret that the agent wants to type, until the turn ends. Tells how often it was asked.
async fn agree(session: &Session) -> usize {
    let mut stream = session.follow(0).await;
    let mut n_asked = 0;
    loop {
        let body = stream.next_event().await.body;
        assert!(!matches!(body, EventBody::Error(_)), "{body:?}");
        if let EventBody::Complete(complete) = &body {
            assert_eq!(complete.outcome, Outcome::Done);
            return n_asked;
        }
        if let EventBody::Decision(asked) = body {
            let question =
                "wants to type the secret bank into a page of http://localhost:8001, titled";
            assert!(asked.ask.prompt.contains(question), "{:?}", asked.ask);
            let path = session.path(&format!("/decisions/{}/answer", asked.decision));
            let answer = json!({"yes": true});
            session.client.post(&path, answer).await.good();
            n_asked += 1;
        }
    }
}

/// Everything under a folder that holds these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path)
            .is_ok_and(|content| content.windows(bytes.len()).any(|window| window == bytes))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

async fn pictures(session: &Session) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for event in session.events(0).await {
        if event["type"] == "screenshot" {
            let path = format!("/api/blobs/{}", event["data"]["blob"].as_str().unwrap());
            pictures.push(Picture::read(&session.client.get(&path).await.body));
        }
    }
    pictures
}

#[tokio::test]
async fn the_agent_logs_in_and_nobody_sees_the_password() {
    let mut server = serve(&[("logs-in", LOGS_IN)]);
    store(&server, CANARY).await;
    let session = server.client().new_session("scripted/logs-in").await;
    let file = json!({"command": "create", "path": "/tmp/server.py", "file_text": SERVER});
    session.act("editor", file).await;
    session
        .shell("python3 /tmp/server.py > /dev/null 2>&1 &")
        .await;
    let up = "until curl -s localhost:8001 localhost:8002 > /dev/null; do sleep 0.1; done";
    session.shell(up).await;
    session.prompt("Log in.").await;
    // Nobody is asked when nothing can come of it.
    assert_eq!(agree(&session).await, 2);

    let got = session.shell("cat ~/got").await;
    assert_eq!(got.matches(CANARY_SHA256).count(), 2, "{got}");
    let pictures = pictures(&session).await;
    let fields = [[0x1f, 0x7a, 0x4d], [0xc8, 0x74, 0x4a]];
    let form = pictures
        .iter()
        .rposition(|picture| picture.box_of(fields[0]).is_some());
    let form = form.unwrap();
    let boxes = fields.map(|colour| pictures[form].box_of(colour).unwrap());
    let filled = &pictures[form + 1];
    for field in boxes {
        assert!(filled.is_black(field), "{field:?} is not covered");
    }
    assert!(
        filled.box_of([0x33, 0x55, 0x99]).is_some(),
        "more is covered than the fields"
    );
    // The page shows it in large letters. People who watch see them, pictures do not have them.
    let letters = [0xff, 0x00, 0x77];
    let last = pictures.last().unwrap();
    assert!(last.box_of([0xff, 0xdd, 0x00]).is_some());
    assert_eq!(last.count(letters), 0);
    let mut watcher = Watcher::open(&session).await;
    watcher.look().await;
    let (width, height) = watcher.size();
    let points = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let n_live = points
        .filter(|(x, y)| watcher.pixel(*x, *y) == letters)
        .count();
    assert!(n_live > 100, "the page does not show it: {n_live}");

    let secrets = server.client().get("/api/secrets").await;
    let used = &secrets.good()["secrets"][0];
    assert_eq!(used["last_used_in"], json!(session.id));
    nothing_tells(&server, &session).await;

    // What was typed is looked for in a new computer too.
    assert_eq!(server.terminate(), Some(0));
    server.start_again();
    let session = server.client().session(&session.id);
    let printed = session
        .shell(&format!("echo {CANARY_BASE64} | base64 -d"))
        .await;
    assert_eq!(printed, "[secret bank]");
    let picture = server.client().get(&session.path("/screenshot")).await;
    assert_eq!(picture.status, 200);
    nothing_tells(&server, &session).await;
}

async fn nothing_tells(server: &Server, session: &Session) {
    let client = server.client();
    for path in [
        session.path("/events?limit=5000"),
        session.path("/messages"),
        "/api/secrets".to_owned(),
        "/metrics".to_owned(),
    ] {
        let answer = client.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains(CANARY), "{path}");
    }
    assert!(!server.log().contains(CANARY));
    assert_eq!(
        files_with(&server.data_dir(), CANARY.as_bytes()),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn without_its_key_a_secret_is_safe_and_the_way_out_is_told() {
    let server = serve(&[("fills", ONLY_FILLS)]);
    let client = server.client();
    let key = server.data_dir().join("secrets.key");
    assert!(!key.exists());
    store(&server, "first value").await;
    let mode = std::fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let said = async || {
        let never = json!({"model": "scripted/fills", "approvals": {"mode": "never"}});
        let session = client.post("/api/sessions", never).await.good();
        let session = client.session(session["id"].as_str().unwrap());
        session.prompt("Fill it in.").await;
        session.turn_end(0).await;
        let messages = session.messages().await;
        messages.last().unwrap()["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let body = json!({"value": "second value", "origins": ["http://localhost:8001"]});

    let away = server.home().join("away.key");
    std::fs::rename(&key, &away).unwrap();
    let refused = client.put("/api/secrets/bank", body.clone()).await;
    assert_eq!((refused.status, &*refused.code()), (503, "secrets_locked"));
    assert!(
        !key.exists(),
        "a new key would make the old secrets unreadable"
    );
    assert!(
        said()
            .await
            .contains("the encryption key of secrets is missing")
    );

    std::fs::write(&key, format!("{}\n", "A".repeat(43))).unwrap();
    std::fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    assert!(
        said().await.contains("cannot be read"),
        "others may read it"
    );
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    assert!(
        said()
            .await
            .contains("encrypted with a key that the server no longer has")
    );
    std::fs::write(&key, "nonsense").unwrap();
    assert!(said().await.contains("cannot be read"));

    // It is still known what there is, and nothing was lost.
    let listed = client.get("/api/secrets").await.good();
    assert_eq!(listed["secrets"].as_array().unwrap().len(), 1);
    std::fs::rename(&away, &key).unwrap();
    assert!(!said().await.contains("key"));
    store(&server, "second value").await;
    assert!(
        server.log().contains("secrets.key"),
        "the administrator is told where"
    );
}

#[tokio::test]
async fn secrets_belong_to_one_person_and_are_never_shown() {
    let server = serve(&[]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let places = json!(["HTTPS://Example.com:443/", "http://localhost:8000"]);
    let body = json!({"value": "open sesame", "origins": places});
    assert_eq!(bob.put("/api/secrets/cave", body.clone()).await.status, 204);
    let listed = bob.get("/api/secrets").await;
    assert!(!String::from_utf8_lossy(&listed.body).contains("sesame"));
    let secret = &listed.good()["secrets"][0];
    assert_eq!(
        secret["origins"],
        json!(["https://example.com", "http://localhost:8000"])
    );
    assert_eq!(secret["last_used_at"], Value::Null);

    assert_eq!(
        admin.get("/api/secrets").await.good(),
        json!({"secrets": []})
    );
    let missing = admin.delete("/api/secrets/cave").await;
    assert_eq!((missing.status, &*missing.code()), (404, "no_secret"));
    let writes = bob
        .post("/api/tokens", json!({"name": "ci", "scope": "write"}))
        .await
        .good();
    let program = bob.with_token(writes["token"].as_str().unwrap());
    assert_eq!(program.get("/api/secrets").await.status, 403);
    assert_eq!(
        program.put("/api/secrets/cave", body.clone()).await.status,
        403
    );

    let with = |value: Value, origins: Value| json!({"value": value, "origins": origins});
    for (name, body, code) in [
        ("Cave", body.clone(), "bad_secret"),
        ("a%20b", body.clone(), "bad_secret"),
        (
            "cave",
            with(json!("abc"), json!(["https://a.example"])),
            "bad_secret",
        ),
        (
            "cave",
            with(json!("two\nlines"), json!(["https://a.example"])),
            "bad_secret",
        ),
        ("cave", with(json!("open sesame"), json!([])), "bad_secret"),
        (
            "cave",
            with(json!("open sesame"), json!(["https://a.example/path"])),
            "bad_secret",
        ),
        (
            "cave",
            with(json!(["open sesame"]), json!(["https://a.example"])),
            "malformed",
        ),
        (
            "cave",
            json!({"origins": ["https://a.example"]}),
            "malformed",
        ),
    ] {
        let refused = bob.put(&format!("/api/secrets/{name}"), body.clone()).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (400, code),
            "{name} {body}"
        );
        assert!(
            !String::from_utf8_lossy(&refused.body).contains("sesame"),
            "{body}"
        );
    }
    assert_eq!(bob.delete("/api/secrets/cave").await.status, 204);
    assert_eq!(bob.get("/api/secrets").await.good(), json!({"secrets": []}));
    assert!(!server.log().contains("sesame"));
}
