//! Places of streams among the sessions of their owner: awake, and per day.

use std::time::Duration;

use deskhand_api::streams::{StreamCheckState, StreamSetupView};
use deskhand_jamie::contract::StreamState;
use deskhand_world::WorldOptions;
use serde_json::json;

use super::{StreamWorld, VIDEO, settings};

#[tokio::test]
async fn a_live_stream_is_not_put_to_sleep_for_another_session() {
    let options = WorldOptions::default().limited(|limits| limits.awake_sessions = 1);
    let world = StreamWorld::on(settings(), options).await;
    let id = world.ask(VIDEO).await;
    let before = world.until_streaming(&id).await;
    let shown = world.session().await;
    // Longer than a session stays awake without need.
    world.world.pass(Duration::from_mins(20)).await;
    let client = world.world.client();
    let refused = client.post("/api/sessions", json!({})).await;
    assert_eq!(refused.code(), "too_many_awake");
    world.world.pass(Duration::from_secs(30)).await;
    let after = world.view(&id).await;
    assert_eq!(after.status, StreamState::Streaming);
    assert_eq!(after.watch_url, before.watch_url);
    assert_eq!(world.session().await, shown);
    assert!(!world.was_tried_again());

    world.stop(&id).await.good();
    let mut made = client.post("/api/sessions", json!({})).await;
    for _ in 0..100 {
        if made.status == 201 {
            return;
        }
        world.world.pass(Duration::from_millis(100)).await;
        made = client.post("/api/sessions", json!({})).await;
    }
    panic!("the stream keeps its place: {made:?}");
}

#[tokio::test]
async fn more_streams_than_awake_sessions_are_named_in_the_settings_check() {
    for (at_once, expected) in [(2, StreamCheckState::Ok), (3, StreamCheckState::Warning)] {
        let mut several = settings();
        several.at_once = at_once;
        let options = WorldOptions::default().limited(|limits| limits.awake_sessions = 2);
        let world = StreamWorld::on(several, options).await;
        let client = world.world.client();
        let setup: StreamSetupView = client.get("/api/streams/setup").await.view();
        let check = &setup.checks[0];
        assert_eq!((&*check.name, check.state), ("streams", expected));
    }
}

#[tokio::test]
async fn streams_do_not_count_for_the_daily_limit_of_their_owner() {
    let options = WorldOptions::default().limited(|limits| limits.sessions_per_day = 1);
    let world = StreamWorld::on(settings(), options).await;
    let client = world.world.client();
    for is_deleted in [false, true] {
        let id = world.ask(VIDEO).await;
        world.until_streaming(&id).await;
        world.stop(&id).await.good();
        if is_deleted {
            let path = format!("/api/sessions/{}?forever=true", world.session().await);
            assert_eq!(client.delete(&path).await.status, 204);
        }
        let used = client.get("/api/me/limits").await.good();
        assert_eq!(used["sessions_per_day"]["used"], 0);
    }
    // No request makes a session that does not count.
    let own = json!({"is_uncounted": true});
    client.post("/api/sessions", own).await;
    client.post("/api/sessions", json!({})).await;
    let refused = client.post("/api/sessions", json!({})).await;
    assert_eq!(refused.code(), "too_many_today");
    // The streams go on.
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
}
