//! The screens of computers as video: who sees it, and when it is filmed.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{action::ScreenSize, id::SessionId, video::VideoFrame};
use deskhand_testkit::{Answer, Client, Session, VideoClient, sandboxes::FakeSandbox};
use deskhand_world::World;
use futures::FutureExt;
use serde_json::json;

/// Returns a frame. The first one is a key frame.
pub(crate) fn frame(number: u32) -> VideoFrame {
    VideoFrame {
        number,
        captured_at_us: 1_790_000_000_000_000 + u64::from(number) * 33_333,
        is_key: number == 0,
        layer: [0, 2, 1, 2][number as usize % 4],
        size: ScreenSize::default(),
        picture: Bytes::from_static(b"\0\0\0\x01picture"),
    }
}

/// Returns a key frame.
pub(crate) fn key(number: u32) -> VideoFrame {
    VideoFrame {
        is_key: true,
        layer: 0,
        ..frame(number)
    }
}

/// Starts a session, and returns it with its computer.
pub(crate) async fn started(world: &World) -> (Session, Arc<FakeSandbox>) {
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let computer = computer(world, &session);
    (session, computer)
}

pub(crate) fn computer(world: &World, session: &Session) -> Arc<FakeSandbox> {
    let id: SessionId = session.id.parse().unwrap();
    world.sandboxes().running(id).unwrap()
}

/// Shares a session with a new user.
pub(crate) async fn guest(session: &Session, name: &str) -> (Client, Session) {
    let client = session.client.new_user(name).await;
    let path = session.path(&format!("/people/{name}"));
    let shared = session.client.put(&path, json!({"right": "view"})).await;
    shared.good();
    let theirs = client.session(&session.id);
    (client, theirs)
}

pub(crate) fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

#[tokio::test]
async fn everybody_sees_the_same_and_it_is_filmed_once() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (_, bobs) = guest(&session, "bob").await;
    computer.films(0).await;

    let mut own = VideoClient::open(&session).await;
    computer.films(1).await;
    computer.film(&frame(0));
    assert_eq!(own.next().await, frame(0));

    let mut others = VideoClient::open(&bobs).await;
    computer.key_wishes(1).await;
    computer.films(1).await;
    computer.film(&frame(1));
    computer.film(&key(2));
    computer.film(&frame(3));
    assert_eq!(others.next().await, key(2), "it begins with a key frame");
    assert_eq!(others.next().await, frame(3));
    assert_eq!(own.next().await, frame(1));
    assert_eq!(own.next().await, key(2));

    drop(own);
    computer.film(&frame(4));
    assert_eq!(others.next().await, frame(4));
    drop(others);
    computer.films(0).await;
}

#[tokio::test]
async fn one_who_takes_nothing_delays_nobody() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (_, bobs) = guest(&session, "bob").await;
    let mut own = VideoClient::open(&session).await;
    computer.films(1).await;
    let _asleep = VideoClient::open(&bobs).await;
    computer.key_wishes(1).await;
    let large = VideoFrame {
        picture: Bytes::from(vec![7; 200_000]),
        ..key(0)
    };
    for number in 0..100 {
        let frame = VideoFrame {
            number,
            ..large.clone()
        };
        computer.film(&frame);
        assert_eq!(own.next().await.number, number);
    }
}

#[tokio::test]
async fn a_video_that_nobody_can_take_gets_a_lower_quality() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let mut slow = VideoClient::open(&session).await;
    computer.films(1).await;
    let falling = async {
        for number in 0.. {
            if number % 5 == 0 {
                // It takes a frame if one is there. After a pause, that is the next key frame.
                let _frame = slow.next().now_or_never();
            }
            let large = VideoFrame {
                picture: Bytes::from(vec![7; 200_000]),
                is_key: number % 20 == 0,
                ..frame(number)
            };
            computer.film(&large);
            world.pass(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = computer.quality_wish(1) => {}
        () = falling => {}
    }
}

#[tokio::test]
async fn watching_ends_with_the_right_and_with_the_computer() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (client, bobs) = guest(&session, "bob").await;
    let mut own = VideoClient::open(&session).await;
    let mut others = VideoClient::open(&bobs).await;

    session
        .client
        .delete(&session.path("/people/bob"))
        .await
        .good();
    assert_eq!(others.closed().await.0, 1008);
    let refused = client.upgrade(&session.path("/video")).await;
    assert_eq!(refusal(&refused), (404, "no_session".to_owned()));

    computer.film(&frame(0));
    assert_eq!(own.next().await, frame(0));
    computer.die("it was pulled out");
    assert_eq!(own.closed().await.0, 1001);
    let refused = session.client.upgrade(&session.path("/video")).await;
    assert_eq!(refusal(&refused), (409, "no_sandbox".to_owned()));
}

#[tokio::test]
async fn a_frame_that_is_none_ends_the_video_and_watching_again_works() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let mut viewer = VideoClient::open(&session).await;
    computer.films(1).await;
    computer.film_noise(b"\xff\xff\xff\xff this is not video");
    assert_eq!(viewer.closed().await.0, 1001);
    computer.films(0).await;
    let mut again = VideoClient::open(&session).await;
    computer.films(1).await;
    computer.film(&frame(0));
    assert_eq!(again.next().await, frame(0));
}

#[tokio::test]
async fn a_page_learns_why_nobody_can_watch() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let client = &session.client;
    let plain = client.get(&session.path("/video")).await;
    assert_eq!(refusal(&plain), (400, "malformed".to_owned()));

    computer.films(0).await;
    computer.remove_camera();
    let refused = client.get(&session.path("/video")).await;
    assert_eq!(refusal(&refused), (503, "video_failed".to_owned()));

    let made = json!({"computer": "browser"});
    let made = client.post("/api/sessions", made).await.good();
    let blind = client.session(made["id"].as_str().unwrap());
    let refused = client.get(&blind.path("/video")).await;
    assert_eq!(refusal(&refused), (409, "no_screen".to_owned()));
}
