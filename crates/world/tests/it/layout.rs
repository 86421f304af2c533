//! The layout of a user's session page, kept for them.

use deskhand_world::World;
use serde_json::json;

#[tokio::test]
async fn a_layout_follows_its_user_and_nobody_else() {
    let world = World::start(&[]).await;
    let client = world.client();
    let bob = client.new_user("bob").await;
    let none = json!({"layout": null});
    assert_eq!(client.get("/api/me/layout").await.good(), none);
    let layout = json!({"layout": {"version": 1, "conversation": 40}});
    client.put("/api/me/layout", layout.clone()).await.good();
    assert_eq!(client.get("/api/me/layout").await.good(), layout);
    assert_eq!(bob.get("/api/me/layout").await.good(), none);

    let long = json!({"layout": {"x": "y".repeat(20_000)}});
    let refused = client.put("/api/me/layout", long).await;
    assert_eq!((refused.status, &*refused.code()), (400, "long_layout"));
    let list = client.put("/api/me/layout", json!({"layout": [1]})).await;
    assert_eq!((list.status, &*list.code()), (400, "malformed"));
    assert_eq!(client.get("/api/me/layout").await.good(), layout);
}
