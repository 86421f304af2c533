//! Users, codes and cookies.

use std::time::Duration;

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::UserId,
    user::{Scope, UserRole},
};
use deskhand_store::{ChangedUser, NewUser, UserChange};
use futures::future::join_all;

use crate::{World, on_both_databases};

on_both_databases! {
    a_code_is_good_once_and_in_time,
    a_cookie_ends_with_its_time_and_with_signing_out,
    names_are_taken_once_whatever_their_case,
    users_are_listed_in_pages,
    whoever_is_disabled_is_signed_out_in_the_same_step,
    an_administrator_always_stays,
}

async fn a_code_is_good_once_and_in_time(world: World) {
    let now = SystemClock.now();
    let later = now + Duration::from_secs(60);
    world
        .store
        .insert_sign_in_code(world.user, "code", now, later)
        .await
        .unwrap();
    let tries = join_all((0..8).map(|_| world.store.take_sign_in_code("code", now))).await;
    assert_eq!(
        tries
            .into_iter()
            .filter(|user| *user.as_ref().unwrap() == Some(world.user))
            .count(),
        1
    );

    world
        .store
        .insert_sign_in_code(world.user, "late", now, later)
        .await
        .unwrap();
    assert_eq!(
        world.store.take_sign_in_code("late", later).await.unwrap(),
        None
    );
}

async fn a_cookie_ends_with_its_time_and_with_signing_out(world: World) {
    let now = SystemClock.now();
    let later = now + Duration::from_secs(60);
    for cookie in ["one", "two"] {
        world
            .store
            .insert_login(world.user, cookie, now, later)
            .await
            .unwrap();
    }
    assert!(
        world
            .store
            .identity_of_login("one", now)
            .await
            .unwrap()
            .is_some_and(|identity| identity.user == world.user
                && identity.scope == Scope::Admin
                && identity.expires_at == Some(later))
    );
    assert!(
        world
            .store
            .identity_of_login("one", later)
            .await
            .unwrap()
            .is_none()
    );
    world.store.delete_login("two").await.unwrap();
    assert!(
        world
            .store
            .identity_of_login("two", now)
            .await
            .unwrap()
            .is_none()
    );
}

async fn names_are_taken_once_whatever_their_case(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let again = NewUser {
        id: UserId::new(),
        name: "BOB",
        role: UserRole::Member,
        created_at: SystemClock.now(),
    };
    assert!(!world.store.insert_user(again).await.unwrap());
    let rename = |name| UserChange {
        name: Some(name),
        ..UserChange::default()
    };
    let store = &world.store;
    assert_eq!(
        store.change_user(bob, rename("Ada")).await.unwrap(),
        ChangedUser::NameTaken
    );
    // One's own name in another case is not somebody else's.
    let ChangedUser::Changed(renamed) = store.change_user(bob, rename("Bob")).await.unwrap() else {
        panic!("not renamed");
    };
    assert_eq!(renamed.name, "Bob");
    let found = store.user_named("bOB").await.unwrap();
    assert_eq!(found, Some(renamed));
    assert_eq!(
        store
            .change_user(UserId::new(), rename("eve"))
            .await
            .unwrap(),
        ChangedUser::NoUser
    );
}

async fn users_are_listed_in_pages(world: World) {
    for name in ["bob", "eve", "joe"] {
        world.user_named(name, UserRole::Member).await;
    }
    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page = world.store.users(after, 3).await.unwrap();
        assert!(page.users.len() <= 3);
        names.extend(page.users.into_iter().map(|user| user.name));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(names, ["ada", "bob", "eve", "joe"]);
}

async fn whoever_is_disabled_is_signed_out_in_the_same_step(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let now = SystemClock.now();
    let later = now + Duration::from_secs(60);
    let store = &world.store;
    store.insert_login(bob, "cookie", now, later).await.unwrap();
    store
        .insert_sign_in_code(bob, "code", now, later)
        .await
        .unwrap();
    for active in [false, true] {
        let change = UserChange {
            active: Some(active),
            ..UserChange::default()
        };
        store.change_user(bob, change).await.unwrap();
        // Not even when they are enabled again.
        assert_eq!(store.identity_of_login("cookie", now).await.unwrap(), None);
        assert_eq!(store.take_sign_in_code("code", now).await.unwrap(), None);
    }
}

async fn an_administrator_always_stays(world: World) {
    let disable = || UserChange {
        active: Some(false),
        ..UserChange::default()
    };
    let store = &world.store;
    assert_eq!(
        store.change_user(world.user, disable()).await.unwrap(),
        ChangedUser::LastAdmin
    );
    let demote = UserChange {
        role: Some(UserRole::Member),
        ..UserChange::default()
    };
    assert_eq!(
        store.change_user(world.user, demote).await.unwrap(),
        ChangedUser::LastAdmin
    );

    let mut admins = vec![world.user];
    for name in ["bob", "eve", "joe"] {
        admins.push(world.user_named(name, UserRole::Admin).await);
    }
    let changes = admins
        .iter()
        .map(|admin| store.change_user(*admin, disable()));
    let refused = join_all(changes)
        .await
        .into_iter()
        .filter(|change| *change.as_ref().unwrap() == ChangedUser::LastAdmin)
        .count();
    assert_eq!(refused, 1);
    assert!(store.admin().await.unwrap().is_some());
}
