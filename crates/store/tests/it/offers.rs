//! Offers of sessions.

use std::time::Duration;

use deskhand_core::{
    audit::Requester,
    budget::{Budget, ChangeBudget},
    clock::{Clock, SystemClock},
    event::{EventBody, HandedOver},
    id::{MessageId, SessionId, UserId},
    message::Delivery,
    network::policy::{NetworkMode, NetworkPolicy},
    policy::{Mode, Policy},
    right::Right,
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{
    AcceptOffer, EditSession, Granted, NewOffer, NoOffer, OfferEnd, Offered, QueuePrompt,
};
use jiff::Timestamp;

use crate::{World, commit_at, edit::nothing, on_both_databases};

on_both_databases! {
    a_session_changes_hands_only_when_the_other_accepts,
    nothing_that_the_giver_arranged_goes_on,
    other_people_keep_only_the_rights_that_the_new_owner_agreed_to,
    an_offer_ends_with_its_time_and_when_it_is_ended,
    only_the_owner_offers_and_only_so_much,
}

const LATER: Duration = Duration::from_secs(60);

fn offer_at(session: SessionId, from: UserId, to: UserId, now: Timestamp) -> NewOffer {
    NewOffer {
        session,
        from,
        to,
        expires_at: now + LATER,
    }
}

async fn offer(world: &World, session: SessionId, to: UserId) {
    let new = offer_at(session, world.user, to, SystemClock.now());
    let offered = world.store.offer_session(new, 9, world.stamp()).await;
    assert_eq!(offered.unwrap(), Offered::Made);
}

fn accept(to: UserId) -> AcceptOffer {
    AcceptOffer {
        by: Requester::from(to),
        to,
        giver_keeps: Right::View,
        budget: Budget {
            usd: Some(5.0),
            tokens: None,
        },
        network: NetworkPolicy::default(),
    }
}

async fn right(world: &World, user: UserId, session: SessionId) -> Option<Right> {
    let found = world.store.session(Viewer::User(user), session).await;
    found.unwrap().map(|session| session.right)
}

async fn a_session_changes_hands_only_when_the_other_accepts(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let eve = world.user_named("eve", UserRole::Member).await;
    let session = world.session().await;
    offer(&world, session, bob).await;
    assert_eq!(right(&world, bob, session).await, None, "not even a look");
    assert_eq!(right(&world, world.user, session).await, Some(Right::Owner));
    let refused = world.commit(session, accept(eve)).await;
    assert_eq!(refused.unwrap_err(), NoOffer);

    let accepted = world.commit(session, accept(bob)).await.unwrap();
    assert_eq!(accepted.output, world.user);
    let told = accepted.events[0].read().unwrap().body;
    let handed_over = EventBody::HandedOver(HandedOver {
        from: world.user,
        from_name: "ada".to_owned(),
        to: bob,
        to_name: "bob".to_owned(),
        giver_keeps: Right::View,
    });
    assert_eq!(told, handed_over);
    assert!(accepted.changes_summary);
    assert_eq!(right(&world, bob, session).await, Some(Right::Owner));
    assert_eq!(right(&world, world.user, session).await, Some(Right::View));
    assert_eq!(world.store.people(session).await.unwrap().len(), 2);
    // Once.
    let again = world.commit(session, accept(bob)).await;
    assert_eq!(again.unwrap_err(), NoOffer);
}

async fn nothing_that_the_giver_arranged_goes_on(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let careful = Policy {
        mode: Mode::Always,
        rules: Vec::new(),
    };
    let stamp = world.stamp();
    let set = world.store.set_default_approvals(bob, &careful, stamp);
    set.await.unwrap();
    let careless = EditSession {
        approvals: Some(Policy {
            mode: Mode::Never,
            rules: Vec::new(),
        }),
        budget: Some(ChangeBudget {
            usd: Some(1000.0),
            tokens: None,
        }),
        network: Some(NetworkMode::Open.into()),
        ..nothing(world.user)
    };
    world.commit(session, careless).await.unwrap();
    let prompt = QueuePrompt {
        id: MessageId::new(),
        content: "Type the secret bank".to_owned(),
        author: world.user,
        author_name: "ada".to_owned(),
        delivery: Delivery::default(),
        model: None,
        effort: None,
        attachments: Vec::new(),
        start_url: None,
        queue_length: 9,
    };
    world.commit(session, prompt).await.unwrap();

    offer(&world, session, bob).await;
    let approvals = world.store.approvals(session).await.unwrap().unwrap();
    assert_eq!(approvals.mode, Mode::Never, "an offer changes nothing yet");
    let accepted = world.commit(session, accept(bob)).await.unwrap();
    let approvals = world.store.approvals(session).await.unwrap();
    assert_eq!(approvals, Some(careful.clone()));
    assert_eq!(world.store.waiting(session).await.unwrap(), []);
    let accept = accept(bob);
    let (owner, account) = world.store.session_account(session).await.unwrap().unwrap();
    assert_eq!((owner, account.budget), (bob, accept.budget));
    let (network, _) = world.store.network_rules(session).await.unwrap().unwrap();
    assert_eq!(network, accept.network);
    let changed = accepted.events.last().unwrap().read().unwrap().body;
    let EventBody::Changed(changed) = changed else {
        panic!("{changed:?}");
    };
    assert_eq!(changed.by, bob);
    assert_eq!(changed.approvals, Some(careful));
    assert_eq!(changed.budget, Some(accept.budget));
    assert_eq!(changed.network, Some(accept.network));
}

async fn other_people_keep_only_the_rights_that_the_new_owner_agreed_to(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let eve = world.user_named("eve", UserRole::Member).await;
    let session = world.session().await;
    let (store, stamp) = (&world.store, world.stamp());
    let granted = store.grant(session, eve, Right::Drive, 9, stamp).await;
    assert_eq!(granted.unwrap(), Granted::Given);
    store.share_port(session, 8080, stamp).await.unwrap();
    offer(&world, session, bob).await;
    let open = store.offers_to(bob, SystemClock.now()).await.unwrap();
    assert_eq!((open[0].n_people, open[0].has_instructions), (1, false));
    world.commit(session, accept(bob)).await.unwrap();
    assert_eq!(right(&world, eve, session).await, Some(Right::View));
    assert_eq!(store.shared_ports(session).await.unwrap(), [0_u16; 0]);
}

async fn an_offer_ends_with_its_time_and_when_it_is_ended(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let store = &world.store;
    let now = SystemClock.now();
    offer(&world, session, bob).await;
    let found = store.offers_to(bob, now).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].session, found[0].to), (session, bob));
    let late = now + LATER * 2;
    assert_eq!(store.offers_to(bob, late).await.unwrap(), []);
    assert_eq!(store.offer_of(session, late).await.unwrap(), None);
    let refused = commit_at(store, late, session, accept(bob)).await;
    assert_eq!(refused.unwrap_err(), NoOffer);

    for end in [OfferEnd::Withdrawn, OfferEnd::Declined] {
        offer(&world, session, bob).await;
        let open = store.offer_of(session, now).await.unwrap().unwrap();
        for is_first in [true, false] {
            let ended = store.end_offer(&open, end, world.stamp()).await;
            assert_eq!(ended.unwrap(), is_first);
        }
        let refused = world.commit(session, accept(bob)).await;
        assert_eq!(refused.unwrap_err(), NoOffer);
    }
}

async fn only_the_owner_offers_and_only_so_much(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let eve = world.user_named("eve", UserRole::Member).await;
    let (one, other) = (world.session().await, world.session().await);
    let (store, stamp) = (&world.store, world.stamp());
    let offered = async |session, from, to| {
        let new = offer_at(session, from, to, stamp.at);
        store.offer_session(new, 1, stamp).await.unwrap()
    };
    assert_eq!(offered(one, eve, bob).await, Offered::NotOwner);
    assert_eq!(offered(one, world.user, bob).await, Offered::Made);
    assert_eq!(offered(other, world.user, bob).await, Offered::TooMany);
    assert_eq!(offered(other, world.user, eve).await, Offered::Made);
    // A session is offered to one at a time.
    assert_eq!(offered(one, world.user, bob).await, Offered::Made);
    assert_eq!(store.offers_to(bob, stamp.at).await.unwrap().len(), 1);
}
