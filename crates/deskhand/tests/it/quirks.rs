//! Scenarios that play the part of vendors, with their eyes and their bad days, on a real desktop.

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::{Session, Watcher};
use serde_json::{Value, json};

use crate::world::{serve, serve_set};

/// A page with a small target. A hit turns it yellow, and anything else pink. The next click turns it into a
/// colour that says where on the screen that was.
const PAGE: &str = "<!doctype html><body style='margin:0;height:100vh;background:#e3f6e8'>
<div style='position:fixed;left:61%;top:37%;width:9px;height:9px;background:#c8744a'></div>
<script>
const target = document.querySelector('div');
addEventListener('click', e => {
    const {screenX: x, screenY: y} = e;
    const where = `rgb(${(x & 15) * 16 + (y & 15)}, ${x >> 4}, ${y >> 4})`;
    const hit = e.target === target ? '#ffdd00' : '#ff0077';
    document.body.style.background = target.isConnected ? hit : where;
    target.remove();
});
</script>";

/// The colour for (960, 540).
const MIDDLE: [u8; 3] = [0x0c, 0x3c, 0x21];

/// The middle of the screen is (960, 540) to the page, and (500, 500) to the model.
const CLICKS: &str = r##"
plays: gemini/gemini-3.5-flash
steps:
  - calls: [{computer: {action: screenshot}}]
  - expect: {colour: "#f7f4ee", min_pixels: 3000}
    retry: {times: 60, wait_ms: 250}
    calls:
      # The address bar, which is at (400, 63).
      - computer: {action: click, at: {x: 208, y: 58}}
      - computer: {action: key, keys: ctrl+a}
      - computer: {action: type, text: "file:///home/agent/page.html"}
      - computer: {action: key, keys: Delete}
      - computer: {action: key, keys: Return}
      - computer: {action: screenshot}
  - expect: {no_errors: true, colour: ["#e3f6e8", "#c8744a"]}
    retry: {times: 40, wait_ms: 250}
    calls: [{computer: {action: click, at: {find: "#c8744a"}}}]
  - expect: {colour: "#ffdd00", min_pixels: 100000}
    retry: {times: 40, wait_ms: 250}
    calls:
      - computer: {action: click, at: {x: 500, y: 500}}
      - computer: {action: cursor_position}
  - expect: {text_contains: ["Clicked at (500, 500)", "X=500, Y=500"]}
    calls: [{computer: {action: click, at: {x: 500, y: 1200}}}]
  - expect: {text_contains: "(500, 1200) is outside the 1000×1000 picture"}
    usage: {input: 1000000}
    text: I clicked.
"##;

/// Everything that goes wrong with vendors and still lets a turn end well.
const BAD_DAY: &str = r#"
steps:
  - error: {kind: overloaded, times: 2, after_ms: 50}
    text: I look.
    calls: [{computer: {action: screenshot}}]
  - expect: {picture: true}
    error: {kind: unavailable, message: the stream was cut, after_chars: 14, times: 1, after_ms: 20}
    text: I note that it is a desktop.
    calls: [{bash: {command: "echo noted >> notes"}}]
  - error: {kind: cut_off, times: 1}
    thinking: A long thought.
    text: "What I noted is"
    unfinished: true
  - error: {kind: empty, times: 1}
    text: " a single line."
"#;

/// Two calls at once, of which one needs a yes.
const CHECKED: &str = r#"
steps:
  - calls:
      - bash: {command: "echo one >> done"}
      - {bash: {command: "echo two >> done"}, safety_check: "Write two?"}
  - expect: {no_errors: true}
    text: Both.
"#;

const REFUSES: &str = "steps: [{text: I can help with that., error: {kind: refused, message: the model refused to go on, after_chars: 11}}]";
const REJECTS: &str = "steps: [{error: {kind: rejected, message: roles must alternate}}]";
const SILENT: &str = "steps: [{error: {kind: empty}}]";
/// Away for a while, once.
const AWAY: &str =
    "steps: [{text: There I am., error: {kind: rate_limited, times: 1, after_ms: 3000}}]";

/// What events of a type say, in order.
async fn told(session: &Session, kind: &str) -> Vec<Value> {
    let events = session.events(0).await;
    let of_kind = events.into_iter().filter(|event| event["type"] == kind);
    of_kind.map(|event| event["data"].clone()).collect()
}

fn field(data: &[Value], name: &str) -> Vec<Value> {
    data.iter().map(|data| data[name].clone()).collect()
}

async fn ends_well(session: &Session) {
    let end = session.turn_end(0).await;
    let EventBody::Complete(complete) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(complete.outcome, Outcome::Done);
}

#[tokio::test]
async fn a_scenario_that_plays_gemini_clicks_where_it_points() {
    let screen = [
        ("DESKHAND_SCREEN_WIDTH", "1920"),
        ("DESKHAND_SCREEN_HEIGHT", "1080"),
    ];
    let server = serve_set(&[("gemini", CLICKS)], &screen);
    let session = server.client().new_session("scripted/gemini").await;
    let page = json!({"command": "create", "path": "/home/agent/page.html", "file_text": PAGE});
    session.act("editor", page).await;
    let mut watcher = Watcher::open(&session).await;
    session.prompt("Click.").await;
    ends_well(&session).await;
    watcher.until((300, 800), MIDDLE).await;

    // The log has the screen's own places, and pictures as Gemini is shown them.
    let uses = told(&session, "tool_use").await;
    let at = uses.iter().map(|data| &data["input"]["at"]);
    assert!(at.clone().any(|at| *at == json!({"x": 960, "y": 540})));
    let pictures = told(&session, "screenshot").await;
    assert!(pictures.iter().all(|data| data["width"] == 1440));
    assert!(pictures.iter().all(|data| data["height"] == 810));
    // A million tokens at Gemini's price.
    assert_eq!(session.show().await["cost_usd"], 1.5);
}

#[tokio::test]
async fn a_bad_day_at_the_vendor_ends_well_and_every_wait_is_in_the_log() {
    let server = serve(&[("bad-day", BAD_DAY)]);
    let session = server.client().new_session("scripted/bad-day").await;
    session.prompt("Note what you see.").await;
    ends_well(&session).await;

    let retries = told(&session, "retry").await;
    assert_eq!(field(&retries, "attempt"), [1, 2, 1]);
    assert_eq!(
        field(&retries, "message"),
        ["it is overloaded", "it is overloaded", "the stream was cut"]
    );
    // Nothing is said or done twice.
    let said = field(&told(&session, "text").await, "text");
    let said: String = said.iter().filter_map(Value::as_str).collect();
    assert_eq!(
        said,
        "I look.I note that it is a desktop.What I noted is a single line."
    );
    let notes = std::fs::read_to_string(server.home_of(&session).join("notes"));
    assert_eq!(notes.unwrap(), "noted\n");
    // Each whole answer is counted: two with calls, two that were too long, an empty one and the last.
    let costs = told(&session, "cost").await;
    let unfinished = costs.iter().map(|data| data["unfinished"] == true);
    assert_eq!(
        unfinished.collect::<Vec<_>>(),
        [false, false, true, true, false, false]
    );
    let answer = &session.messages().await[1]["content"];
    assert_eq!(answer, "What I noted is a single line.");
}

#[tokio::test]
async fn a_call_may_need_a_yes_that_the_one_before_does_not() {
    let server = serve(&[("checked", CHECKED)]);
    let session = server.client().new_session("scripted/checked").await;
    session.prompt("Write.").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::Decision(_)))
        .await;
    let done = server.home_of(&session).join("done");
    assert_eq!(std::fs::read_to_string(&done).unwrap(), "one\n");
    let open = session.client.get(&session.path("/decisions")).await.good();
    let decision = &open["decisions"][0];
    assert_eq!(decision["kind"], "safety_check");
    assert_eq!(decision["prompt"], "Write two?");
    let id = decision["id"].as_str().unwrap();
    let path = session.path(&format!("/decisions/{id}/answer"));
    let yes = json!({"yes": true});
    session.client.post(&path, yes).await.good();
    ends_well(&session).await;
    assert_eq!(std::fs::read_to_string(&done).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn what_cannot_be_mended_ends_the_turn_with_its_reason() {
    let server = serve(&[
        ("refuses", REFUSES),
        ("rejects", REJECTS),
        ("silent", SILENT),
    ]);
    for (model, code, words) in [
        ("scripted/refuses", "model_refused", "refused to go on"),
        ("scripted/rejects", "model_failed", "roles must alternate"),
        (
            "scripted/silent",
            "model_silent",
            "neither acted nor answered",
        ),
    ] {
        let session = server.client().new_session(model).await;
        session.prompt("Go.").await;
        let end = session.turn_end(0).await;
        let EventBody::Error(failure) = &end.body else {
            panic!("{model}: {end:?}")
        };
        assert_eq!(failure.code, code);
        assert!(failure.message.contains(words), "{}", failure.message);
        assert_eq!(told(&session, "retry").await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_turn_that_waits_for_a_vendor_goes_on_after_kill_9() {
    let mut server = serve(&[("away", AWAY)]);
    let session = server.client().new_session("scripted/away").await;
    session.prompt("Hello?").await;
    session
        .wait_for(0, |body| matches!(body, EventBody::Retry(_)))
        .await;
    server.kill();
    server.start_again();
    let session = server.client().session(&session.id);
    ends_well(&session).await;
    // It is away once more, since nobody remembers that it was.
    assert_eq!(told(&session, "retry").await.len(), 2);
    assert_eq!(session.messages().await[1]["content"], "There I am.");
}
