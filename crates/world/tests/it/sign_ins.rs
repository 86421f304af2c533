//! Signing in and out, and the browsers that are signed in.

use std::time::Duration;

use deskhand_testkit::Client;
use deskhand_world::{Ending, World};
use reqwest::Method;
use serde_json::{Value, json};

/// Makes a sign-in link for this user, and returns its code.
async fn code_of(client: &Client) -> String {
    let link = client.post("/api/sign-in-links", json!({})).await.good();
    code_in(&link)
}

fn code_in(link: &Value) -> String {
    let (_, code) = link["url"].as_str().unwrap().split_once("/#code=").unwrap();
    code.to_owned()
}

async fn name_in(client: &Client, cookie: &str) -> Option<String> {
    let me = client.in_browser(Method::GET, "/api/me", cookie).await;
    (me.status == 200).then(|| me.json()["name"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_link_of_somebody_else_does_not_replace_a_sign_in_unasked() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (alice, mallory) = (
        admin.new_user("alice").await,
        admin.new_user("mallory").await,
    );
    let cookie = alice.sign_in(&code_of(&alice).await).await;
    let code = code_of(&mallory).await;
    let headers = [("Cookie", cookie.as_str())];
    let asked = alice.try_sign_in(json!({"code": code}), &headers).await;
    assert_eq!((asked.status, &*asked.code()), (409, "other_user"));
    let names = json!({"current": "alice", "new": "mallory"});
    assert_eq!(asked.json()["error"]["details"], names);
    assert_eq!(name_in(&alice, &cookie).await.as_deref(), Some("alice"));

    // The link still works for whoever agrees, and the old sign-in is over then.
    let agreed = json!({"code": code, "replace": true});
    assert_eq!(alice.try_sign_in(agreed, &headers).await.status, 204);
    assert_eq!(name_in(&alice, &cookie).await, None);
}

#[tokio::test]
async fn a_new_sign_in_of_the_same_person_replaces_the_old_one() {
    let world = World::start(&[]).await;
    let alice = world.client().new_user("alice").await;
    let cookie = alice.sign_in(&code_of(&alice).await).await;
    let again = json!({"code": code_of(&alice).await});
    let headers = [("Cookie", cookie.as_str())];
    assert_eq!(alice.try_sign_in(again, &headers).await.status, 204);
    assert_eq!(name_in(&alice, &cookie).await, None);
}

#[tokio::test]
async fn only_our_own_page_signs_in() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let code = code_of(&admin).await;
    let body = json!({"code": code});
    // Without an origin, as another program would.
    let refused = admin.post("/api/sign-in", body.clone()).await;
    assert_eq!((refused.status, &*refused.code()), (403, "wrong_origin"));
    assert_eq!(
        admin.try_sign_in(body, &[]).await.status,
        204,
        "not used up"
    );
}

#[tokio::test]
async fn sign_ins_are_listed_and_ended_one_by_one_or_all_at_once() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let alice = admin.new_user("alice").await;
    // The first one is from making the user.
    let agent = [("User-Agent", "Chromium on a desk")];
    let body = json!({"code": code_of(&alice).await});
    assert_eq!(alice.try_sign_in(body, &agent).await.status, 204);
    let cookie = alice.sign_in(&code_of(&alice).await).await;
    let list = async |cookie: &str| {
        let listed = alice.in_browser(Method::GET, "/api/sign-ins", cookie).await;
        listed.good()["sign_ins"].as_array().unwrap().clone()
    };
    let listed = list(&cookie).await;
    assert_eq!(listed.len(), 3);
    let current: Vec<_> = listed.iter().filter(|one| one["current"] == true).collect();
    assert_eq!(current.len(), 1);
    assert_eq!(current[0]["address"], "127.0.0.1");
    assert!(current[0]["last_used_at"].is_string());
    let named = |one: &&Value| one["browser"] == "Chromium on a desk";
    let other = listed.iter().find(named).unwrap();

    let path = format!("/api/sign-ins/{}", other["id"].as_str().unwrap());
    // Nobody else ends it.
    let refused = admin.delete(&path).await;
    assert_eq!((refused.status, &*refused.code()), (404, "no_sign_in"));
    alice.delete(&path).await.good();
    assert_eq!(list(&cookie).await.len(), 2);

    let session = alice.new_session("scripted/demo").await;
    let mut stream = alice.follow_in_browser(&session.id, &cookie).await;
    stream.next().await;
    let unused = code_of(&alice).await;
    alice.delete("/api/sign-ins").await.good();
    assert_eq!(stream.closed().await.0, 1008);
    assert_eq!(name_in(&alice, &cookie).await, None);
    let late = alice.try_sign_in(json!({"code": unused}), &[]).await;
    assert_eq!(late.code(), "bad_code");
    // Programs go on.
    alice.get("/api/me").await.good();
}

#[tokio::test]
async fn a_browser_that_is_not_used_for_two_weeks_is_signed_out() {
    let mut world = World::start(&[]).await;
    let alice = world.client().new_user("alice").await;
    let cookie = alice.sign_in(&code_of(&alice).await).await;
    for (days, is_in) in [(13, true), (13, true), (15, false)] {
        world.end(Ending::InOrder).await;
        world.pass(Duration::from_hours(days * 24)).await;
        world.open().await;
        let is_signed_in = name_in(&alice, &cookie).await.is_some();
        assert_eq!(is_signed_in, is_in, "after {days} days");
    }
}

#[tokio::test]
async fn an_administrator_cannot_become_somebody_unseen() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let alice = admin.new_user("alice").await;
    let cookie = alice.sign_in(&code_of(&alice).await).await;
    let id = alice.get("/api/me").await.good()["id"].clone();
    let path = format!("/api/users/{}/sign-in-links", id.as_str().unwrap());

    let refused = admin.post(&path, json!({})).await;
    assert_eq!((refused.status, &*refused.code()), (409, "has_signed_in"));
    assert_eq!(name_in(&alice, &cookie).await.as_deref(), Some("alice"));

    let reset = admin.post(&path, json!({"reset": true})).await.good();
    assert_eq!(name_in(&alice, &cookie).await, None, "she notices");
    admin.sign_in(&code_in(&reset)).await;
    let history = alice.get("/api/me/audit?limit=2").await.good();
    let summaries: Vec<_> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["actor_name"].clone(), entry["summary"].clone()))
        .collect();
    let expected = [
        (json!("alice"), json!("signed in")),
        (
            json!("admin"),
            json!("reset the sign-in of alice, sign-ins ended: 2"),
        ),
    ];
    assert_eq!(summaries, expected);
    // She is told where her own sign-in came from, and not where the administrator is.
    assert_eq!(history["entries"][0]["address"], "127.0.0.1");
    assert_eq!(history["entries"][1]["address"], Value::Null);
    let all = admin.get("/api/audit?action=sign_in.reset").await.good();
    assert_eq!(all["entries"][0]["address"], "127.0.0.1");
}
