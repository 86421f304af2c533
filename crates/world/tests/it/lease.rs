//! Control of the computer: one has it, the others wait, and it ends.

use std::time::Duration;

use deskhand_core::{
    event::EventBody,
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
    session::SandboxState,
};
use deskhand_testkit::{Session, Watcher};
use deskhand_world::World;
use serde_json::json;

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

#[tokio::test]
async fn one_person_has_control_until_they_hand_it_back() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    share(&session, "bob", "drive").await;
    share(&session, "eve", "drive").await;
    let (bobs, eves) = (bob.session(&session.id), eve.session(&session.id));
    assert_eq!(session.show().await["lease"], json!({"holder": "nobody"}));
    for seconds in [0, 9, 3601] {
        let refused = bobs.take_control(seconds).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "bad_seconds")
        );
    }
    // Nothing to hand back is no mistake.
    bobs.hand_back().await.good();

    let taken = bobs.take_control(60).await.good();
    assert_eq!(
        (&taken["holder"], &taken["name"]),
        (&json!("person"), &json!("bob"))
    );
    assert_eq!(session.show().await["lease"], taken);
    let act = json!({"tool": "bash", "input": {"shell": "run", "command": "true"}});
    for refused in [
        eves.take_control(60).await,
        eves.hand_back().await,
        admin.put(&session.path("/lease"), json!({})).await,
        admin.post(&session.path("/actions"), act).await,
    ] {
        let error = &refused.json()["error"];
        assert_eq!(
            (refused.status, &error["code"]),
            (409, &json!("somebody_else_drives"))
        );
        let details = json!({"user": taken["user"], "name": "bob", "until": taken["until"]});
        assert_eq!(error["details"], details);
        assert!(error["message"].as_str().unwrap().contains("bob"));
    }
    let longer = bobs.take_control(600).await.good();
    assert!(longer["until"].as_str() > taken["until"].as_str());

    bobs.hand_back().await.good();
    session.terminate().await;
}

#[tokio::test]
async fn nobody_gets_control_while_programs_could_watch_them() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let sandbox = world.sandboxes().running(session.id.parse().unwrap());
    let sandbox = sandbox.unwrap();
    sandbox.set_spy(Some("some of them could not be stopped"));
    let refused = session.take_control(60).await;
    assert_eq!((refused.status, &*refused.code()), (409, "not_private"));
    session.wait_for(0, ended(LeaseEnd::NotPrivate)).await;
    assert_eq!(session.show().await["lease"], json!({"holder": "nobody"}));
    // The agent has its computer back.
    session.shell("true").await;
    sandbox.set_spy(None);
    session.take_control(60).await.good();
}

#[tokio::test]
async fn control_ends_on_a_computer_that_starts_and_cannot_be_made_private() {
    let world = World::start(&[]).await;
    let problem = "some of them could not be stopped";
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    session.take_control(60).await.good();
    // A person's action starts the next computer.
    let lost = |body: &EventBody| matches!(body, EventBody::Status(status) if status.sandbox == SandboxState::Lost);
    let sandbox = world.sandboxes().running(session.id.parse().unwrap());
    sandbox.unwrap().die("it was killed");
    session.wait_for(0, lost).await;
    world.sandboxes().spy_from_the_start(problem);
    session.shell("true").await;
    session.wait_for(0, ended(LeaseEnd::NotPrivate)).await;
    assert_eq!(session.show().await["lease"], json!({"holder": "nobody"}));
    let is_told = |body: &EventBody| {
        matches!(body, EventBody::Error(failure)
            if failure.code == "not_private" && failure.message.contains(problem))
    };
    session.wait_for(0, is_told).await;
}

#[tokio::test]
async fn actions_by_hand_are_refused_while_control_changes_hands() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let sandbox = world.sandboxes().running(session.id.parse().unwrap());
    let sandbox = sandbox.unwrap();
    let act = json!({"tool": "bash", "input": {"shell": "run", "command": "true"}});
    let refused = async || {
        sandbox.control_waits().await;
        let path = session.path("/actions");
        let refused = session.client.post(&path, act.clone()).await;
        sandbox.hold_control(false);
        (refused.status, refused.code())
    };
    let changes = (409, "control_changed".to_owned());
    sandbox.hold_control(true);
    let (taken, refusal) = tokio::join!(session.take_control(60), refused());
    taken.good();
    assert_eq!(refusal, changes);
    session.shell("true").await;
    sandbox.hold_control(true);
    let (handed_back, refusal) = tokio::join!(session.hand_back(), refused());
    handed_back.good();
    assert_eq!(refusal, changes);
    session.shell("true").await;
}

#[tokio::test]
async fn the_owner_may_take_control_from_somebody_and_nobody_else_may() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    share(&session, "bob", "drive").await;
    share(&session, "eve", "drive").await;
    let bobs = bob.session(&session.id);
    let taken = bobs.take_control(60).await.good();
    bobs.take_control(600).await.good();
    let force = json!({"force": true});
    let refused = eve.put(&session.path("/lease"), force.clone()).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "not_allowed")
    );
    admin.put(&session.path("/lease"), force).await.good();
    assert_eq!(bobs.take_control(60).await.status, 409);
    session.hand_back().await.good();
    assert_eq!(session.show().await["lease"], json!({"holder": "nobody"}));

    let events = session.events(0).await;
    assert_eq!(
        changes(&events),
        [
            ("bob", "taken"),
            ("bob", "extended"),
            ("admin", "taken"),
            ("admin", "ended")
        ]
    );
    let forced = events
        .iter()
        .rfind(|event| event["data"]["change"] == "taken");
    assert_eq!(forced.unwrap()["data"]["from"], taken["user"]);
}

/// Whose lease changed, and how.
fn changes(events: &[serde_json::Value]) -> Vec<(&str, &str)> {
    let changes = events.iter().filter(|event| event["type"] == "lease");
    changes
        .map(|event| {
            let data = &event["data"];
            (
                data["name"].as_str().unwrap(),
                data["change"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_lease_ends_with_its_session() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.take_control(60).await.good();
    session.terminate().await;
    let events = session.events(0).await;
    let ended = |event: &serde_json::Value| event["data"]["reason"] == "session_ended";
    assert!(events.iter().any(ended), "{events:?}");
    let refused = session.take_control(60).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (409, "session_ended")
    );
}

#[tokio::test]
async fn control_ends_with_its_time() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    session.take_control(10).await.good();
    let taken = session.wait_for(0, is_taken).await;
    world.pass(Duration::from_secs(8)).await;
    assert_eq!(session.show().await["lease"]["name"], "admin");
    world.pass(Duration::from_secs(2)).await;
    let over = session.wait_for(taken.seq, ended(LeaseEnd::Expired)).await;
    let held_ms = over.at.as_millisecond() - taken.at.as_millisecond();
    assert!((9_900..12_000).contains(&held_ms), "{held_ms} ms");
    assert_eq!(session.show().await["lease"], json!({"holder": "nobody"}));
    session.terminate().await;
}

#[tokio::test]
async fn control_ends_when_its_holder_is_away_for_long() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    share(&session, "bob", "drive").await;
    let bobs = bob.session(&session.id);
    bobs.take_control(600).await.good();
    let (stream, screen) = (bobs.follow(0).await, Watcher::open(&bobs).await);
    drop(stream);
    drop(screen);
    // A page that is loaded again is back in time.
    let stream = bobs.follow(0).await;
    world.pass(Duration::from_secs(60)).await;
    assert_eq!(session.show().await["lease"]["name"], "bob");
    drop(stream);
    world.pass(Duration::from_secs(10)).await;
    let show = session.show().await;
    assert_eq!(show["lease"]["name"], "bob", "not away for long yet");
    let newest = show["last_seq"].as_u64().unwrap();
    // The server may have noticed only now that he is gone.
    world.pass(Duration::from_secs(15)).await;
    session
        .wait_for(newest, ended(LeaseEnd::Disconnected))
        .await;
    session.terminate().await;
}

#[tokio::test]
async fn a_restart_gives_the_agent_no_hands_while_somebody_has_control() {
    let work = WORK.replace("Cut off", "not known whether");
    let mut world = World::start(&[("work", &work)]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/work").await;
    share(&session, "bob", "drive").await;
    session.prompt("work").await;
    session.wait_for(0, is_output).await;
    let lease = bob.session(&session.id).take_control(600).await.good();
    let newest = session.show().await["last_seq"].as_u64().unwrap();
    world.crash().await;

    let bobs = bob.session(&session.id);
    assert_eq!(session.show().await["lease"], lease);
    // The desktop comes back for bob, and obeys only him.
    bobs.shell("echo bob >> ~/marks").await;
    let act = json!({"tool": "bash", "input": {"shell": "run", "command": "true"}});
    let refused = world.client().post(&session.path("/actions"), act).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (409, "somebody_else_drives")
    );
    let log = session.events(newest).await;
    assert!(
        log.iter().all(|event| event["type"] != "tool_use"),
        "{log:?}"
    );
    bobs.hand_back().await.good();
    let end = session.turn_end(newest).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    assert_eq!(session.shell("cat ~/marks").await.trim(), "bob\nagent");
    session.terminate().await;
}
