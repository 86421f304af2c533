//! Settings of a session change together, and everybody hears of it.

use serde_json::json;

use crate::world::serve;

#[tokio::test]
async fn a_change_of_settings_is_made_whole_and_told_once() {
    let server = serve(&[]);
    let client = server.client();
    let session = client.new_plain_session("scripted/demo").await;
    session.shell("true").await;
    let path = session.path("");
    let before = session.events(0).await;

    let half = json!({"title": "Half", "model": "nobody/knows"});
    let refused = client.patch(&path, half).await;
    assert_eq!((refused.status, &*refused.code()), (400, "unknown_model"));
    assert_eq!(client.get(&path).await.good()["title"], "");
    assert_eq!(session.events(0).await, before);

    let whole = json!({"title": " Whole ", "instructions": "Be brief.", "budget": {"usd": 2.5}});
    let changed = client.patch(&path, whole.clone()).await;
    assert_eq!(changed.good()["title"], "Whole");
    let after = session.events(0).await;
    let [told] = &after[before.len()..] else {
        panic!("{after:?}");
    };
    assert_eq!(told["type"], "changed");
    assert_eq!(told["data"]["title"], "Whole");
    assert_eq!(told["data"]["instructions"], "Be brief.");
    assert_eq!(told["data"]["budget"]["usd"], 2.5);
    assert_eq!(told["data"].get("approvals"), None);

    client.patch(&path, whole).await.good();
    assert_eq!(session.events(0).await, after, "the same again is no news");
}
