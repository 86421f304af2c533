//! Users: who makes them, how they get in, and how they are kept out.

use deskhand_core::id::UserId;
use serde_json::{Value, json};

use crate::world::serve;

fn id(user: &Value) -> &str {
    user["id"].as_str().unwrap()
}

#[tokio::test]
async fn administrators_manage_users_and_nobody_else_does() {
    let server = serve(&[]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let me = bob.get("/api/me").await.good();
    assert_eq!(
        (&me["name"], &me["role"], &me["active"]),
        (&json!("bob"), &json!("member"), &json!(true))
    );
    let listed = admin.get("/api/users").await.good();
    let names: Vec<_> = listed["users"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[1], &me);

    let path = format!("/api/users/{}", id(&me));
    for refused in [
        bob.get("/api/users").await,
        bob.post("/api/users", json!({"name": "eve"})).await,
        bob.patch(&path, json!({"role": "admin"})).await,
        bob.post(&format!("{path}/sign-in-links"), json!({})).await,
    ] {
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "not_administrator")
        );
    }

    let renamed = admin.patch(&path, json!({"name": " Robert "})).await.good();
    assert_eq!(renamed["name"], "Robert");
    for (body, status, code) in [
        (json!({"name": "ROBERT"}), 409, "name_taken"),
        (json!({"name": ""}), 400, "bad_name"),
        (json!({"name": "a\u{0}b"}), 400, "bad_name"),
        (json!({"name": "eve", "role": "king"}), 400, "malformed"),
        (json!({"name": "eve", "email": "x"}), 400, "malformed"),
    ] {
        let refused = admin.post("/api/users", body).await;
        assert_eq!((refused.status, refused.code().as_str()), (status, code));
    }
    let nobody = admin
        .patch(&format!("/api/users/{}", UserId::new()), json!({}))
        .await;
    assert_eq!((nobody.status, nobody.code().as_str()), (404, "no_user"));
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let server = serve(&[]);
    let admin = server.client();
    let me = admin.get("/api/me").await.good();
    let path = format!("/api/users/{}", id(&me));
    for change in [json!({"active": false}), json!({"role": "member"})] {
        let refused = admin.patch(&path, change).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (409, "last_administrator")
        );
    }
    let bob = admin.new_user("bob").await;
    let bobs = format!("/api/users/{}", id(&bob.get("/api/me").await.good()));
    admin.patch(&bobs, json!({"role": "admin"})).await.good();
    bob.patch(&path, json!({"role": "member"})).await.good();
    assert_eq!(admin.get("/api/users").await.status, 403);
}

#[tokio::test]
async fn whoever_is_disabled_is_out_at_once_everywhere() {
    let server = serve(&[]);
    let admin = server.client();
    let bob = admin.new_user("bob").await;
    let me = bob.get("/api/me").await.good();
    let path = format!("/api/users/{}", id(&me));
    let session = bob.new_plain_session("scripted/demo").await;
    let mut stream = session.follow(0).await;
    stream.next().await;
    let link = admin
        .post(&format!("{path}/sign-in-links"), json!({"reset": true}))
        .await;
    let link = link.good()["url"].as_str().unwrap().to_owned();
    let (_, code) = link.split_once("#code=").unwrap();

    admin.patch(&path, json!({"active": false})).await.good();
    let (close_code, reason) = stream.closed().await;
    assert_eq!(close_code, 1008, "{reason}");
    assert_eq!(bob.get("/api/me").await.status, 401);
    let sign_in = bob.try_sign_in(json!({"code": code}), &[]).await;
    assert_eq!((sign_in.status, sign_in.code().as_str()), (401, "bad_code"));
    let link = admin
        .post(&format!("{path}/sign-in-links"), json!({}))
        .await;
    assert_eq!((link.status, link.code().as_str()), (409, "user_disabled"));

    admin.patch(&path, json!({"active": true})).await.good();
    assert_eq!(session.show().await["id"], json!(session.id));
    session.terminate().await;
}

#[tokio::test]
async fn signing_out_ends_the_streams_of_that_browser_only() {
    let server = serve(&[]);
    let admin = server.client();
    let session = admin.new_plain_session("scripted/demo").await;
    let mut browsers = Vec::new();
    for _ in 0..2 {
        let link = admin.post("/api/sign-in-links", json!({})).await.good();
        let (_, code) = link["url"].as_str().unwrap().split_once("#code=").unwrap();
        let cookie = admin.sign_in(code).await;
        let mut stream = admin.follow_in_browser(&session.id, &cookie).await;
        stream.next().await;
        browsers.push((cookie, stream));
    }
    let (mut stays, (cookie, mut leaves)) = (browsers.remove(0).1, browsers.remove(0));
    admin.sign_out(&cookie).await;
    assert_eq!(leaves.closed().await.0, 1008);
    session.terminate().await;
    while !stays.next().await.contains("terminated") {}
}
