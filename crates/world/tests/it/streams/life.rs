//! The life of a stream: from the request to its end, one at a time or several, across restarts.

use std::time::Duration;

use deskhand_jamie::contract::StreamState;
use deskhand_testkit::sandboxes::FakePage;
use deskhand_world::Ending;
use serde_json::json;

use super::{StreamWorld, VIDEO, request, settings};

#[tokio::test]
async fn a_link_becomes_a_stream_that_ends_when_it_is_stopped() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    let view = world.until_streaming(&id).await;
    assert_eq!(view.url, VIDEO);
    assert_eq!(view.requester_id, Some(7));
    assert_eq!(view.status_message.unwrap().message_id, 2);
    assert!(view.watch_url.unwrap().contains("/watch/"));
    assert!(view.started_at.is_some());
    assert_eq!((view.agent_iterations, view.agent_cost_usd), (0, 0.0));
    assert_eq!(world.world.links().n_open(), 1);

    let listed = world.world.client().get("/jamie/sessions").await.good();
    assert_eq!(listed.as_array().unwrap().len(), 1);

    let stopped = world.stop(&id).await;
    assert_eq!((stopped.status, stopped.body.len()), (204, 0));
    let view = world.view(&id).await;
    assert_eq!(view.status, StreamState::Ended);
    assert_eq!(view.watch_url, None);
    assert_eq!(world.world.links().n_open(), 0);
    let listed = world.world.client().get("/jamie/sessions").await.good();
    assert_eq!(listed, json!([]));
    let ended = "/jamie/sessions/ended";
    let listed = world.world.client().get(ended).await.good();
    assert_eq!(listed[0]["session_id"], id.as_str());
    assert_eq!(listed[0]["status_message"]["message_id"], 2);
    assert_eq!(world.stop(&id).await.json()["error"], "ERR_NOT_FOUND");

    for event in [
        "session.created",
        "session.started",
        "session.streaming",
        "session.ended",
    ] {
        assert_eq!(world.n_logged(event), 1, "{event}");
    }
    assert!(world.n_logged("http.request") > 3);
}

#[tokio::test]
async fn the_computer_of_a_stream_ends_with_it() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let sessions = world.world.client().get("/api/sessions").await.good();
    let session = &sessions["sessions"][0];
    assert_eq!(session["title"], "Stream for Movie Night");
    assert_eq!(session["metadata"]["jamie"]["stream"], id.as_str());
    assert_eq!(session["network"]["block"], json!(["blocked.example"]));
    assert_eq!(session["budget"]["usd"]["limit"], 2.0);
    world.stop(&id).await;
    let path = format!("/api/sessions/{}", session["id"].as_str().unwrap());
    for _ in 0..100 {
        let session = world.world.client().get(&path).await.good();
        if session["state"] == "terminated" {
            return;
        }
        world.world.pass(Duration::from_millis(100)).await;
    }
    panic!("the session goes on");
}

#[tokio::test]
async fn a_second_stream_is_refused_while_one_is_there() {
    let world = StreamWorld::start().await;
    let first = request(VIDEO);
    world.post(first.clone()).await.good();
    let again = world.post(first.clone()).await.good();
    assert_eq!(again["status"], "in_progress");
    let second = world.post(request(VIDEO)).await;
    assert_eq!(
        (second.status, second.json()["error"].clone()),
        (409, json!("ERR_BUSY"))
    );
    let id = first["session_id"].as_str().unwrap();
    world.until_streaming(id).await;
    assert_eq!(world.post(request(VIDEO)).await.status, 409);
    world.stop(id).await;
    world.ask(VIDEO).await;
}

#[tokio::test]
async fn with_several_workers_further_streams_wait_for_their_turn() {
    let mut several = settings();
    several.at_once = 2;
    let world = StreamWorld::with(several, &[]).await;
    let mut ids = Vec::new();
    for n in 0..10 {
        let url = format!("https://videos.example/queue/{n}");
        world.pages.put(&url, FakePage::video());
        ids.push(world.ask(&url).await);
    }
    assert_eq!(world.post(request(VIDEO)).await.status, 409);
    world.until_streaming(&ids[0]).await;
    world.until_streaming(&ids[1]).await;
    assert_eq!(world.view(&ids[2]).await.status, StreamState::Pending);

    // One that waits is stopped without ever starting.
    world.stop(&ids[2]).await.good();
    let view = world.view(&ids[2]).await;
    assert_eq!((view.status, view.started_at), (StreamState::Ended, None));

    world.stop(&ids[0]).await.good();
    world.until_streaming(&ids[3]).await;
    assert_eq!(world.view(&ids[1]).await.status, StreamState::Streaming);
    assert_eq!(world.view(&ids[4]).await.status, StreamState::Pending);
}

#[tokio::test]
async fn a_paused_player_is_played_again_and_the_end_of_the_video_is_the_end() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.pages.change(VIDEO, |player| player.is_paused = true);
    world.world.pass(Duration::from_secs(6)).await;
    let mut was_paused = true;
    world
        .pages
        .change(VIDEO, |player| was_paused = player.is_paused);
    assert!(!was_paused, "it was told to play");
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);

    world.pages.change(VIDEO, |player| player.is_ended = true);
    let view = world.until_over(&id).await;
    assert_eq!((view.status, view.error_code), (StreamState::Ended, None));
    assert_eq!(world.world.links().n_open(), 0);
}

#[tokio::test]
async fn a_stream_ends_after_its_longest_time() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.world.pass(Duration::from_mins(61)).await;
    assert_eq!(world.until_over(&id).await.status, StreamState::Ended);
}

#[tokio::test]
async fn streams_survive_a_restart() {
    for ending in [Ending::InOrder, Ending::Crash] {
        let mut world = StreamWorld::start().await;
        let id = world.ask(VIDEO).await;
        let before = world.until_streaming(&id).await;
        world.world.end(ending).await;
        world.world.open().await;
        world.pages = world.world.sandboxes().pages();
        assert_eq!(world.view(&id).await.status, StreamState::Streaming);
        // It has a new link, because the token of the old one is not stored. People who have the old one keep it.
        let after = world
            .until(&id, |view| {
                view.watch_url.is_some() || view.status.is_final()
            })
            .await;
        assert_eq!(after.status, StreamState::Streaming, "{ending:?}");
        assert_ne!(after.watch_url, before.watch_url);
        assert_eq!(after.started_at, before.started_at);
        assert_eq!(world.world.links().n_open(), 2);
        world.stop(&id).await.good();
        assert_eq!(world.view(&id).await.status, StreamState::Ended);
        assert_eq!(world.world.links().n_open(), 0);
    }
}

#[tokio::test]
async fn a_stored_stream_that_cannot_be_read_fails_and_blocks_no_other() {
    let mut world = StreamWorld::start().await;
    let broken = world.ask(VIDEO).await;
    world.until_streaming(&broken).await;
    world.world.end(Ending::InOrder).await;
    let database = world.world.folder().join("deskhand.db");
    let database = rusqlite::Connection::open(database).unwrap();
    let unreadable = "UPDATE streams SET request = '{}'";
    assert_eq!(database.execute(unreadable, []).unwrap(), 1);
    drop(database);
    world.world.open().await;
    world.pages = world.world.sandboxes().pages();
    let mut answer = world.post(request(VIDEO)).await;
    for _ in 0..100 {
        if answer.status != 409 {
            break;
        }
        world.world.pass(Duration::from_millis(100)).await;
        answer = world.post(request(VIDEO)).await;
    }
    let id = answer.good()["session_id"].as_str().unwrap().to_owned();
    world.until_streaming(&id).await;
    let log = world.world.log();
    let n_tries = log.matches("a stored request is unreadable").count();
    assert_eq!(n_tries, 1, "it is given up at once");
    // The list has all others.
    let listed = world.world.client().get("/api/streams").await.good();
    assert_eq!(listed["streams"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_fails_with_a_code() {
    let mut world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.world.end(Ending::Crash).await;
    world.world.sandboxes().fail_starts(Some("no room"));
    world.world.open().await;
    let view = world.until_over(&id).await;
    assert_eq!(view.status, StreamState::Failed);
    assert_eq!(view.error_code.unwrap().name(), "ERR_SANDBOX_FAILED");
}
