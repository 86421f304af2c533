//! Deleting sessions, by hand and after their time, with everything that is stored about them.

use std::{
    fs::File,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use deskhand_testkit::{Client, Session};
use deskhand_world::{Database, World, WorldOptions};
use serde_json::json;

const DAY: Duration = Duration::from_hours(24);

/// A session with a log, a message, a picture and a link.
async fn full_session(client: &Client) -> Session {
    let session = client.new_session("scripted/demo").await;
    let looked = session
        .act("computer", json!({"action": "screenshot"}))
        .await;
    assert!(looked.is_object(), "{looked}");
    let share = json!({"right": "view"});
    client.post(&session.path("/shares"), share).await.good();
    session
}

/// The files of all pictures.
fn pictures(world: &World) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(world.pictures()).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

/// Makes the pictures older than the time for which unused ones are kept.
fn age(pictures: &[PathBuf]) {
    for path in pictures {
        let file = File::options().write(true).open(path).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH;
        file.set_modified(long_ago).unwrap();
    }
}

async fn deleted_sessions_leave_nothing(database: Database) {
    let world = World::with(WorldOptions {
        database,
        ..WorldOptions::default()
    })
    .await;
    let client = world.client();
    let session = full_session(&client).await;
    let stranger = client.new_user("stranger").await;
    let path = format!("{}?forever=true", session.path(""));
    assert_eq!(stranger.delete(&path).await.code(), "no_session");
    assert_eq!(pictures(&world).len(), 1);

    assert_eq!(client.delete(&path).await.status, 204);
    for gone in ["", "/events", "/messages", "/people"] {
        let answer = client.get(&session.path(gone)).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (404, "no_session"),
            "{gone}"
        );
    }
    assert_eq!(client.delete(&path).await.code(), "no_session");
    let list = client.get("/api/sessions").await.good();
    assert_eq!(list["sessions"], json!([]));
    let used = client.get("/api/me/limits").await.good();
    assert_eq!(used["sessions_per_day"]["used"], 1, "it still counts");

    world.pass(Duration::from_hours(1)).await;
    assert_eq!(pictures(&world).len(), 1, "it may be about to be shown");
    age(&pictures(&world));
    world.pass(Duration::from_hours(2)).await;
    assert_eq!(pictures(&world), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_but_its_place_in_the_daily_limit() {
    deleted_sessions_leave_nothing(Database::Sqlite).await;
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_on_postgres_either() {
    deleted_sessions_leave_nothing(Database::Postgres).await;
}

#[tokio::test]
async fn a_picture_that_another_session_shows_stays() {
    let world = World::start(&[]).await;
    let client = world.client();
    let (first, second) = (full_session(&client).await, full_session(&client).await);
    assert_eq!(pictures(&world).len(), 1, "both screens look the same");
    let deleted = client
        .delete(&format!("{}?forever=true", first.path("")))
        .await;
    assert_eq!(deleted.status, 204);
    age(&pictures(&world));
    world.pass(Duration::from_hours(2)).await;
    assert_eq!(pictures(&world).len(), 1);
    assert_eq!(client.get(&second.path("/screenshot")).await.status, 200);
}

#[tokio::test]
async fn ended_sessions_are_deleted_after_their_time_and_others_stay() {
    let mut options = WorldOptions::default();
    options.settings.keep_ended = Some(7 * DAY);
    let world = World::with(options).await;
    let client = world.client();
    let (ended, open) = (full_session(&client).await, full_session(&client).await);
    ended.terminate().await;
    world.pass(6 * DAY).await;
    assert_eq!(client.get(&ended.path("")).await.status, 200);
    world.pass(2 * DAY).await;
    assert_eq!(client.get(&ended.path("")).await.code(), "no_session");
    assert_eq!(client.get(&open.path("")).await.status, 200);
}

#[tokio::test]
async fn open_streams_end_when_their_session_is_deleted() {
    let world = World::start(&[]).await;
    let client = world.client();
    let session = full_session(&client).await;
    let mut stream = session.follow(0).await;
    let deleted = client
        .delete(&format!("{}?forever=true", session.path("")))
        .await;
    assert_eq!(deleted.status, 204);
    stream.closed().await;
}
