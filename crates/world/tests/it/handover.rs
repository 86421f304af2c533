//! Handing a session over: an offer that the other user accepts, declines or lets pass.

use std::time::Duration;

use deskhand_core::event::{Complete, EventBody, HandedOver, Outcome, Status};
use deskhand_core::{
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
    right::Right,
    session::SandboxState,
};
use deskhand_testkit::{Client, Session};
use deskhand_world::World;
use serde_json::{Value, json};

/// A turn that would take an hour.
const BUSY: &str = r#"
steps:
  - text: "This takes an hour."
    calls:
      - bash: {command: "sleep 3600"}
  - text: "Done."
"#;

/// Asks for a secret that is not there, and repeats the answer.
const CURIOUS: &str = r#"
steps:
  - calls:
      - fill_secret: {name: x}
  - text: "Told: {{ result.1 }}"
"#;

async fn offer(session: &Session, who: &str) -> Value {
    let path = session.path(&format!("/people/{who}"));
    let offered = session.client.put(&path, json!({"right": "owner"})).await;
    assert_eq!(offered.status, 202, "{}", offered.json());
    offered.json()
}

async fn offers(client: &Client) -> Vec<Value> {
    let offers = client.get("/api/me/offers").await.good();
    offers["offers"].as_array().unwrap().clone()
}

async fn accept(client: &Client, session: &Session, body: Value) -> Value {
    let path = format!("/api/me/offers/{}/accept", session.id);
    client.post(&path, body).await.good()
}

#[tokio::test]
async fn a_session_is_handed_over_only_when_the_other_accepts() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (mallory, alice) = (
        admin.new_user("mallory").await,
        admin.new_user("alice").await,
    );
    let careless = json!({"approvals": {"mode": "never"}, "title": "Free desktop"});
    let made = mallory.post("/api/sessions", careless).await.good();
    let session = mallory.session(made["id"].as_str().unwrap());
    let mut bus = alice.bus().await;
    bus.next_of("snapshot").await;

    let offered = offer(&session, "alice").await;
    assert_eq!(offered["to_name"], "alice");
    assert_eq!(bus.next_of("notice").await["code"], "session_offered");
    // Until then nothing is Alice's.
    let listed = alice.get("/api/sessions").await.good();
    assert_eq!(listed["sessions"], json!([]));
    assert_eq!(alice.get(&session.path("")).await.status, 404);
    assert_eq!(session.show().await["right"], "owner");
    let people = mallory.get(&session.path("/people")).await.good();
    assert_eq!(people["offer"], offered);
    let open = offers(&alice).await;
    assert_eq!(open, [offered]);
    assert_eq!(open[0]["session_title"], "Free desktop");
    assert_eq!(offers(&admin).await, Vec::<Value>::new());

    let mut givers_bus = mallory.bus().await;
    givers_bus.next_of("snapshot").await;
    let mine = accept(&alice, &session, json!({})).await;
    assert_eq!(mine["right"], "owner");
    assert_eq!(mine["approvals"]["mode"], "risky", "Alice's own default");
    assert_eq!(givers_bus.next_of("notice").await["code"], "offer_accepted");
    assert_eq!(session.show().await["right"], "view");
    let log = alice.session(&session.id);
    let told = log.wait_for(0, |body| matches!(body, EventBody::HandedOver(_)));
    let EventBody::HandedOver(HandedOver {
        to_name,
        giver_keeps,
        ..
    }) = told.await.body
    else {
        unreachable!()
    };
    assert_eq!((to_name.as_str(), giver_keeps), ("alice", Right::View));
    assert_eq!(offers(&alice).await, Vec::<Value>::new());
}

#[tokio::test]
async fn only_the_one_it_is_offered_to_accepts_and_only_while_it_is_open() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (bob, eve) = (admin.new_user("bob").await, admin.new_user("eve").await);
    let session = admin.new_session("scripted/demo").await;
    let path = format!("/api/me/offers/{}", session.id);
    let is_refused = async |client: &Client| {
        for refused in [
            client.post(&format!("{path}/accept"), json!({})).await,
            client.delete(&path).await,
        ] {
            assert_eq!((refused.status, &*refused.code()), (404, "no_offer"));
        }
    };
    is_refused(&bob).await;
    offer(&session, "bob").await;
    is_refused(&eve).await;
    is_refused(&admin).await;
    let owner = json!({"giver_keeps": "owner"});
    let refused = bob.post(&format!("{path}/accept"), owner).await;
    assert_eq!((refused.status, &*refused.code()), (400, "bad_right"));

    bob.delete(&path).await.good();
    is_refused(&bob).await;
    offer(&session, "bob").await;
    let refused = eve.delete(&session.path("/offer")).await;
    assert_eq!((refused.status, &*refused.code()), (404, "no_session"));
    admin.delete(&session.path("/offer")).await.good();
    is_refused(&bob).await;
    let refused = admin.delete(&session.path("/offer")).await;
    assert_eq!((refused.status, &*refused.code()), (404, "no_offer"));

    offer(&session, "bob").await;
    // Another offer takes its place.
    offer(&session, "eve").await;
    is_refused(&bob).await;
    let kept = accept(&eve, &session, json!({"giver_keeps": "drive"})).await;
    assert_eq!(kept["right"], "owner");
    assert_eq!(session.show().await["right"], "drive");
}

#[tokio::test]
async fn an_offer_is_over_after_a_week() {
    let mut world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    offer(&session, "bob").await;
    world.end(deskhand_world::Ending::InOrder).await;
    world.pass(Duration::from_hours(7 * 24 + 1)).await;
    world.open().await;
    assert_eq!(offers(&bob).await, Vec::<Value>::new());
    let path = format!("/api/me/offers/{}/accept", session.id);
    assert_eq!(bob.post(&path, json!({})).await.code(), "no_offer");
}

#[tokio::test]
async fn accepting_ends_the_turn_the_desktop_the_links_and_what_waited() {
    let world = World::start(&[("busy", BUSY)]).await;
    let admin = world.client();
    let alice = admin.new_user("alice").await;
    let session = admin.new_session("scripted/busy").await;
    session.prompt("begin").await;
    let begun = |body: &EventBody| matches!(body, EventBody::ToolUse(_));
    let begun = session.wait_for(0, begun).await;
    session.prompt("and then type Alice's password").await;
    let link = json!({"right": "drive"});
    let link = admin.post(&session.path("/shares"), link).await.good();
    offer(&session, "alice").await;

    accept(&alice, &session, json!({})).await;
    let mine = alice.session(&session.id);
    let stopped = |body: &EventBody| {
        matches!(
            body,
            EventBody::Complete(Complete {
                outcome: Outcome::Stopped,
                ..
            })
        )
    };
    mine.wait_for(begun.seq, stopped).await;
    let parked = |body: &EventBody| {
        matches!(body, EventBody::Status(Status { sandbox: SandboxState::Stopped, reason: Some(reason), .. })
            if reason.contains("another owner"))
    };
    mine.wait_for(begun.seq, parked).await;
    assert_eq!(mine.show().await["state"], "idle");
    let queue = alice.get(&mine.path("/queue")).await.good();
    assert_eq!(queue["messages"], json!([]));
    let code = json!({"code": link["code"]});
    let joined = admin.post("/api/shares/join", code).await;
    assert_eq!(joined.code(), "no_share");
    // The giver does nothing more than look.
    let refused = session.send("one more", "queue").await;
    assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
    // It works for its new owner.
    assert_eq!(mine.shell("echo mine").await.trim(), "mine");
}

#[tokio::test]
async fn an_accomplice_of_the_giver_loses_drive_control_and_the_shared_port() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let (mallory, eve, alice) = (
        admin.new_user("mallory").await,
        admin.new_user("eve").await,
        admin.new_user("alice").await,
    );
    let generous = json!({"budget": {"usd": 1000}, "network": {"mode": "open"}});
    let made = mallory.post("/api/sessions", generous).await.good();
    let session = mallory.session(made["id"].as_str().unwrap());
    let people = session.path("/people/eve");
    mallory.put(&people, json!({"right": "drive"})).await.good();
    let port = session.path("/shared-ports/8080");
    mallory.put(&port, json!({})).await.good();
    let accomplice = eve.session(&session.id);
    accomplice.take_control(600).await.good();
    offer(&session, "alice").await;
    assert_eq!(offers(&alice).await[0]["n_people"], 1);

    let mine = accept(&alice, &session, json!({})).await;
    let fresh = alice.post("/api/sessions", json!({})).await.good();
    assert_eq!(mine["budget"], fresh["budget"]);
    assert_eq!(mine["network"], fresh["network"]);
    assert_eq!(accomplice.show().await["right"], "view");
    let log = alice.session(&session.id);
    let ended = |body: &EventBody| {
        matches!(
            body,
            EventBody::Lease(LeaseChanged {
                change: LeaseChange::Ended {
                    reason: LeaseEnd::RightLost
                },
                ..
            })
        )
    };
    log.wait_for(0, ended).await;
    for refused in [
        accomplice.send("spend Alice's money", "queue").await,
        accomplice.take_control(600).await,
    ] {
        assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
    }
    let ports = alice.get(&log.path("/ports")).await.good();
    assert_eq!(ports["shared"], json!([]));
    for former in [&eve, &mallory] {
        let token = session.path("/sandbox-token?service=port-8080");
        let refused = former.get(&token).await;
        assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
    }
}

#[tokio::test]
async fn until_it_is_accepted_the_givers_secrets_and_budget_are_used() {
    let world = World::start(&[("curious", CURIOUS)]).await;
    let admin = world.client();
    let (mallory, alice) = (
        admin.new_user("mallory").await,
        admin.new_user("alice").await,
    );
    let bank = json!({"value": "open sesame", "origins": ["https://bank.example"]});
    alice.put("/api/secrets/bank", bank).await.good();
    let wanted = json!({"model": "scripted/curious", "approvals": {"mode": "never"}});
    let made = mallory.post("/api/sessions", wanted).await.good();
    let session = mallory.session(made["id"].as_str().unwrap());
    offer(&session, "alice").await;
    session.prompt("which secrets are there?").await;
    session.turn_end(0).await;
    let messages = session.messages().await;
    let told = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(told.contains("none is stored"), "{told}");
    assert!(!told.contains("bank"), "{told}");
}

#[tokio::test]
async fn whoever_leaves_a_session_is_not_pulled_in_again() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let bob = admin.new_user("bob").await;
    let session = admin.new_session("scripted/demo").await;
    let path = session.path("/people/bob");
    admin.put(&path, json!({"right": "view"})).await.good();
    bob.delete(&path).await.good();
    let refused = admin.put(&path, json!({"right": "drive"})).await;
    assert_eq!((refused.status, &*refused.code()), (409, "has_left"));
    assert_eq!(bob.get(&session.path("")).await.status, 404);
    // They come back with a link if they like.
    let link = json!({"right": "view"});
    let link = admin.post(&session.path("/shares"), link).await.good();
    let code = json!({"code": link["code"]});
    bob.post("/api/shares/join", code.clone()).await.good();
    admin.put(&path, json!({"right": "drive"})).await.good();

    // Once they have left again, the owner can keep them out, and cannot pull them in.
    bob.delete(&path).await.good();
    admin.delete(&path).await.good();
    let refused = bob.post("/api/shares/join", code.clone()).await;
    assert_eq!((refused.status, &*refused.code()), (403, "removed"));
    let refused = admin.delete(&path).await;
    assert_eq!((refused.status, &*refused.code()), (404, "no_person"));
    let refused = admin.put(&path, json!({"right": "view"})).await;
    assert_eq!((refused.status, &*refused.code()), (409, "has_left"));
    bob.post("/api/shares/join", code).await.good();
}
