//! Computers without a screen: many browsers at once, and each survives the crashes of the others and of its own.

use deskhand_core::event::EventBody;
use deskhand_testkit::{Server, Session};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    secrets::page::Picture,
    world::{serve, setting},
};

/// The number of sessions at once. `HEADLESS_SESSIONS` sets another one.
const N_SESSIONS: u64 = 4;

const PASSWORD: &str = "Canary-headless-1";

/// Serves a page with a password field, whose title tells the length of the password.
const SITE: &str = r#"mkdir -p ~/site && cd ~/site && cat > index.html <<'END'
<!doctype html><title>empty</title><body style="margin: 0">
<input type=password autofocus oninput="document.title = `length ${this.value.length}`"
  style="display: block; width: 400px; height: 100px; border: 0; outline: 0; background: #1f7a4d">
<h1>Welcome</h1>
END
python3 -m http.server --bind 127.0.0.1 8001 > /dev/null 2>&1 &
until curl -s localhost:8001 > /dev/null; do sleep 0.1; done"#;

/// Opens the page, fills in the password, and looks at it.
const VISITS: &str = r##"
chunk_delay_ms: 0
steps:
  - calls:
      - browser: {action: navigate, url: "http://localhost:8001/"}
      - browser: {action: screenshot, format: png}
  - expect: {colour: "#1f7a4d", min_pixels: 30000}
    calls:
      - browser: {action: click, x: 100, y: 50}
      - fill_secret: {name: site}
      - browser: {action: wait, timeout: 5}
      - browser: {action: screenshot, format: png}
  - expect: {no_errors: true, text_contains: "length 17"}
    text: "Done."
"##;

async fn start(server: &Server) -> Session {
    let settings = json!({
        "model": "scripted/visits", "computer": "browser", "approvals": {"mode": "never"},
    });
    let made = server.client().post("/api/sessions", settings).await;
    let session = server.client().session(made.good()["id"].as_str().unwrap());
    let served = session.shell(SITE).await;
    assert_eq!(served, "[no output]");
    session
}

/// Does something in the browser by hand, and returns the result's text.
async fn browse(session: &Session, input: Value) -> String {
    let done = session.act("browser", input).await;
    done["text"].as_str().unwrap().to_owned()
}

async fn visit(session: &Session) {
    session.prompt("Visit the page.").await;
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
}

#[tokio::test]
async fn browsers_without_a_screen_work_side_by_side_and_survive_crashes() {
    let server = serve(&[("visits", VISITS)]);
    let secret = json!({"value": PASSWORD, "origins": ["http://localhost:8001"]});
    let stored = server.client().put("/api/secrets/site", secret).await;
    assert_eq!(stored.status, 204);
    let n_sessions = setting("HEADLESS_SESSIONS").unwrap_or(N_SESSIONS);
    let sessions = join_all((0..n_sessions).map(|_| start(&server))).await;
    join_all(sessions.iter().map(visit)).await;

    let [tab, browser, others @ ..] = &sessions[..] else {
        panic!("two sessions crash, and others go on");
    };
    // Neither a screen nor a program for one is there.
    let programs = "echo \"[$DISPLAY]\"; pgrep -c 'Xvnc|openbox'; pgrep -fc -- --type=renderer";
    let programs = tab.shell(programs).await;
    assert!(programs.starts_with("[]\n0\n1\n"), "{programs}");

    // A page crashes: the next call says so, and a reload brings the page back.
    tab.shell("pkill -9 -f -- --type=renderer").await;
    let crashed = browse(tab, json!({"action": "read_page"})).await;
    assert!(crashed.contains("crashed: reload it"), "{crashed}");
    let reloaded = browse(tab, json!({"action": "reload"})).await;
    assert!(reloaded.contains("Tab 1: \"empty\""), "{reloaded}");

    // A whole browser ends: the next call starts another one, and says so.
    browser.shell("pkill -9 chromium; true").await;
    let open = json!({"action": "navigate", "url": "http://localhost:8001/"});
    let opened = browse(browser, open).await;
    assert!(opened.contains("was started again"), "{opened}");
    assert!(opened.contains("\"empty\""), "{opened}");

    // The others did not notice, and still cover their passwords.
    for session in others {
        let read = browse(session, json!({"action": "read_page"})).await;
        assert!(
            read.contains("\"length 17\"") && read.contains("Welcome"),
            "{read}"
        );
        assert!(
            !read.contains("crashed") && !read.contains("started"),
            "{read}"
        );
        let events = session.events(0).await;
        assert!(!json!(events).to_string().contains(PASSWORD));
        let mut pictures = events.iter().filter(|event| event["type"] == "screenshot");
        let blob = pictures.next_back().unwrap()["data"]["blob"].as_str();
        let path = format!("/api/blobs/{}", blob.unwrap());
        let picture = Picture::read(&session.client.get(&path).await.body);
        assert_eq!(picture.count([0x1f, 0x7a, 0x4d]), 0, "the field is black");
        assert!(picture.count([0, 0, 0]) > 30_000);
    }
    // Everybody sees the page as it is now.
    let picture = server.client().get(&tab.path("/screenshot")).await;
    assert_eq!(&picture.body[16..24], [0, 0, 0x05, 0, 0, 0, 0x03, 0x20]);
    join_all(sessions.iter().map(Session::terminate)).await;
}
