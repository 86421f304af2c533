//! Links into sessions: what they give, and what they do not undo.

use std::time::Duration;

use deskhand_core::clock::{Clock, SystemClock};
use deskhand_testkit::{Answer, Client, Session};
use deskhand_world::World;
use serde_json::{Value, json};

const DAY: Duration = Duration::from_hours(24);

async fn link(session: &Session, wanted: Value) -> Value {
    let made = session.client.post(&session.path("/shares"), wanted).await;
    made.good()
}

async fn join(client: &Client, link: &Value) -> Answer {
    let code = json!({"code": link["code"]});
    client.post("/api/shares/join", code).await
}

#[tokio::test]
async fn an_old_link_does_not_undo_a_removal_or_a_lower_right() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    let drives = link(&session, json!({"right": "drive"})).await;
    assert_eq!(join(&bob, &drives).await.good()["right"], "drive");
    let path = session.path("/people/bob");

    admin.put(&path, json!({"right": "view"})).await.good();
    assert_eq!(join(&bob, &drives).await.good()["right"], "view");

    admin.delete(&path).await.good();
    let refused = join(&bob, &drives).await;
    assert_eq!((refused.status, &*refused.code()), (403, "removed"));
    assert_eq!(bob.get(&session.path("")).await.status, 404);

    admin.put(&path, json!({"right": "suggest"})).await.good();
    assert_eq!(join(&bob, &drives).await.good()["right"], "suggest");
    // Others may still use it.
    let eve = admin.new_user("eve").await;
    assert_eq!(join(&eve, &drives).await.good()["right"], "drive");
}

#[tokio::test]
async fn a_link_lasts_for_at_most_ninety_days() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let lasting = async |time: Duration| {
        let wanted = json!({"right": "view", "expires_at": SystemClock.now() + time});
        world.client().post(&session.path("/shares"), wanted).await
    };
    lasting(89 * DAY).await.good();
    let refused = lasting(91 * DAY).await;
    assert_eq!((refused.status, &*refused.code()), (400, "long_life"));
}

#[tokio::test]
async fn a_link_for_one_use_is_gone_after_it() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    let once = link(&session, json!({"right": "view", "single_use": true})).await;
    assert_eq!(once["single_use"], true);
    assert!(once["url"].as_str().unwrap().contains("/#share="));
    join(&bob, &once).await.good();
    let refused = join(&eve, &once).await;
    assert_eq!((refused.status, &*refused.code()), (404, "no_share"));
    let shares = admin.get(&session.path("/shares")).await.good();
    assert_eq!(shares["shares"], json!([]));
}
