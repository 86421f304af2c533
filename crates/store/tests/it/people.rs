//! Users.

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::UserId,
    user::UserRole,
};
use deskhand_store::{ChangedUser, NewUser, UserChange};
use futures::future::join_all;

use crate::{World, on_both_databases};

on_both_databases! {
    names_are_taken_once_whatever_their_case,
    users_are_listed_in_pages,
    an_administrator_always_stays,
}

async fn names_are_taken_once_whatever_their_case(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let again = NewUser {
        id: UserId::new(),
        name: "BOB",
        role: UserRole::Member,
        created_at: SystemClock.now(),
    };
    assert!(!world.store.insert_user(again, world.stamp()).await.unwrap());
    let rename = |name| UserChange {
        name: Some(name),
        ..UserChange::default()
    };
    let store = &world.store;
    assert_eq!(
        store
            .change_user(bob, rename("Ada"), world.stamp())
            .await
            .unwrap(),
        ChangedUser::NameTaken
    );
    // One's own name in another case is not somebody else's.
    let ChangedUser::Changed(renamed) = store
        .change_user(bob, rename("Bob"), world.stamp())
        .await
        .unwrap()
    else {
        panic!("not renamed");
    };
    assert_eq!(renamed.name, "Bob");
    let found = store.user_named("bOB").await.unwrap();
    assert_eq!(found, Some(renamed));
    assert_eq!(
        store
            .change_user(UserId::new(), rename("eve"), world.stamp())
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

async fn an_administrator_always_stays(world: World) {
    let disable = || UserChange {
        active: Some(false),
        ..UserChange::default()
    };
    let store = &world.store;
    assert_eq!(
        store
            .change_user(world.user, disable(), world.stamp())
            .await
            .unwrap(),
        ChangedUser::LastAdmin
    );
    let demote = UserChange {
        role: Some(UserRole::Member),
        ..UserChange::default()
    };
    assert_eq!(
        store
            .change_user(world.user, demote, world.stamp())
            .await
            .unwrap(),
        ChangedUser::LastAdmin
    );

    let mut admins = vec![world.user];
    for name in ["bob", "eve", "joe"] {
        admins.push(world.user_named(name, UserRole::Admin).await);
    }
    let changes = admins
        .iter()
        .map(|admin| store.change_user(*admin, disable(), world.stamp()));
    let refused = join_all(changes)
        .await
        .into_iter()
        .filter(|change| *change.as_ref().unwrap() == ChangedUser::LastAdmin)
        .count();
    assert_eq!(refused, 1);
    assert!(store.admin().await.unwrap().is_some());
}
