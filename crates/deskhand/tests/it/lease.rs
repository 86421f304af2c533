//! Control of the computer: one has it, the others wait, and nothing of what a person does is kept.

use std::path::Path;

use deskhand_core::{
    event::{EventBody, Outcome},
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
};
use deskhand_testkit::{Server, Session, Watcher};
use serde_json::{Value, json};

use crate::world::serve;

/// Begins something long, and goes on only when it was told of bob.
const WORK: &str = r#"
turns:
  - steps:
      - calls:
          - bash: {command: "echo started; sleep 300"}
          - computer: {action: screenshot}
      - expect: {handed_back: ["bob had mouse and keyboard", "how it looks now"], text_contains: "Cut off"}
        text: "I go on."
        calls:
          - bash: {command: "echo agent >> ~/marks"}
          - computer: {action: screenshot}
      - expect: {no_errors: true}
        text: "{{ handed_back }}"
"#;

/// Tells which keys are down on the display: nothing when none is.
const KEYS_DOWN: &str = r#"python3 -c 'import ctypes
x = ctypes.CDLL("libX11.so.6"); x.XOpenDisplay.restype = ctypes.c_void_p
keys = ctypes.create_string_buffer(32)
x.XQueryKeymap(ctypes.c_void_p(x.XOpenDisplay(None)), keys)
print("down" if any(keys.raw) else "none")'"#;

const LETTER_A: u32 = 0x61;

async fn share(session: &Session, who: &str, right: &str) {
    let path = session.path(&format!("/people/{who}"));
    let body = json!({"right": right});
    session.client.put(&path, body).await.good();
}

fn ended(wanted: LeaseEnd) -> impl Fn(&EventBody) -> bool {
    move |body| {
        matches!(body, EventBody::Lease(LeaseChanged {
            change: LeaseChange::Ended { reason }, ..
        }) if *reason == wanted)
    }
}

fn is_taken(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::Lease(LeaseChanged {
            change: LeaseChange::Taken { .. },
            ..
        })
    )
}

fn is_output(body: &EventBody) -> bool {
    matches!(body, EventBody::ToolResult(result) if result.partial)
}

async fn pointer(session: &Session) -> Value {
    let ask = json!({"action": "cursor_position"});
    session.act("computer", ask).await["text"].clone()
}

/// How many pictures the server keeps.
fn n_pictures(server: &Server) -> usize {
    fn files(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.path().is_dir() {
                true => files(&entry.path()),
                false => 1,
            })
            .sum()
    }
    files(&server.data_dir().join("blobs"))
}

#[tokio::test]
async fn input_on_the_wire_passes_only_from_whoever_has_control() {
    let server = serve(&[]);
    let admin = server.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    share(&session, "bob", "drive").await;
    share(&session, "eve", "view").await;
    let bobs = bob.session(&session.id);
    let mut of_admin = Watcher::open(&session).await;
    let mut of_bob = Watcher::open(&bobs).await;
    let mut of_eve = Watcher::open(&eve.session(&session.id)).await;
    let at = json!({"action": "move", "at": {"x": 50, "y": 60}});
    session.act("computer", at).await;

    // Without control nobody's input passes, whatever their right.
    for screen in [&mut of_admin, &mut of_bob, &mut of_eve] {
        screen.point((333, 444)).await;
        screen.key(LETTER_A, true).await;
    }
    assert_eq!(pointer(&session).await, "X=50, Y=60");
    assert_eq!(session.shell(KEYS_DOWN).await.trim(), "none");

    bobs.take_control(300).await.good();
    of_bob.point((111, 222)).await;
    for screen in [&mut of_admin, &mut of_eve] {
        screen.point((333, 444)).await;
        screen.key(LETTER_A, true).await;
    }
    assert_eq!(pointer(&bobs).await, "X=111, Y=222");
    assert_eq!(bobs.shell(KEYS_DOWN).await.trim(), "none");
    of_bob.key(LETTER_A, true).await;
    assert_eq!(bobs.shell(KEYS_DOWN).await.trim(), "down");

    // Whose hands are taken off lets go of what they held.
    let force = json!({"force": true});
    admin.put(&session.path("/lease"), force).await.good();
    of_bob.point((333, 444)).await;
    assert_eq!(pointer(&session).await, "X=111, Y=222");
    assert_eq!(session.shell(KEYS_DOWN).await.trim(), "none");
    of_admin.point((9, 8)).await;
    assert_eq!(pointer(&session).await, "X=9, Y=8");
    session.terminate().await;
}

#[tokio::test]
async fn the_agent_waits_for_the_hand_back_and_nothing_of_that_time_is_kept() {
    let server = serve(&[("work", WORK)]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/work").await;
    session.shell("true").await;
    share(&session, "bob", "drive").await;
    let bobs = bob.session(&session.id);
    let look = json!({"action": "screenshot"});
    session.act("computer", look.clone()).await;
    session.prompt("work").await;
    session.wait_for(0, is_output).await;
    assert_eq!(session.show().await["lease"], json!({"holder": "agent"}));

    bobs.take_control(300).await.good();
    let taken = session.wait_for(0, is_taken).await;
    // Both calls of the agent have their results: one was cut off, the other never begun.
    let cut_off = |body: &EventBody| matches!(body, EventBody::ToolResult(result) if result.text.contains("Cut off"));
    session.wait_for(taken.seq, cut_off).await;
    let n_before = n_pictures(&server);
    let seen = session.client.get(&session.path("/screenshot")).await;
    bobs.shell("echo secret of bob > ~/secret; echo bob >> ~/marks")
        .await;
    let at = json!({"action": "move", "at": {"x": 77, "y": 88}});
    bobs.act("computer", at).await;
    let typed = bobs
        .act("computer", json!({"action": "type", "text": "hunter2"}))
        .await;
    assert_eq!(typed["is_error"], false, "{typed}");
    let acted = bobs.act("computer", look).await;
    assert_eq!(
        (&acted["screenshot"], &acted["is_error"]),
        (&json!(null), &json!(false)),
        "{acted}"
    );
    // Only bob is shown the screen as it is; others the newest picture of the log.
    let again = session.client.get(&session.path("/screenshot")).await;
    assert_eq!((again.status, &again.body), (200, &seen.body));
    let own = bob.get(&session.path("/screenshot")).await;
    assert_eq!(own.status, 200);
    assert_ne!(own.body, seen.body);
    assert_eq!(n_pictures(&server), n_before);
    assert_eq!(session.show().await["state"], "running");

    bobs.hand_back().await.good();
    let end = session.turn_end(taken.seq).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(complete.outcome, Outcome::Done);
    assert_eq!(session.shell("cat ~/marks").await.trim(), "bob\nagent");
    let log = session.events(0).await;
    let text = json!(log).to_string();
    for secret in ["secret of bob", "hunter2"] {
        assert!(!text.contains(secret), "{text}");
    }
    let messages = session.messages().await;
    let answer = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(
        answer.starts_with("[bob had mouse and keyboard"),
        "{answer}"
    );
    // In between there was only what became of the calls that were cut short.
    let handed_back = session
        .wait_for(taken.seq, ended(LeaseEnd::HandedBack))
        .await;
    let between = log
        .iter()
        .filter(|event| {
            event["seq"].as_u64() > Some(taken.seq) && event["seq"].as_u64() < Some(handed_back.seq)
        })
        .map(|event| event["type"].as_str().unwrap())
        // The browser looks for its updates whenever it likes.
        .filter(|kind| *kind != "network");
    assert_eq!(between.collect::<Vec<_>>(), ["tool_result", "tool_result"]);
    let mut after = log[usize::try_from(handed_back.seq).unwrap()..].iter();
    let next = after.find(|event| event["type"] != "network").unwrap();
    assert_eq!(next["type"], "screenshot", "{next}");
    session.terminate().await;
}
