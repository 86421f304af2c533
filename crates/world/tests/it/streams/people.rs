//! People who use the session of a stream: they take control, end it, or get it from somebody else.

use std::time::Duration;

use deskhand_jamie::contract::StreamState;
use deskhand_testkit::Session;

use super::{StreamWorld, VIDEO};

impl StreamWorld {
    /// Returns the stream's session as its owner uses it.
    async fn owners_session(&self) -> Session {
        let id = self.session().await.to_string();
        self.world.client().session(&id)
    }
}

#[tokio::test]
async fn control_suspends_the_looks_of_the_owner_of_streams_too() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let session = world.owners_session().await;
    session.take_control(600).await.good();
    world.pages.change(VIDEO, |player| {
        (player.is_paused, player.is_frozen) = (true, true);
    });
    world.world.pass(Duration::from_mins(5)).await;
    let is_paused = |world: &StreamWorld| {
        let mut is_paused = false;
        world
            .pages
            .change(VIDEO, |player| is_paused = player.is_paused);
        is_paused
    };
    assert!(is_paused(&world), "nobody else plays it");
    world.pages.change(VIDEO, |player| player.is_frozen = false);

    session.hand_back().await.good();
    world.world.pass(Duration::from_secs(6)).await;
    assert!(!is_paused(&world), "it plays again");
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);
    assert!(!world.was_tried_again());
}

#[tokio::test]
async fn a_stream_that_begins_again_waits_for_the_person_who_has_control() {
    let mut world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    world.owners_session().await.take_control(3600).await.good();
    world.restart(|_| {}).await;
    world.world.pass(Duration::from_mins(10)).await;
    let view = world.view(&id).await;
    assert_eq!(
        (view.status, view.watch_url),
        (StreamState::Streaming, None)
    );
    world.owners_session().await.hand_back().await.good();
    let view = world
        .until(&id, |view| {
            view.watch_url.is_some() || view.status.is_final()
        })
        .await;
    assert_eq!(view.status, StreamState::Streaming);
}

#[tokio::test]
async fn the_end_of_its_session_is_the_end_of_a_stream() {
    let world = StreamWorld::start().await;
    for query in ["", "?forever=true"] {
        let id = world.ask(VIDEO).await;
        world.until_streaming(&id).await;
        let path = format!("/api/sessions/{}{query}", world.session().await);
        let ended = world.world.client().delete(&path).await;
        assert_eq!(ended.status, 204);
        let view = world.until_over(&id).await;
        assert_eq!((view.status, view.error_code), (StreamState::Ended, None));
        assert_eq!(world.world.links().n_open(), 0);
    }
}

#[tokio::test]
async fn a_computer_that_somebody_else_started_is_not_taken_for_the_streams_own() {
    let world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let session = world.owners_session().await;
    let sandbox = world.world.sandboxes();
    let first = sandbox.running(world.session().await).unwrap();
    first.die("the test");
    session.shell("true").await;
    // A player that leaves its page has more time than this.
    world.world.pass(Duration::from_secs(6)).await;
    assert!(world.was_tried_again());
    world.world.pass(Duration::from_secs(20)).await;
    assert_eq!(world.view(&id).await.status, StreamState::Streaming);
}

#[tokio::test]
async fn a_session_that_is_given_away_is_replaced_with_its_link() {
    let mut world = StreamWorld::start().await;
    let id = world.ask(VIDEO).await;
    let before = world.until_streaming(&id).await;
    let first = world.session().await;
    world.world.client().new_user("berta").await;
    world
        .restart(|streams| streams.owner = Some("berta".to_owned()))
        .await;
    let after = world
        .until(&id, |view| {
            view.watch_url.is_some() || view.status.is_final()
        })
        .await;
    assert_eq!(after.status, StreamState::Streaming);
    assert_ne!(after.watch_url, before.watch_url);
    assert_eq!(world.world.links().n_open(), 1, "the old one is revoked");
    let path = format!("/api/sessions/{first}");
    let kept = world.world.client().get(&path).await.good();
    assert_ne!(kept["state"], "terminated", "it belongs to somebody else");
}
