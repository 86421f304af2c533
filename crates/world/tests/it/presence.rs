//! Who is in a session right now.

use deskhand_testkit::{Client, Session};
use deskhand_world::World;
use serde_json::json;

fn join(name: &str) -> (String, String) {
    ("collaborator_join".to_owned(), name.to_owned())
}

fn leave(name: &str) -> (String, String) {
    ("collaborator_leave".to_owned(), name.to_owned())
}

/// The names of those who are there.
async fn here(client: &Client, session: &Session) -> Vec<String> {
    let people = client.get(&session.path("/people")).await.good();
    let people = people["people"].as_array().unwrap().iter();
    people
        .filter(|person| person["here"] == json!(true))
        .map(|person| person["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn everybody_sees_who_comes_and_goes_and_nothing_of_it_is_logged() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    session.shell("true").await;
    let path = session.path("/people/bob");
    admin.put(&path, json!({"right": "view"})).await.good();
    assert!(here(&admin, &session).await.is_empty());
    let newest = session.show().await["last_seq"].as_u64().unwrap();

    let mut watching = session.follow_with_people(0).await;
    assert_eq!(watching.next_person().await, join("admin"));
    // Two connections of one person are one person.
    let bobs = bob.session(&session.id);
    let (first, second) = (bobs.follow_with_people(0).await, bobs.follow(0).await);
    assert_eq!(watching.next_person().await, join("bob"));
    assert_eq!(here(&bob, &session).await, ["admin", "bob"]);
    drop(first);
    drop(second);
    assert_eq!(watching.next_person().await, leave("bob"));
    assert_eq!(here(&bob, &session).await, ["admin"]);

    // Whoever is shut out is gone for the others too.
    let mut bobs = bobs.follow_with_people(0).await;
    assert_eq!(watching.next_person().await, join("bob"));
    let mut seen = [bobs.next_person().await, bobs.next_person().await];
    seen.sort();
    assert_eq!(seen, [join("admin"), join("bob")]);
    admin.delete(&path).await.good();
    assert_eq!(watching.next_person().await, leave("bob"));

    let after = session.show().await["last_seq"].as_u64().unwrap();
    assert_eq!(after, newest, "nothing was added to the log");
    session.terminate().await;
}

#[tokio::test]
async fn a_crashed_server_leaves_nobody_behind() {
    let mut world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let mut watching = session.follow_with_people(0).await;
    assert_eq!(watching.next_person().await, join("admin"));
    assert_eq!(here(&world.client(), &session).await, ["admin"]);
    world.crash().await;
    assert!(here(&world.client(), &session).await.is_empty());
    world.client().session(&session.id).terminate().await;
}
