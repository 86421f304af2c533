//! The audit log, through the API.

use deskhand_world::World;
use serde_json::{Value, json};

#[tokio::test]
async fn changes_are_recorded_without_what_is_secret() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let id = bob.get("/api/me").await.good()["id"].clone();
    let secret = json!({"value": "open sesame", "origins": ["https://bank.example"]});
    bob.put("/api/secrets/bank", secret).await.good();
    bob.put(
        "/api/secrets/bank",
        json!({"value": "open poppy", "origins": ["https://bank.example"]}),
    )
    .await
    .good();
    bob.delete("/api/secrets/bank").await.good();
    let token = bob.post("/api/tokens", json!({"name": "ci"})).await.good();
    let path = format!("/api/tokens/{}", token["id"].as_str().unwrap());
    bob.delete(&path).await.good();
    let approvals = json!({"approvals": {"mode": "never"}});
    bob.patch("/api/settings", approvals.clone()).await.good();
    let limits = format!("/api/users/{}/limits", id.as_str().unwrap());
    admin
        .put(&limits, json!({"awake_sessions": 2}))
        .await
        .good();
    let session = bob.new_session("scripted/demo").await;
    bob.patch(&session.path(""), approvals).await.good();
    bob.patch(
        &session.path(""),
        json!({"approvals": {"mode": "always"}, "budget": {"usd": 2.0}}),
    )
    .await
    .good();
    // A title is nobody's concern.
    bob.patch(&session.path(""), json!({"title": "x"}))
        .await
        .good();

    let path = format!("/api/audit?limit=500&user={}", id.as_str().unwrap());
    let answer = admin.get(&path).await;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(
        !text.contains("sesame") && !text.contains("poppy"),
        "{text}"
    );
    assert!(!text.contains(token["token"].as_str().unwrap()));
    let entries = answer.good();
    let entries = entries["entries"].as_array().unwrap().iter().rev();
    let lines: Vec<_> = entries
        .map(|entry| {
            let who = entry["actor_name"].as_str().unwrap();
            format!("{who} {}", entry["summary"].as_str().unwrap())
        })
        .collect();
    let expected = [
        "admin added the user bob as member",
        "admin created an invitation for bob",
        "bob signed in",
        "bob created the token test with the scope admin",
        "bob stored the secret bank for https://bank.example",
        "bob replaced the secret bank for https://bank.example",
        "bob removed the secret bank",
        "bob created the token ci with the scope write",
        "bob revoked the token ci",
        "bob set the approvals of new sessions to never",
        "admin set the limits of bob",
        "bob set the approvals of a session to always",
        "bob set the budget of a session to $2",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn the_log_is_for_administrators_and_everybody_has_their_own_part() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = eve.new_session("scripted/demo").await;
    let path = session.path("/people/bob");
    eve.put(&path, json!({"right": "drive"})).await.good();

    let refused = bob.get("/api/audit").await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "not_administrator")
    );
    let narrow = bob
        .post("/api/tokens", json!({"name": "ci", "scope": "write"}))
        .await;
    let narrow = bob.with_token(narrow.good()["token"].as_str().unwrap());
    assert_eq!(narrow.get("/api/me/audit").await.code(), "narrow_scope");

    let mine = bob.get("/api/me/audit").await.good();
    let mine = mine["entries"].as_array().unwrap();
    let is_mine = |entry: &Value| entry["actor_name"] == "bob" || entry["user_name"] == "bob";
    assert!(mine.iter().all(is_mine), "{mine:?}");
    let given = mine.iter().find(|entry| entry["action"] == "right.given");
    let given = given.unwrap();
    assert_eq!(given["session"], json!(session.id));
    assert_eq!(given["actor_name"], "eve");

    let all = admin.get("/api/audit?limit=2").await.good();
    assert_eq!(all["entries"].as_array().unwrap().len(), 2);
    let next = format!("/api/audit?before={}", all["next"].as_str().unwrap());
    let rest = admin.get(&next).await.good();
    assert!(rest["entries"].as_array().unwrap().len() > 5);
}
