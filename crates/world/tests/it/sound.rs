//! The sound of computers: who hears it, and when it is captured.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{id::SessionId, sound::SoundFrame};
use deskhand_testkit::{Answer, Client, Listener, Session, sandboxes::FakeSandbox};
use deskhand_world::World;
use serde_json::json;

/// The time that a session idles before it sleeps.
const IDLE: Duration = Duration::from_mins(15);

fn frame(number: u32) -> SoundFrame {
    SoundFrame {
        number,
        captured_at_us: 1_790_000_000_000_000 + u64::from(number) * 20_000,
        packet: Bytes::from_static(b"\xfcpacket"),
    }
}

/// Starts a session, and returns it with its computer.
async fn started(world: &World) -> (Session, Arc<FakeSandbox>) {
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let computer = computer(world, &session);
    (session, computer)
}

fn computer(world: &World, session: &Session) -> Arc<FakeSandbox> {
    let id: SessionId = session.id.parse().unwrap();
    world.sandboxes().running(id).unwrap()
}

/// Shares a session with a new user.
async fn guest(session: &Session, name: &str) -> (Client, Session) {
    let client = session.client.new_user(name).await;
    let path = session.path(&format!("/people/{name}"));
    let shared = session.client.put(&path, json!({"right": "view"})).await;
    shared.good();
    let theirs = client.session(&session.id);
    (client, theirs)
}

fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

#[tokio::test]
async fn everybody_hears_the_same_and_it_is_captured_once() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (_, bobs) = guest(&session, "bob").await;
    computer.captures(0).await;

    let mut own = Listener::open(&session).await;
    computer.captures(1).await;
    computer.play(&frame(0));
    assert_eq!(own.next().await, frame(0));

    let mut others = Listener::open(&bobs).await;
    computer.captures(1).await;
    computer.play(&frame(1));
    assert_eq!(own.next().await, frame(1));
    assert_eq!(others.next().await, frame(1), "not what was before");

    drop(own);
    computer.play(&frame(2));
    assert_eq!(others.next().await, frame(2));
    drop(others);
    computer.captures(0).await;

    let mut again = Listener::open(&session).await;
    computer.captures(1).await;
    computer.play(&frame(3));
    assert_eq!(again.next().await, frame(3));
}

#[tokio::test]
async fn people_hear_it_while_another_has_control() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (_, bobs) = guest(&session, "bob").await;
    let mut others = Listener::open(&bobs).await;
    session.take_control(60).await.good();
    computer.play(&frame(0));
    assert_eq!(others.next().await, frame(0), "as they see the screen");
}

#[tokio::test]
async fn listening_ends_with_the_right_and_with_the_computer() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (client, bobs) = guest(&session, "bob").await;
    let mut own = Listener::open(&session).await;
    let mut others = Listener::open(&bobs).await;

    let removed = session.client.delete(&session.path("/people/bob")).await;
    removed.good();
    assert_eq!(others.closed().await.0, 1008);
    let refused = client.upgrade(&session.path("/sound")).await;
    assert_eq!(refusal(&refused), (404, "no_session".to_owned()));

    computer.play(&frame(7));
    assert_eq!(own.next().await, frame(7));
    computer.die("it was pulled out");
    assert_eq!(own.closed().await.0, 1001);
    let refused = session.client.upgrade(&session.path("/sound")).await;
    assert_eq!(refusal(&refused), (409, "no_sandbox".to_owned()));
}

#[tokio::test]
async fn a_frame_that_is_none_ends_the_sound_and_listening_again_works() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let mut listener = Listener::open(&session).await;
    computer.captures(1).await;
    computer.play_noise(b"\xff\xff this is not sound");
    assert_eq!(listener.closed().await.0, 1001);
    computer.captures(0).await;
    let mut again = Listener::open(&session).await;
    computer.captures(1).await;
    computer.play(&frame(0));
    assert_eq!(again.next().await, frame(0));
}

#[tokio::test]
async fn a_page_learns_why_nobody_can_listen() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let client = &session.client;
    let plain = client.get(&session.path("/sound")).await;
    assert_eq!(refusal(&plain), (400, "malformed".to_owned()));

    computer.remove_sound_card();
    for answer in [
        client.upgrade(&session.path("/sound")).await,
        client.get(&session.path("/sound")).await,
    ] {
        assert_eq!(refusal(&answer), (409, "no_sound_card".to_owned()));
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("apt-get install pulseaudio"), "{message}");
    }

    let made = json!({"computer": "browser"});
    let made = client.post("/api/sessions", made).await.good();
    let blind = client.session(made["id"].as_str().unwrap());
    let refused = client.get(&blind.path("/sound")).await;
    assert_eq!(refusal(&refused), (409, "no_screen".to_owned()));
}

#[tokio::test]
async fn listening_wakes_no_session() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    // The server may not yet have noticed that the last one who needed it is gone.
    for _ in 0..3 {
        world.pass(IDLE).await;
        if session.show().await["sandbox"] == "stopped" {
            break;
        }
    }
    assert_eq!(session.show().await["sandbox"], "stopped");
    let refused = session.client.upgrade(&session.path("/sound")).await;
    assert_eq!(refusal(&refused), (409, "no_sandbox".to_owned()));
}
