//! How much one person may use: sessions that are awake, sessions a day, requests a second.

use std::time::Duration;

use deskhand_core::event::EventBody;
use deskhand_world::{World, WorldOptions};
use serde_json::json;

const SLOW: &str = r#"
steps:
  - text: "I work."
    calls:
      - bash: {command: "echo started; sleep 300"}
  - text: "Done."
"#;

/// A session in which the agent works until it is stopped.
async fn working(client: &deskhand_testkit::Client) -> deskhand_testkit::Session {
    let session = client.new_session("scripted/slow").await;
    session.prompt("work").await;
    let works = |body: &EventBody| matches!(body, EventBody::ToolResult(result) if result.partial);
    session.wait_for(0, works).await;
    session
}

#[tokio::test]
async fn the_longest_idle_session_makes_room_and_without_one_nothing_is_taken() {
    let options = WorldOptions::default().knowing(&[("slow", SLOW)]);
    let options = options.limited(|limits| {
        limits.awake_sessions = 2;
        limits.sessions_per_day = 50;
    });
    let world = World::with(options).await;
    let client = world.client();
    let first = client.new_session("scripted/slow").await;
    first.shell("true").await;
    let second = working(&client).await;
    let third = working(&client).await;
    let slept = first
        .wait_for(
            0,
            |body| matches!(body, EventBody::Status(status) if status.sandbox.name() == "stopped"),
        )
        .await;
    let EventBody::Status(status) = slept.body else {
        unreachable!()
    };
    assert!(
        status
            .reason
            .unwrap()
            .contains("to make room for another session")
    );

    let used = client.get("/api/me/limits").await.good();
    assert_eq!(used["awake_sessions"], json!({"used": 2, "limit": 2}));
    assert_eq!(used["sessions_per_day"], json!({"used": 3, "limit": 50}));

    for refused in [
        first.send("wake up", "queue").await,
        client
            .post("/api/sessions", json!({"model": "scripted/slow"}))
            .await,
        first
            .client
            .post(
                &first.path("/actions"),
                json!({"tool": "bash", "input": {"shell": "run", "command": "true"}}),
            )
            .await,
    ] {
        assert_eq!((refused.status, &*refused.code()), (429, "too_many_awake"));
        let details = &refused.json()["error"]["details"];
        assert_eq!(
            (&details["used"], &details["limit"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(details["frees_at"], json!(null), "the agent works in both");
    }
    assert_eq!(
        first.messages().await,
        Vec::<serde_json::Value>::new(),
        "it was not taken"
    );
    let sessions = client.get("/api/sessions").await.good();
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        3,
        "none was made"
    );

    second
        .client
        .post(&second.path("/stop"), json!({}))
        .await
        .good();
    second.turn_end(0).await;
    let sent = first.send("wake up", "queue").await;
    assert_eq!(sent.status, 202, "{}", sent.json());
    assert_eq!(third.show().await["state"], "running");
}

#[tokio::test]
async fn sessions_per_day_are_counted_and_an_administrator_decides_for_others() {
    let options = WorldOptions::default().limited(|limits| limits.sessions_per_day = 2);
    let world = World::with(options).await;
    let admin = world.client();
    let ada = admin.new_user("ada").await;
    for _ in 0..2 {
        ada.new_session("scripted/demo").await.terminate().await;
    }
    let refused = ada.post("/api/sessions", json!({})).await;
    assert_eq!((refused.status, &*refused.code()), (429, "too_many_today"));
    let details = &refused.json()["error"]["details"];
    assert_eq!(
        (&details["used"], &details["limit"]),
        (&json!(2), &json!(2))
    );
    let frees_at = details["frees_at"].as_str().unwrap();
    let used = ada.get("/api/me/limits").await.good();
    assert_eq!(used["frees_at"].as_str().unwrap(), frees_at);
    let wait = refused.retry_after.unwrap();
    assert!((86_300..=86_400).contains(&wait), "{wait}");
    admin.new_session("scripted/demo").await;

    let me = ada.get("/api/me").await.good();
    let path = format!("/api/users/{}/limits", me["id"].as_str().unwrap());
    assert_eq!(ada.get(&path).await.status, 403);
    assert_eq!(
        ada.put(&path, json!({"sessions_per_day": 9})).await.status,
        403
    );
    let refused = admin.put(&path, json!({"idle_seconds": 0})).await;
    assert_eq!((refused.status, &*refused.code()), (400, "malformed"));
    admin
        .put(&path, json!({"sessions_per_day": 3}))
        .await
        .good();
    assert_eq!(admin.get(&path).await.good()["sessions_per_day"], 3);
    ada.new_session("scripted/demo").await;
    assert_eq!(
        ada.post("/api/sessions", json!({})).await.code(),
        "too_many_today"
    );
    admin.put(&path, json!({})).await.good();
    assert_eq!(
        ada.get("/api/me/limits").await.good()["sessions_per_day"]["limit"],
        2
    );
    world.pass(Duration::from_hours(24)).await;
    ada.new_session("scripted/demo").await;
}

#[tokio::test]
async fn who_asks_too_fast_is_told_when_to_come_back() {
    let world = World::with(WorldOptions {
        requests_per_second: 5,
        sign_ins_per_minute: 3,
        ..WorldOptions::default()
    })
    .await;
    let client = world.client();
    let mut n_answered = 0;
    let refused = loop {
        let answer = client.get("/api/me").await;
        if answer.status != 200 {
            break answer;
        }
        n_answered += 1;
        assert!(n_answered < 1_000, "nobody is ever refused");
    };
    assert!(n_answered >= 10, "twice as many at once are let through");
    assert_eq!((refused.status, &*refused.code()), (429, "too_fast"));
    assert_eq!(refused.retry_after, Some(1));
    assert_eq!(
        client
            .upgrade("/api/sessions/0190163d-8694-739b-aea5-966c26f8ad91/stream")
            .await
            .status,
        429
    );
    assert_eq!(
        client.with_token("dh_nobody").get("/api/me").await.status,
        401,
        "others are not concerned"
    );
    assert_eq!(client.get("/health").await.status, 200);

    let stranger = client.with_token("");
    for _ in 0..3 {
        let tried = stranger.try_sign_in(json!({"code": "guess"}), &[]).await;
        assert_eq!(tried.status, 401);
    }
    let tried = stranger.try_sign_in(json!({"code": "guess"}), &[]).await;
    assert_eq!((tried.status, &*tried.code()), (429, "too_fast"));
    assert!(
        tried
            .retry_after
            .is_some_and(|wait| (1..=20).contains(&wait))
    );
}

#[tokio::test]
async fn a_second_user_means_that_sandboxes_must_have_limits() {
    let world = World::start(&[]).await;
    world.sandboxes().lose_limits();
    let admin = world.client();
    let alone = admin.new_session("scripted/demo").await;
    alone.shell("true").await;

    admin.new_user("ada").await;

    let together = admin.new_session("scripted/demo").await;
    together.prompt("show me").await;
    let failed = together
        .wait_for(
            0,
            |body| matches!(body, EventBody::Error(failure) if failure.code == "sandbox_failed"),
        )
        .await;
    let EventBody::Error(failure) = failed.body else {
        unreachable!()
    };
    assert!(
        failure.message.contains("cannot limit a sandbox"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn limits_are_not_required_where_the_operator_says_so() {
    let mut options = WorldOptions::default();
    options.settings.require_limits = deskhand_app::RequireLimits::Never;
    let world = World::with(options).await;
    world.sandboxes().lose_limits();
    let ada = world.client().new_user("ada").await;
    let session = ada.new_session("scripted/demo").await;
    session.shell("true").await;
}
