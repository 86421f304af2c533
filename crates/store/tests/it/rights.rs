//! Rights in sessions, and links that give them.

use std::time::Duration;

use deskhand_core::{
    audit::Requester,
    blob::BlobName,
    clock::{Clock, SystemClock},
    event::{EventBody, Screenshot},
    id::{SessionId, ShareId, UserId},
    right::{Right, Share},
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{AppendEvents, Departure, Granted, Joined, NewShare};
use futures::future::join_all;

use crate::{World, on_both_databases};

on_both_databases! {
    a_right_opens_a_session_and_its_end_closes_it,
    shared_sessions_stand_among_ones_own,
    a_link_raises_a_right_and_never_lowers_it,
    a_link_does_not_undo_what_the_owner_chose,
    whoever_leaves_comes_back_only_by_themselves,
    a_link_for_one_use_lets_one_person_in,
    a_link_ends_with_its_time_and_when_it_is_ended,
    people_and_links_are_bounded,
}

async fn right(world: &World, user: UserId, session: SessionId) -> Option<Right> {
    let viewer = Viewer::User(user);
    let found = world.store.session(viewer, session).await.unwrap();
    found.map(|session| session.right)
}

async fn grant(world: &World, session: SessionId, user: UserId, right: Right) {
    let granted = world.store.grant(session, user, right, 10, world.stamp());
    assert_eq!(granted.await.unwrap(), Granted::Given);
}

async fn share(world: &World, session: SessionId, hash: &str, right: Right) -> Share {
    let now = SystemClock.now();
    let share = Share {
        id: ShareId::new(),
        right,
        created_at: now,
        expires_at: now + Duration::from_secs(60),
        is_single_use: false,
    };
    let new = NewShare {
        session,
        hash,
        share: &share,
    };
    let stored = world.store.insert_share(new, 10, world.stamp()).await;
    assert!(stored.unwrap());
    share
}

async fn a_right_opens_a_session_and_its_end_closes_it(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let blob: BlobName = format!("{}.png", "a".repeat(64)).parse().unwrap();
    let shown = EventBody::Screenshot(Screenshot {
        turn: None,
        call: None,
        blob: blob.clone(),
        width: 1,
        height: 1,
    });
    let store = &world.store;
    let append = AppendEvents::new(std::slice::from_ref(&shown));
    world.commit(session, append).await.unwrap();
    let sees_blob = async |user| {
        let viewer = Viewer::User(user);
        store.may_see_blob(viewer, &blob).await.unwrap()
    };

    assert_eq!(right(&world, world.user, session).await, Some(Right::Owner));
    assert_eq!(right(&world, bob, session).await, None);
    assert!(sees_blob(world.user).await && !sees_blob(bob).await);

    for given in [Right::Drive, Right::View] {
        grant(&world, session, bob, given).await;
        assert_eq!(right(&world, bob, session).await, Some(given));
    }
    assert!(sees_blob(bob).await);
    let viewer = Viewer::User(bob);
    let people = store.people(session).await.unwrap();
    let people: Vec<_> = people
        .iter()
        .map(|person| (person.name.as_str(), person.right))
        .collect();
    assert_eq!(people, [("ada", Right::Owner), ("bob", Right::View)]);

    for is_first in [true, false] {
        let revoked = store.revoke(session, bob, Departure::Removed, world.stamp());
        assert_eq!(revoked.await.unwrap(), is_first);
    }
    assert_eq!(right(&world, bob, session).await, None);
    assert!(!sees_blob(bob).await);
    let listed = store.sessions(viewer, None, 10).await.unwrap();
    assert_eq!(listed.sessions, []);
}

async fn shared_sessions_stand_among_ones_own(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let mut visible = Vec::new();
    for _ in 0..3 {
        visible.push(world.session_of(bob).await);
        let shared = world.session().await;
        grant(&world, shared, bob, Right::Suggest).await;
        visible.push(shared);
        world.session().await;
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = world.store.sessions(Viewer::User(bob), before, 2).await;
        let page = page.unwrap();
        seen.extend(page.sessions.iter().map(|session| session.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    visible.reverse();
    assert_eq!(seen, visible);
    let all = world
        .store
        .sessions(Viewer::System, None, 10)
        .await
        .unwrap();
    assert_eq!(all.sessions.len(), 9);
}

async fn a_link_raises_a_right_and_never_lowers_it(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    share(&world, session, "views", Right::View).await;
    share(&world, session, "drives", Right::Drive).await;
    for (code, then) in [
        ("views", Right::View),
        ("drives", Right::Drive),
        ("views", Right::Drive),
    ] {
        let joined = world.store.join(code, bob, 10, world.stamp()).await;
        assert_eq!(joined.unwrap(), Joined::In(session));
        assert_eq!(right(&world, bob, session).await, Some(then));
    }
    // The owner needs no right and gets no row.
    let joined = world.store.join("views", world.user, 10, world.stamp());
    let joined = joined.await;
    assert_eq!(joined.unwrap(), Joined::In(session));
    assert_eq!(world.store.people(session).await.unwrap().len(), 2);
}

async fn a_link_ends_with_its_time_and_when_it_is_ended(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let other = world.session().await;
    let link = share(&world, session, "code", Right::View).await;
    let store = &world.store;
    let join = async |at| {
        let stamp = Requester::from(bob).at(at);
        store.join("code", bob, 10, stamp).await.unwrap()
    };
    assert_eq!(join(link.expires_at).await, Joined::NoShare);
    assert_eq!(store.shares(session, link.expires_at).await.unwrap(), []);
    let now = SystemClock.now();
    assert_eq!(
        store.shares(session, now).await.unwrap(),
        std::slice::from_ref(&link)
    );
    let soon = now + Duration::from_secs(1);
    store.shorten_shares(soon).await.unwrap();
    assert_eq!(store.shares(session, soon).await.unwrap(), []);
    // A link is ended through its own session only.
    for (session, is_there) in [(other, false), (session, true)] {
        let deleted = store.delete_share(session, link.id, world.stamp());
        assert_eq!(deleted.await.unwrap(), is_there);
    }
    assert_eq!(join(now).await, Joined::NoShare);
    assert_eq!(right(&world, bob, session).await, None);
}

async fn people_and_links_are_bounded(world: World) {
    let session = world.session().await;
    let link = share(&world, session, "code", Right::View).await;
    let (store, stamp) = (&world.store, world.stamp());
    let another = NewShare {
        session,
        hash: "another",
        share: &Share {
            id: ShareId::new(),
            ..link
        },
    };
    assert!(!store.insert_share(another, 1, stamp).await.unwrap());

    let bob = world.user_named("bob", UserRole::Member).await;
    let eve = world.user_named("eve", UserRole::Member).await;
    let give = async |user, right| store.grant(session, user, right, 1, stamp).await.unwrap();
    assert_eq!(give(bob, Right::View).await, Granted::Given);
    assert_eq!(give(bob, Right::Drive).await, Granted::Given);
    assert_eq!(give(eve, Right::View).await, Granted::Full);
    let joined = store.join("code", eve, 1, stamp).await.unwrap();
    assert_eq!(joined, Joined::Full(session));
}

async fn a_link_does_not_undo_what_the_owner_chose(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    share(&world, session, "drives", Right::Drive).await;
    let (store, stamp) = (&world.store, world.stamp());
    let join = async || store.join("drives", bob, 10, stamp).await.unwrap();
    assert_eq!(join().await, Joined::In(session));

    // Lowered.
    grant(&world, session, bob, Right::View).await;
    assert_eq!(join().await, Joined::In(session));
    assert_eq!(right(&world, bob, session).await, Some(Right::View));

    // Removed, also when a new link comes after it.
    let removed = store.revoke(session, bob, Departure::Removed, stamp).await;
    assert!(removed.unwrap());
    assert_eq!(join().await, Joined::Removed);
    share(&world, session, "later", Right::View).await;
    let joined = store.join("later", bob, 10, stamp).await.unwrap();
    assert_eq!(joined, Joined::Removed);
    assert_eq!(right(&world, bob, session).await, None);

    // The owner lets them in again.
    grant(&world, session, bob, Right::Suggest).await;
    assert_eq!(join().await, Joined::In(session));
    assert_eq!(right(&world, bob, session).await, Some(Right::Suggest));
}

async fn whoever_leaves_comes_back_only_by_themselves(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    share(&world, session, "views", Right::View).await;
    grant(&world, session, bob, Right::Drive).await;
    let (store, stamp) = (&world.store, world.stamp());
    let left = store.revoke(session, bob, Departure::Left, stamp).await;
    assert!(left.unwrap());

    let again = store.grant(session, bob, Right::View, 10, stamp).await;
    assert_eq!(again.unwrap(), Granted::Left);
    assert_eq!(right(&world, bob, session).await, None);
    let joined = store.join("views", bob, 10, stamp).await.unwrap();
    assert_eq!(joined, Joined::In(session));
    grant(&world, session, bob, Right::Drive).await;
    assert_eq!(right(&world, bob, session).await, Some(Right::Drive));
}

async fn a_link_for_one_use_lets_one_person_in(world: World) {
    let session = world.session().await;
    let now = SystemClock.now();
    let link = Share {
        id: ShareId::new(),
        right: Right::View,
        created_at: now,
        expires_at: now + Duration::from_secs(60),
        is_single_use: true,
    };
    let new = NewShare {
        session,
        hash: "once",
        share: &link,
    };
    let (store, stamp) = (&world.store, world.stamp());
    assert!(store.insert_share(new, 10, stamp).await.unwrap());
    // The owner does not use it up.
    let joined = store.join("once", world.user, 10, stamp).await.unwrap();
    assert_eq!(joined, Joined::In(session));
    let mut guests = Vec::new();
    for name in ["bob", "eve", "joe"] {
        guests.push(world.user_named(name, UserRole::Member).await);
    }
    let tries = guests
        .iter()
        .map(|guest| store.join("once", *guest, 10, stamp));
    let joined = join_all(tries).await;
    let n_in = joined
        .iter()
        .filter(|joined| *joined.as_ref().unwrap() == Joined::In(session))
        .count();
    assert_eq!(n_in, 1);
    assert_eq!(store.people(session).await.unwrap().len(), 2);
    assert_eq!(store.shares(session, now).await.unwrap(), []);
}
