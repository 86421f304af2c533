//! The error codes that the controller reaches by itself, with their statuses and tries.

use std::time::Duration;

use deskhand_core::id::RequestId;
use deskhand_jamie::contract::StreamState;
use deskhand_testkit::sandboxes::FakePage;
use deskhand_world::World;
use serde_json::json;

use super::{StreamWorld, VIDEO, request, settings};

#[tokio::test]
async fn links_that_must_not_be_streamed_are_refused() {
    let world = StreamWorld::start().await;
    for url in [
        "https://blocked.example/x",
        "http://127.0.0.1:9/",
        "http://10.0.0.1/",
        "http://localhost/",
        "ftp://videos.example/",
    ] {
        let answer = world.post(request(url)).await;
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, error),
            (400, json!("ERR_INVALID_URL")),
            "{url}"
        );
    }
    // The contract has no code for the other fields.
    let mut nameless = request(VIDEO);
    nameless["channel_name"] = json!("");
    let answer = world.post(nameless).await;
    assert_eq!(
        (answer.status, answer.code()),
        (400, "malformed".to_owned())
    );
}

#[tokio::test]
async fn only_administrators_with_a_token_run_streams() {
    let world = StreamWorld::start().await;
    let client = world.world.client();
    let other = client.new_user("berta").await;
    let answer = other.post("/jamie/stream", request(VIDEO)).await;
    assert_eq!(
        (answer.status, answer.code()),
        (403, "not_administrator".to_owned())
    );
    let answer = client.with_token("").get("/jamie/health").await;
    assert_eq!(answer.status, 401);
    assert_eq!(client.get("/jamie/nothing").await.status, 404);
    assert_eq!(client.get("/jamie/stream").await.status, 405);
    let unknown = format!("/jamie/session/{}", RequestId::new());
    let answer = client.get(&unknown).await;
    assert_eq!(
        (answer.status, answer.json()["error"].clone()),
        (404, json!("ERR_NOT_FOUND"))
    );
    let health = client.get("/jamie/health").await.good();
    assert_eq!(health["status"], "healthy");
    assert_eq!(health["sandbox_ready"], true);
}

#[tokio::test]
async fn a_server_that_runs_no_streams_says_so() {
    let world = World::start(&[]).await;
    let answer = world.client().post("/jamie/stream", request(VIDEO)).await;
    assert_eq!(
        (answer.status, answer.json()["error"].clone()),
        (503, json!("ERR_NO_BOT_TOKEN"))
    );
    let message = answer.json()["message"].to_string();
    assert!(message.contains("jamie.controller = true"), "{message}");
}

#[tokio::test]
async fn a_page_that_cannot_be_loaded_is_unreachable_at_once() {
    let world = StreamWorld::start().await;
    world
        .pages
        .put("https://videos.example/gone", FakePage::error(404));
    for url in ["https://videos.example/gone", "https://no-such.invalid/"] {
        let (code, took) = world.failure(url).await;
        assert_eq!(code, "ERR_URL_UNREACHABLE", "{url}");
        assert!(took < 5, "{took} s");
    }
    assert_eq!(world.n_logged("session.failed"), 2);
}

#[tokio::test]
async fn a_sandbox_that_does_not_start_is_tried_four_times() {
    let world = StreamWorld::start().await;
    world.world.sandboxes().fail_starts(Some("no room"));
    let (code, took) = world.failure(VIDEO).await;
    assert_eq!(code, "ERR_SANDBOX_FAILED");
    assert!((7..30).contains(&took), "1 s, 2 s and 4 s, not {took} s");
    // The next stream works.
    world.world.sandboxes().fail_starts(None);
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
}

#[tokio::test]
async fn a_frozen_stream_is_opened_again_and_fails_if_it_never_moves() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.pages.change(VIDEO, |player| player.is_frozen = true);
    // The page never moves again, so the next try cannot start it, and no model can be asked.
    let view = world.until_over(&id).await;
    assert_eq!(view.status, StreamState::Failed);
    assert_eq!(view.error_code.unwrap().name(), "ERR_NO_API_KEY");
}

#[tokio::test]
async fn a_lost_computer_is_replaced() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let session = world.session().await;
    let sandbox = world.world.sandboxes().running(session).unwrap();
    sandbox.die("the test");
    world.world.pass(Duration::from_secs(30)).await;
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);
    let next = world.world.sandboxes().running(session).unwrap();
    assert!(!next.carried_out().is_empty(), "another computer shows it");
}

#[tokio::test]
async fn a_stream_that_drops_again_and_again_fails() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let session = world.session().await;
    let mut n_drops = 0;
    while world.view(&id).await.status == StreamState::Streaming {
        if let Some(sandbox) = world.world.sandboxes().running(session) {
            sandbox.die("the test");
            n_drops += 1;
        }
        world.world.pass(Duration::from_secs(12)).await;
    }
    let view = world.view(&id).await;
    assert_eq!(view.error_code.unwrap().name(), "ERR_STREAM_DROPPED");
    assert!(n_drops >= 4, "the first one, and three tries");
}

#[tokio::test]
async fn a_computer_that_does_not_answer_is_given_up_for_a_new_one() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    let before = world.until_streaming(&id).await;
    let first = world.session().await;
    // Somebody keeps it busy, so it answers nobody else.
    let path = format!("/api/sessions/{first}/actions");
    let wait = json!({"tool": "computer", "input": {"action": "wait", "ms": 60_000}});
    let client = world.world.client();
    let (_, ()) = tokio::join!(
        client.post(&path, wait),
        world.world.pass(Duration::from_secs(50))
    );
    let after = world.view(&id).await;
    assert_eq!(after.status, StreamState::Streaming);
    assert_ne!(world.session().await, first, "it has another session");
    assert_ne!(after.watch_url, before.watch_url, "and another link");
    assert_eq!(world.world.links().n_open(), 1);
    assert!(world.world.log().contains("ERR_SANDBOX_TIMEOUT"));
}

#[tokio::test]
async fn a_stream_without_a_link_cannot_be_shared() {
    let world = StreamWorld::start().await;
    world.world.links().set_broken(true);
    let (code, took) = world.failure(VIDEO).await;
    assert_eq!(code, "ERR_SHARE_FAILED");
    assert!(took >= 7, "1 s, 2 s and 4 s, not {took} s");
}

#[tokio::test]
async fn a_start_that_takes_too_long_times_out() {
    let mut short = settings();
    short.start_timeout = Duration::from_secs(5);
    let world = StreamWorld::with(short, &[]).await;
    // A player is given ten seconds to move.
    world.pages.put(VIDEO, FakePage::stubborn());
    let (code, took) = world.failure(VIDEO).await;
    assert_eq!(code, "ERR_TIMEOUT");
    assert!((4..10).contains(&took), "{took} s");
    // The server has recovered.
    world.pages.put(VIDEO, FakePage::video());
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
}
