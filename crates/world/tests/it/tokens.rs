//! API tokens: what each is good for, and how it ends.

use std::time::Duration;

use deskhand_core::clock::{Clock, SystemClock};
use deskhand_testkit::Client;
use deskhand_world::World;
use serde_json::{Value, json};

/// How long a short token is good for.
const SHORT: Duration = Duration::from_secs(20);

async fn new_token(client: &Client, wanted: Value) -> (Client, Value) {
    let made = client.post("/api/tokens", wanted).await.good();
    (client.with_token(made["token"].as_str().unwrap()), made)
}

#[tokio::test]
async fn a_token_does_what_its_scope_allows() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let session = admin.new_session("scripted/demo").await;
    let users = "/api/users";
    for (scope, reads, writes, manages) in [
        ("read", true, false, false),
        ("write", true, true, false),
        ("admin", true, true, true),
    ] {
        let (client, _) = new_token(&admin, json!({"name": scope, "scope": scope})).await;
        let title = json!({"title": "named"});
        for (answer, allowed) in [
            (client.get(&session.path("")).await, reads),
            (client.get("/api/sessions").await, reads),
            (client.patch(&session.path(""), title).await, writes),
            (client.get("/api/tokens").await, manages),
            (
                client.post("/api/tokens", json!({"name": "x"})).await,
                manages,
            ),
            (client.post("/api/sign-in-links", json!({})).await, manages),
            (client.get(users).await, manages),
            (client.post(users, json!({"name": "eve"})).await, manages),
        ] {
            if allowed {
                answer.good();
            } else {
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (403, "narrow_scope")
                );
            }
        }
        // Watching is reading.
        client.session(&session.id).follow(0).await.next().await;
    }
    session.terminate().await;
}

#[tokio::test]
async fn a_token_is_shown_once_and_known_by_its_beginning() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let (client, made) = new_token(&admin, json!({"name": "ci"})).await;
    let secret = made["token"].as_str().unwrap();
    assert!(secret.starts_with("dh_"));
    assert_eq!(made["scope"], "write");
    assert_eq!(made["last_used_at"], Value::Null);
    client.get("/api/me").await.good();

    let listed = admin.get("/api/tokens").await;
    assert!(!String::from_utf8_lossy(&listed.body).contains(secret));
    let listed = listed.good();
    let token = listed["tokens"].as_array().unwrap().iter();
    let token = token
        .clone()
        .find(|token| token["id"] == made["id"])
        .unwrap();
    assert!(secret.starts_with(token["prefix"].as_str().unwrap()));
    assert!(token["last_used_at"].is_string());
    let database = std::fs::read(world.folder().join("deskhand.db")).unwrap();
    assert!(!String::from_utf8_lossy(&database).contains(secret));
    assert!(!world.log().contains(secret));

    // It is nobody else's to see or revoke.
    let path = format!("/api/tokens/{}", made["id"].as_str().unwrap());
    let refused = bob.delete(&path).await;
    assert_eq!((refused.status, refused.code().as_str()), (404, "no_token"));
    for (body, code) in [
        (json!({"name": "", "scope": "read"}), "bad_name"),
        (json!({"name": "x", "scope": "all"}), "malformed"),
        (
            json!({"name": "x", "expires_at": "2020-01-01T00:00:00Z"}),
            "over",
        ),
        (json!({"name": "x", "expires_at": "soon"}), "malformed"),
    ] {
        let refused = admin.post("/api/tokens", body).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, code));
    }
}

#[tokio::test]
async fn the_last_use_is_kept_when_the_server_ends() {
    let mut world = World::start(&[]).await;
    let (client, made) = new_token(&world.client(), json!({"name": "ci"})).await;
    client.get("/api/me").await.good();
    world.restart().await;
    let listed = world.client().get("/api/tokens").await.good();
    let mut tokens = listed["tokens"].as_array().unwrap().iter();
    let token = tokens.find(|token| token["id"] == made["id"]).unwrap();
    assert!(token["last_used_at"].is_string(), "{token}");
}

#[tokio::test]
async fn a_token_that_ends_ends_its_open_streams() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let session = admin.new_session("scripted/demo").await;
    let (revoked, made) = new_token(&admin, json!({"name": "revoked", "scope": "read"})).await;
    let end = SystemClock.now() + SHORT;
    let (short, _) = new_token(&admin, json!({"name": "short", "expires_at": end})).await;
    let mut streams = Vec::new();
    for client in [&revoked, &short, &admin] {
        let mut stream = client.session(&session.id).follow(0).await;
        stream.next().await;
        streams.push(stream);
    }
    let path = format!("/api/tokens/{}", made["id"].as_str().unwrap());
    admin.delete(&path).await.good();
    assert_eq!(streams[0].closed().await.0, 1008);
    short.get("/api/me").await.good();
    world.pass(SHORT).await;
    assert_eq!(streams[1].closed().await.0, 1008);
    for client in [&revoked, &short] {
        assert_eq!(client.get("/api/me").await.status, 401);
    }
    // The others go on.
    session.terminate().await;
    loop {
        if streams[2].next().await.contains("terminated") {
            break;
        }
    }
}
