//! Who may come in at `/mcp`, and what they are offered.

use deskhand_testkit::Client;
use deskhand_world::World;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{
    client::{Mcp, messages},
    endpoint, start, task, world,
};

async fn new_token(client: &Client, scope: &str) -> (Client, Value) {
    let wanted = json!({"name": scope, "scope": scope});
    let made = client.post("/api/tokens", wanted).await.good();
    (client.with_token(made["token"].as_str().unwrap()), made)
}

/// Sends a ping with these headers and returns the status.
async fn knock(world: &World, headers: &[(&str, &str)]) -> StatusCode {
    let mut request = reqwest::Client::new().post(endpoint(world));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    request
        .body(ping.to_string())
        .send()
        .await
        .unwrap()
        .status()
}

#[tokio::test]
async fn only_a_token_opens_the_door() {
    let world = world().await;
    let admin = world.client();
    let bearer = format!("Bearer {}", admin.token());
    let link = admin.post("/api/sign-in-links", json!({})).await.good();
    let (_, code) = link["url"].as_str().unwrap().split_once("#code=").unwrap();
    let cookie = admin.sign_in(code).await;
    let (watcher, _) = new_token(&admin, "metrics").await;
    let metrics = format!("Bearer {}", watcher.token());
    for (headers, status) in [
        (vec![], StatusCode::UNAUTHORIZED),
        (
            vec![("Authorization", "Bearer nonsense")],
            StatusCode::UNAUTHORIZED,
        ),
        (
            vec![("Cookie", cookie.as_str()), ("Origin", world.url())],
            StatusCode::UNAUTHORIZED,
        ),
        (
            vec![("Authorization", metrics.as_str())],
            StatusCode::FORBIDDEN,
        ),
        (
            vec![
                ("Authorization", bearer.as_str()),
                ("Origin", "https://evil.example"),
            ],
            StatusCode::FORBIDDEN,
        ),
        (
            vec![("Authorization", bearer.as_str()), ("Host", "evil.example")],
            StatusCode::MISDIRECTED_REQUEST,
        ),
    ] {
        assert_eq!(knock(&world, &headers).await, status, "{headers:?}");
    }
    // Our own page may come in.
    let ours = [("Authorization", bearer.as_str()), ("Origin", world.url())];
    assert_ne!(knock(&world, &ours).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_token_does_what_its_scope_allows() {
    let world = world().await;
    let admin = world.client();
    let writer = Mcp::connect(&admin, &endpoint(&world)).await;
    let session = start(&writer, "looks").await;
    let (reading, _) = new_token(&admin, "read").await;
    let reader = Mcp::connect(&reading, &endpoint(&world)).await;
    reader
        .facts(
            "agent_status",
            json!({"sessionId": session, "waitSeconds": 60}),
        )
        .await;
    reader
        .facts("agent_log", json!({"sessionId": session}))
        .await;
    for (tool, input) in [
        ("agent_start", task("looks")),
        (
            "agent_reply",
            json!({"sessionId": session, "replyText": "x"}),
        ),
        ("agent_end", json!({"sessionId": session})),
    ] {
        assert_eq!(reader.refusal(tool, input).await, "narrow_scope", "{tool}");
    }
}

#[tokio::test]
async fn users_see_only_their_own() {
    let world = world().await;
    let admin = world.client();
    let alice = Mcp::connect(&admin.new_user("alice").await, &endpoint(&world)).await;
    let bob = Mcp::connect(&admin.new_user("bob").await, &endpoint(&world)).await;
    let session = start(&alice, "looks").await;
    for (tool, input) in [
        ("agent_status", json!({"sessionId": session})),
        ("agent_log", json!({"sessionId": session})),
        ("agent_get_last_image", json!({"sessionId": session})),
        (
            "agent_reply",
            json!({"sessionId": session, "replyText": "x"}),
        ),
        ("agent_end", json!({"sessionId": session})),
    ] {
        assert_eq!(bob.refusal(tool, input).await, "no_session", "{tool}");
    }
    let listed = bob.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"], json!([]));
    let log = json!({"uri": format!("session://{session}/log")});
    assert!(bob.ask("resources/read", log).await[0]["error"].is_object());

    // The id of another user's MCP session is of no use.
    let thief = bob.with_session_of(&alice);
    assert_eq!(
        thief.send("tools/list", json!({})).await.status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(thief.listen().await.status(), StatusCode::NOT_FOUND);
    assert_eq!(alice.listen().await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_revoked_token_ends_what_it_opened() {
    let world = world().await;
    let admin = world.client();
    let (writing, made) = new_token(&admin, "write").await;
    let mcp = Mcp::connect(&writing, &endpoint(&world)).await;
    let session = start(&mcp, "works").await;
    let listening = mcp.listen().await;
    let wait = json!({"sessionId": session, "waitSeconds": 300});
    let waiting = mcp.send(
        "tools/call",
        json!({"name": "agent_status", "arguments": wait}),
    );
    let waiting = waiting.await;
    let id = made["id"].as_str().unwrap();
    admin.delete(&format!("/api/tokens/{id}")).await.good();
    // Both streams end, and neither has the answer.
    assert_eq!(messages(listening).await, Vec::<Value>::new());
    assert_eq!(messages(waiting).await, Vec::<Value>::new());
    admin.session(&session).terminate().await;
}

#[tokio::test]
async fn clients_choose_groups_of_tools() {
    let world = world().await;
    let url = endpoint(&world);
    let names = async |query: &str| {
        let mcp = Mcp::connect(&world.client(), &format!("{url}{query}")).await;
        mcp.ask("tools/list", json!({})).await.pop().unwrap()
    };
    let usual = names("").await;
    let tools = usual["result"]["tools"].as_array().unwrap();
    let listed: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let agent = [
        "agent_start",
        "agent_status",
        "agent_log",
        "agent_get_last_image",
        "agent_reply",
        "agent_end",
    ];
    assert_eq!(listed, agent);
    assert_eq!(names("?tools=agent").await["result"], usual["result"]);
    let unknown = names("?tools=agent,cars").await;
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains("cars"), "{message}");
}
