//! The audit log.

use deskhand_core::{
    audit::{AuditFilter, AuditStamp, Requester},
    clock::{Clock, SystemClock},
    id::UserId,
    limits::UserLimits,
    right::Right,
    user::{Scope, Token, UserRole},
};
use deskhand_store::{NewToken, UserChange};

use crate::{World, on_both_databases};

on_both_databases! {
    every_change_is_recorded_with_who_what_whom_and_where,
    entries_are_found_by_user_action_and_subject_in_pages,
    a_change_that_is_refused_leaves_no_entry,
}

/// The first user at an address.
fn at_address(world: &World) -> AuditStamp {
    let by = Requester {
        user: Some(world.user),
        token: None,
        address: Some([192, 0, 2, 7].into()),
    };
    by.at(SystemClock.now())
}

async fn all(world: &World, filter: AuditFilter) -> Vec<String> {
    let mut found = Vec::new();
    let mut filter = AuditFilter { limit: 2, ..filter };
    loop {
        let page = world.store.audit(&filter).await.unwrap();
        assert!(page.entries.len() <= 2);
        found.extend(page.entries.iter().map(|entry| {
            let who = entry.actor_name.as_deref().unwrap_or("the server");
            format!("{who} {}", entry.summary())
        }));
        filter.before = page.next;
        if filter.before.is_none() {
            return found;
        }
    }
}

async fn new_token(world: &World, user: UserId, stamp: AuditStamp) {
    let token = Token {
        id: deskhand_core::id::TokenId::new(),
        name: "ci".to_owned(),
        prefix: "dh_".to_owned(),
        scope: Scope::Write,
        created_at: stamp.at,
        expires_at: None,
        last_used_at: None,
    };
    let new = NewToken {
        user,
        hash: &token.id.to_string(),
        token: &token,
    };
    assert!(world.store.insert_token(new, 9, stamp).await.unwrap());
}

async fn every_change_is_recorded_with_who_what_whom_and_where(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let (store, stamp) = (&world.store, at_address(&world));
    let promote = UserChange {
        role: Some(UserRole::Admin),
        ..UserChange::default()
    };
    store.change_user(bob, promote, stamp).await.unwrap();
    let limits = UserLimits::default();
    store.set_user_limits(bob, limits, stamp).await.unwrap();
    let granted = store.grant(session, bob, Right::Drive, 9, stamp).await;
    granted.unwrap();
    let rename = UserChange {
        name: Some("Robert"),
        ..UserChange::default()
    };
    store.change_user(bob, rename, stamp).await.unwrap();

    let entries = all(&world, AuditFilter::default()).await;
    assert_eq!(
        entries,
        [
            "ada changed the user Robert: the name was bob",
            "ada gave bob the right drive in a session",
            "ada set the limits of bob",
            "ada changed the user bob: the role is admin",
            "ada added the user bob as member",
            "the server added the user ada as admin",
        ]
    );
    let newest = AuditFilter {
        limit: 1,
        ..AuditFilter::default()
    };
    let newest = store.audit(&newest).await.unwrap().entries.remove(0);
    assert_eq!((newest.actor, newest.user), (Some(world.user), Some(bob)));
    assert_eq!(newest.address.as_deref(), Some("192.0.2.7"));
    assert_eq!(newest.at.as_millisecond(), stamp.at.as_millisecond());
}

async fn entries_are_found_by_user_action_and_subject_in_pages(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    new_token(&world, world.user, world.stamp()).await;
    new_token(&world, bob, Requester::from(bob).at(SystemClock.now())).await;
    let of = async |user, action: Option<&str>| {
        let filter = AuditFilter {
            user,
            action: action.map(str::to_owned),
            ..AuditFilter::default()
        };
        all(&world, filter).await
    };
    let token = "created the token ci with the scope write";
    assert_eq!(
        of(Some(bob), None).await,
        [
            format!("bob {token}"),
            "ada added the user bob as member".to_owned()
        ]
    );
    assert_eq!(of(None, Some("token")).await.len(), 2);
    assert_eq!(of(None, Some("token.created")).await.len(), 2);
    assert_eq!(of(Some(bob), Some("user")).await.len(), 1);
    assert_eq!(of(None, Some("tok")).await, Vec::<String>::new());
    assert_eq!(of(None, Some("%")).await, Vec::<String>::new());
}

async fn a_change_that_is_refused_leaves_no_entry(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let before = all(&world, AuditFilter::default()).await;
    let (store, stamp) = (&world.store, world.stamp());
    let disable = UserChange {
        active: Some(false),
        ..UserChange::default()
    };
    store.change_user(world.user, disable, stamp).await.unwrap();
    let token = deskhand_core::id::TokenId::new();
    assert!(!store.delete_token(bob, token, stamp).await.unwrap());
    let session = world.session().await;
    let granted = store.grant(session, bob, Right::View, 0, stamp).await;
    granted.unwrap();
    // Nor does one that changes nothing.
    let same = UserChange::default();
    store.change_user(bob, same, stamp).await.unwrap();
    assert_eq!(all(&world, AuditFilter::default()).await, before);
}
