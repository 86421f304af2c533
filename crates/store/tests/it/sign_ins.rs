//! Codes of sign-in links, and browsers that are signed in.

use std::time::Duration;

use deskhand_core::{
    audit::{AuditFilter, AuditStamp, Requester},
    clock::{Clock, SystemClock},
    id::{SignInId, UserId},
    user::{Scope, UserRole},
};
use deskhand_store::{CodeReason, NewCode, NewSignIn, UserChange, sign_in_id};
use futures::future::join_all;
use jiff::Timestamp;

use crate::{World, on_both_databases};

on_both_databases! {
    a_code_is_good_once_and_in_time,
    a_cookie_ends_with_its_time_when_idle_and_with_signing_out,
    whoever_is_disabled_is_signed_out_in_the_same_step,
    a_sign_in_replaces_the_one_of_the_same_browser,
    sign_ins_are_listed_and_ended_by_their_user_only,
    a_reset_ends_all_sign_ins,
}

const LATER: Duration = Duration::from_secs(60);

async fn new_code(world: &World, user: UserId, hash: &str, now: Timestamp, reason: CodeReason) {
    let new = NewCode {
        user,
        hash,
        expires_at: now + LATER,
        reason,
    };
    let stamp = Requester::from(world.user).at(now);
    world.store.insert_sign_in_code(new, stamp).await.unwrap();
}

fn browser(hash: &str, now: Timestamp) -> NewSignIn<'_> {
    NewSignIn {
        hash,
        browser: Some("Chromium"),
        expires_at: now + LATER,
        replaces: None,
    }
}

/// A stranger at an address.
fn stranger(now: Timestamp) -> AuditStamp {
    let by = Requester {
        address: Some([192, 0, 2, 7].into()),
        ..Requester::SERVER
    };
    by.at(now)
}

async fn sign_in(world: &World, user: UserId, cookie: &str, now: Timestamp) {
    new_code(world, user, cookie, now, CodeReason::Own).await;
    let signed_in = world
        .store
        .sign_in(cookie, browser(cookie, now), stranger(now));
    assert_eq!(signed_in.await.unwrap(), Some(user));
}

async fn user_of(world: &World, cookie: &str, now: Timestamp) -> Option<UserId> {
    let identity = world.store.identity_of_login(cookie, now, now - LATER);
    identity.await.unwrap().map(|identity| identity.user)
}

async fn a_code_is_good_once_and_in_time(world: World) {
    let now = SystemClock.now();
    new_code(&world, world.user, "code", now, CodeReason::Own).await;
    let found = world.store.user_of_code("code", now).await.unwrap();
    assert_eq!(found, Some(world.user), "looking does not use it up");
    let cookies: Vec<_> = (0..8).map(|n| format!("cookie {n}")).collect();
    let tries = cookies.iter().map(|cookie| {
        world
            .store
            .sign_in("code", browser(cookie, now), stranger(now))
    });
    let n_in = join_all(tries)
        .await
        .into_iter()
        .filter(|user| *user.as_ref().unwrap() == Some(world.user))
        .count();
    assert_eq!(n_in, 1);

    new_code(&world, world.user, "late", now, CodeReason::Own).await;
    let late = now + LATER;
    assert_eq!(world.store.user_of_code("late", late).await.unwrap(), None);
    let signed_in = world
        .store
        .sign_in("late", browser("x", late), stranger(late));
    assert_eq!(signed_in.await.unwrap(), None);
}

async fn a_cookie_ends_with_its_time_when_idle_and_with_signing_out(world: World) {
    let now = SystemClock.now();
    for cookie in ["one", "two"] {
        sign_in(&world, world.user, cookie, now).await;
    }
    let store = &world.store;
    let identity = store.identity_of_login("one", now, now - LATER).await;
    let identity = identity.unwrap().unwrap();
    assert_eq!((identity.user, identity.scope), (world.user, Scope::Admin));
    assert_eq!(
        identity.expires_at.map(Timestamp::as_millisecond),
        Some((now + LATER).as_millisecond())
    );
    assert_eq!(user_of(&world, "one", now + LATER).await, None, "too late");

    // Not used since the beginning, and then used.
    let idle_since = now + Duration::from_secs(10);
    let at = now + Duration::from_secs(20);
    let idle = async || {
        store
            .identity_of_login("one", at, idle_since)
            .await
            .unwrap()
    };
    assert!(idle().await.is_none());
    let uses = [("one".to_owned(), now + Duration::from_secs(15))];
    store.note_browser_uses(&uses).await.unwrap();
    assert!(idle().await.is_some());

    store.sign_out("two", world.stamp()).await.unwrap();
    assert_eq!(user_of(&world, "two", now).await, None);
}

async fn whoever_is_disabled_is_signed_out_in_the_same_step(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let now = SystemClock.now();
    sign_in(&world, bob, "cookie", now).await;
    new_code(&world, bob, "code", now, CodeReason::Own).await;
    for active in [false, true] {
        let change = UserChange {
            active: Some(active),
            ..UserChange::default()
        };
        let changed = world.store.change_user(bob, change, world.stamp());
        changed.await.unwrap();
        // Not even when they are enabled again.
        assert_eq!(user_of(&world, "cookie", now).await, None);
        assert_eq!(world.store.user_of_code("code", now).await.unwrap(), None);
    }
}

async fn a_sign_in_replaces_the_one_of_the_same_browser(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let now = SystemClock.now();
    sign_in(&world, bob, "before", now).await;
    new_code(&world, world.user, "code", now, CodeReason::Own).await;
    let new = NewSignIn {
        replaces: Some("before"),
        ..browser("after", now)
    };
    let signed_in = world.store.sign_in("code", new, stranger(now)).await;
    assert_eq!(signed_in.unwrap(), Some(world.user));
    assert_eq!(user_of(&world, "before", now).await, None);
    assert_eq!(user_of(&world, "after", now).await, Some(world.user));
}

async fn sign_ins_are_listed_and_ended_by_their_user_only(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let now = SystemClock.now();
    for cookie in ["one", "two", "three"] {
        sign_in(&world, bob, cookie, now).await;
    }
    sign_in(&world, world.user, "ada", now).await;
    let store = &world.store;
    let browsers = store.browsers(bob, now, now - LATER).await.unwrap();
    assert_eq!(browsers.len(), 3);
    let one = browsers.iter().find(|one| one.id == sign_in_id("one"));
    let one = one.unwrap();
    assert_eq!(one.address.as_deref(), Some("192.0.2.7"));
    assert_eq!(one.name.as_deref(), Some("Chromium"));
    assert!(one.created_at.is_some() && one.last_used_at.is_some());

    let end = async |user, id| store.end_sign_in(user, id, world.stamp()).await.unwrap();
    assert!(!end(world.user, sign_in_id("one")).await, "not theirs");
    assert!(!end(bob, SignInId::new()).await);
    assert!(end(bob, sign_in_id("one")).await);
    assert_eq!(user_of(&world, "one", now).await, None);
    assert_eq!(user_of(&world, "two", now).await, Some(bob));

    new_code(&world, bob, "unused", now, CodeReason::Own).await;
    assert_eq!(store.end_sign_ins(bob, world.stamp()).await.unwrap(), 2);
    assert_eq!(user_of(&world, "two", now).await, None);
    assert_eq!(store.user_of_code("unused", now).await.unwrap(), None);
    assert_eq!(user_of(&world, "ada", now).await, Some(world.user));
}

async fn a_reset_ends_all_sign_ins(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let store = &world.store;
    assert!(!store.has_signed_in(bob).await.unwrap());
    let now = SystemClock.now();
    sign_in(&world, bob, "one", now).await;
    assert!(store.has_signed_in(bob).await.unwrap());
    new_code(&world, bob, "own", now, CodeReason::Own).await;

    new_code(&world, bob, "reset", now, CodeReason::Reset).await;
    assert_eq!(user_of(&world, "one", now).await, None);
    assert_eq!(store.user_of_code("own", now).await.unwrap(), None);
    assert_eq!(store.user_of_code("reset", now).await.unwrap(), Some(bob));
    let filter = AuditFilter {
        user: Some(bob),
        action: Some("sign_in.reset".to_owned()),
        limit: 10,
        ..AuditFilter::default()
    };
    let [reset] = &store.audit(&filter).await.unwrap().entries[..] else {
        panic!("there is one reset");
    };
    assert_eq!(reset.actor, Some(world.user));
    assert_eq!(
        reset.summary(),
        "reset the sign-in of bob, sign-ins ended: 1"
    );
}
