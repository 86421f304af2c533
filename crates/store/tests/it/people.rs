//! Tokens, codes and cookies.

use std::time::Duration;

use deskhand_core::clock::{Clock, SystemClock};
use futures::future::join_all;

use crate::{World, on_both_databases};

on_both_databases! {
    a_code_is_good_once_and_in_time,
    a_token_names_its_user_and_nobody_else,
    a_cookie_ends_with_its_time_and_with_signing_out,
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

async fn a_token_names_its_user_and_nobody_else(world: World) {
    assert_eq!(
        world
            .store
            .user_of_token("hash-of-ada")
            .await
            .unwrap()
            .unwrap()
            .id,
        world.user
    );
    assert_eq!(
        world.store.user_of_token("hash-of-bob").await.unwrap(),
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
            .user_of_login("one", now)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        world
            .store
            .user_of_login("one", later)
            .await
            .unwrap()
            .is_none()
    );
    world.store.delete_login("two").await.unwrap();
    assert!(
        world
            .store
            .user_of_login("two", now)
            .await
            .unwrap()
            .is_none()
    );
}
