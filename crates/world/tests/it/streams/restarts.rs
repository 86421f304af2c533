//! Streams whose server begins again with other settings, and whose database does not always answer.

use std::time::Duration;

use deskhand_jamie::contract::StreamState;
use deskhand_testkit::sandboxes::FakePage;
use deskhand_world::{Ending, WorldOptions};
use serde_json::json;

use super::{StreamWorld, VIDEO, request, settings};

#[tokio::test]
async fn the_longest_time_of_a_stream_goes_on_over_a_restart() {
    let mut world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.world.pass(Duration::from_mins(50)).await;
    world.restart(|_| {}).await;
    world
        .until(&id, |view| {
            view.watch_url.is_some() || view.status.is_final()
        })
        .await;
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);
    world.world.pass(Duration::from_mins(11)).await;
    assert_eq!(world.until_over(&id).await.status, StreamState::Ended);

    // One whose time is over by then is not even opened.
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.world.end(Ending::Crash).await;
    world.world.pass(Duration::from_mins(61)).await;
    world.world.sandboxes().fail_starts(Some("no room"));
    world.world.open().await;
    let view = world.until_over(&id).await;
    assert_eq!((view.status, view.error_code), (StreamState::Ended, None));
}

#[tokio::test]
async fn a_live_stream_that_has_no_worker_can_be_stopped() {
    let mut several = settings();
    several.at_once = 2;
    let mut world = StreamWorld::with(several, &[]).await;
    let mut ids = Vec::new();
    for n in 0..2 {
        let url = format!("https://videos.example/live/{n}");
        world.pages.put(&url, FakePage::video());
        let id = world.ask(&url).await;
        world.until_streaming(&id).await;
        ids.push(id);
    }
    let second = world.session().await;
    world.restart(|streams| streams.at_once = 1).await;
    world.until(&ids[0], |view| view.watch_url.is_some()).await;
    let n_open = world.world.links().n_open();
    let stopped = world.stop(&ids[1]).await;
    assert_eq!((stopped.status, stopped.body.len()), (204, 0));
    assert_eq!(world.view(&ids[1]).await.status, StreamState::Ended);
    assert_eq!(world.world.links().n_open(), n_open - 1);
    assert_eq!(world.view(&ids[0]).await.status, StreamState::Streaming);
    let path = format!("/api/sessions/{second}");
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
async fn a_stop_that_was_not_stored_is_no_success_and_is_stored_later() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let database = world.database();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON streams WHEN NEW.state = 'stopping' \
                  BEGIN SELECT RAISE(ABORT, 'the test'); END";
    database.execute_batch(refuse).unwrap();
    let refused = world.stop(&id).await;
    assert_eq!(
        (refused.status, refused.json()["error"].clone()),
        (500, json!("ERR_UNKNOWN"))
    );
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);
    // It does not begin again: people could watch what somebody has stopped.
    world.world.pass(Duration::from_mins(1)).await;
    assert_eq!(world.world.links().n_open(), 0);
    assert_eq!(world.post(request(VIDEO)).await.status, 409);

    database.execute_batch("DROP TRIGGER refuse").unwrap();
    let view = world.until_over(&id).await;
    assert_eq!((view.status, view.error_code), (StreamState::Ended, None));
    assert_eq!(world.n_logged("session.started"), 1);
}

#[tokio::test]
async fn a_database_that_does_not_answer_costs_no_computer() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    let before = world.until_streaming(&id).await;
    let session = world.session().await;
    let database = world.database();
    let hide = "ALTER TABLE sessions RENAME TO hidden";
    database.execute_batch(hide).unwrap();
    world.world.pass(Duration::from_secs(9)).await;
    let show = "ALTER TABLE hidden RENAME TO sessions";
    database.execute_batch(show).unwrap();
    assert!(world.was_tried_again());
    world.world.pass(Duration::from_secs(30)).await;
    let after = world.view(&id).await;
    assert_eq!(after.status, StreamState::Streaming, "{after:?}");
    assert_eq!(after.watch_url, before.watch_url);
    assert_eq!(world.session().await, session);
    let sessions = world.world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn streams_that_ended_long_ago_are_forgotten_with_their_sessions() {
    const DAY: Duration = Duration::from_hours(24);
    let mut options = WorldOptions::default();
    options.settings.keep_ended = Some(2 * DAY);
    let world = StreamWorld::on(settings(), options).await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.stop(&id).await.good();
    let n_streams = async || {
        let listed = world.world.client().get("/api/streams").await.good();
        listed["streams"].as_array().unwrap().len()
    };
    world.world.pass(DAY).await;
    assert_eq!(n_streams().await, 1);
    world.world.pass(2 * DAY).await;
    assert_eq!(n_streams().await, 0);
}
