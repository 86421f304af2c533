//! Watch links: who gets in without signing in, until when, and what they see.

use std::time::Duration;

use deskhand_core::sound::SoundFrame;
use deskhand_testkit::{Client, Listener, Session, VideoClient};
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};

use crate::video::{frame, guest, key, refusal, started};

/// A watch link, and a client that is not signed in.
struct Link {
    id: String,
    token: String,
    stranger: Client,
}

impl Link {
    async fn create(session: &Session, body: Value) -> Self {
        let made = session
            .client
            .post(&session.path("/watch-links"), body)
            .await;
        let made = made.good();
        let url = made["url"].as_str().unwrap();
        let (_, token) = url.split_once("/watch/").unwrap();
        Self {
            id: made["id"].as_str().unwrap().to_owned(),
            token: token.to_owned(),
            stranger: session.client.with_token("nobody"),
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/watch/{}{rest}", self.token)
    }

    async fn show(&self) -> Value {
        self.stranger.get(&self.path("")).await.good()
    }

    async fn watch(&self) -> VideoClient {
        VideoClient::at(&self.stranger, &self.path("/video")).await
    }

    async fn is_refused(&self) {
        for path in [self.path(""), self.path("/video"), self.path("/sound")] {
            let refused = self.stranger.get(&path).await;
            assert_eq!(
                refusal(&refused),
                (404, "no_watch_link".to_owned()),
                "{path}"
            );
        }
    }
}

fn sound(number: u32) -> SoundFrame {
    SoundFrame {
        number,
        captured_at_us: 1_790_000_000_000_000,
        packet: bytes::Bytes::from_static(b"\xfcpacket"),
    }
}

#[tokio::test]
async fn a_stranger_watches_and_listens_by_a_link() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let title = json!({"title": "A film"});
    session.client.patch(&session.path(""), title).await.good();
    let link = Link::create(&session, json!({})).await;
    let nobody = json!({
        "state": "live", "title": "A film", "paused": false, "n_watchers": 0, "watchers": [],
    });
    assert_eq!(link.show().await, nobody);

    let mut owner = VideoClient::open(&session).await;
    computer.films(1).await;
    let mut ada = VideoClient::at(&link.stranger, &link.path("/video?name=Ada")).await;
    let mut guest = link.watch().await;
    let mut ear = Listener::at(&link.stranger, &link.path("/sound")).await;
    computer.films(1).await;
    computer.captures(1).await;
    computer.film(&key(0));
    for viewer in [&mut owner, &mut ada, &mut guest] {
        assert_eq!(viewer.next().await, key(0));
    }
    computer.play(&sound(3));
    assert_eq!(ear.next().await, sound(3));
    let shown = link.show().await;
    assert_eq!(shown["n_watchers"], 2);
    assert_eq!(shown["watchers"], json!(["Ada", "Guest"]));
}

#[tokio::test]
async fn a_link_ends_when_it_is_revoked_and_so_do_its_connections() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let (link, other) = (
        Link::create(&session, json!({})).await,
        Link::create(&session, json!({})).await,
    );
    let mut viewer = link.watch().await;
    let mut ear = Listener::at(&link.stranger, &link.path("/sound")).await;
    let mut untouched = other.watch().await;
    let path = session.path(&format!("/watch-links/{}", link.id));
    session.client.delete(&path).await.good();
    let (code, reason) = viewer.closed().await;
    assert_eq!(
        (code, reason.as_str()),
        (1008, "this watch link is no longer valid")
    );
    assert_eq!(ear.closed().await.0, 1008);
    link.is_refused().await;
    computer.film(&key(1));
    assert_eq!(untouched.next().await, key(1));
    let again = session.client.delete(&path).await;
    assert_eq!(refusal(&again), (404, "no_watch_link".to_owned()));

    let listed = session
        .client
        .get(&session.path("/watch-links"))
        .await
        .good();
    let ids: Vec<_> = listed["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [&json!(other.id)]);
    let text = listed.to_string();
    assert!(!text.contains(&other.token), "a token is shown once");
}

#[tokio::test]
async fn a_link_ends_with_its_time() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({"lifetime_seconds": 120})).await;
    let mut viewer = link.watch().await;
    let time_passes = async {
        world.pass(Duration::from_secs(100)).await;
        assert_eq!(link.show().await["state"], "live");
        world.pass(Duration::from_secs(30)).await;
    };
    // A client answers pings only while it reads.
    let (closed, ()) = tokio::join!(viewer.closed(), time_passes);
    assert_eq!(closed.0, 1008);
    link.is_refused().await;
    for seconds in [0, 59, 2_592_001] {
        let body = json!({"lifetime_seconds": seconds});
        let refused = session
            .client
            .post(&session.path("/watch-links"), body)
            .await;
        assert_eq!(refusal(&refused), (400, "bad_lifetime".to_owned()));
    }
}

#[tokio::test]
async fn a_link_ends_with_its_session() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let mut viewer = link.watch().await;
    session.terminate().await;
    assert_eq!(viewer.closed().await.0, 1001);
    assert_eq!(link.show().await["state"], "ended");
    let refused = link.stranger.get(&link.path("/video")).await;
    assert_eq!(refusal(&refused), (409, "no_sandbox".to_owned()));
    let another = session
        .client
        .post(&session.path("/watch-links"), json!({}))
        .await;
    assert_eq!(refusal(&another), (409, "session_ended".to_owned()));
}

#[tokio::test]
async fn a_session_that_sleeps_has_not_started() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    for _ in 0..3 {
        world.pass(Duration::from_mins(15)).await;
        if session.show().await["sandbox"] == "stopped" {
            break;
        }
    }
    assert_eq!(link.show().await["state"], "not_started");
}

#[tokio::test]
async fn only_the_owner_has_watch_links() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let (client, _) = guest(&session, "bob").await;
    let (links, one) = (
        session.path("/watch-links"),
        session.path(&format!("/watch-links/{}", link.id)),
    );
    for answer in [
        client.post(&links, json!({})).await,
        client.get(&links).await,
        client.delete(&one).await,
    ] {
        assert_eq!(refusal(&answer), (403, "not_allowed".to_owned()));
    }
    let eve = session.client.new_user("eve").await;
    assert_eq!(
        refusal(&eve.get(&links).await),
        (404, "no_session".to_owned())
    );

    let blind = json!({"computer": "browser"});
    let blind = session.client.post("/api/sessions", blind).await.good();
    let blind = session.client.session(blind["id"].as_str().unwrap());
    let refused = blind
        .client
        .post(&blind.path("/watch-links"), json!({}))
        .await;
    assert_eq!(refusal(&refused), (409, "no_screen".to_owned()));
}

#[tokio::test]
async fn a_link_opens_nothing_but_picture_and_sound() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let holder = session.client.with_token(&link.token);
    for path in ["", "/events", "/vnc", "/video", "/sound", "/screenshot"] {
        let refused = holder.get(&session.path(path)).await;
        assert_eq!(
            refusal(&refused),
            (401, "not_signed_in".to_owned()),
            "{path}"
        );
    }
    let mut wrong = Link::create(&session, json!({})).await;
    wrong.token.pop();
    wrong.is_refused().await;
    wrong.token.clear();
    assert_eq!(wrong.stranger.get(&wrong.path("/video")).await.status, 404);
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_hold_up_nobody_else() {
    let options = WorldOptions {
        wrong_tokens_per_minute: 3,
        ..WorldOptions::default()
    };
    let world = World::with(options).await;
    let session = world.client().new_session("scripted/demo").await;
    let link = Link::create(&session, json!({})).await;
    for n in 0..3 {
        let refused = link.stranger.get(&format!("/api/watch/dhw_{n}")).await;
        assert_eq!(refused.status, 404);
    }
    let refused = link.stranger.get("/api/watch/dhw_x").await;
    assert_eq!(refusal(&refused), (429, "too_fast".to_owned()));
    link.show().await;
}

#[tokio::test]
async fn watchers_see_and_hear_nothing_while_a_person_has_control() {
    let world = World::start(&[]).await;
    let (session, computer) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let mut owner = VideoClient::open(&session).await;
    computer.films(1).await;
    let mut viewer = link.watch().await;
    let mut ear = Listener::at(&link.stranger, &link.path("/sound")).await;
    let mut owners_ear = Listener::open(&session).await;
    computer.captures(1).await;
    computer.key_wishes(1).await;
    computer.film(&key(0));
    assert_eq!(viewer.next().await, key(0));
    assert_eq!(owner.next().await, key(0));

    session.take_control(60).await.good();
    assert_eq!(link.show().await["paused"], true);
    computer.film(&frame(1));
    computer.play(&sound(1));
    assert_eq!(
        owner.next().await,
        frame(1),
        "people of the session do see it"
    );
    assert_eq!(owners_ear.next().await, sound(1), "and hear it");
    session.hand_back().await.good();
    // Both continue once the watcher's connection has noticed. The first picture is a key frame again.
    let (mut number, mut seen, mut heard) = (2, None, None);
    while seen.is_none() || heard.is_none() {
        computer.film(&frame(4 * number));
        computer.film(&key(4 * number + 1));
        computer.play(&sound(number));
        let moment = Duration::from_millis(50);
        if seen.is_none() {
            seen = tokio::time::timeout(moment, viewer.next()).await.ok();
        }
        if heard.is_none() {
            heard = tokio::time::timeout(moment, ear.next()).await.ok();
        }
        number += 1;
    }
    let (seen, heard) = (seen.unwrap(), heard.unwrap());
    assert!(
        seen.is_key && seen.number > 1 && heard.number > 1,
        "{seen:?} {heard:?}"
    );
    assert_eq!(link.show().await["paused"], false);
}

#[tokio::test]
async fn links_end_when_the_session_has_another_owner() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let bob = session.client.new_user("bob").await;
    let path = session.path("/people/bob");
    session
        .client
        .put(&path, json!({"right": "owner"}))
        .await
        .good();
    let accept = format!("/api/me/offers/{}/accept", session.id);
    bob.post(&accept, json!({})).await.good();
    link.is_refused().await;
}

#[tokio::test]
async fn links_are_in_the_audit_log_without_their_tokens() {
    let world = World::start(&[]).await;
    let (session, _) = started(&world).await;
    let link = Link::create(&session, json!({})).await;
    let path = session.path(&format!("/watch-links/{}", link.id));
    session.client.delete(&path).await.good();
    let log = session.client.get("/api/audit").await.good();
    let actions: Vec<_> = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["action"])
        .collect();
    assert!(
        actions.contains(&&json!("watch_link.created")),
        "{actions:?}"
    );
    assert!(
        actions.contains(&&json!("watch_link.revoked")),
        "{actions:?}"
    );
    assert!(!log.to_string().contains(&link.token));
}
