//! API tokens.

use std::time::Duration;

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::{TokenId, UserId},
    user::{Scope, Token, UserRole},
};
use deskhand_store::{NewToken, Store, UserChange};

use crate::{World, new_postgres_database, on_both_databases};

on_both_databases! {
    a_token_names_its_user_until_it_is_revoked,
    a_token_ends_with_its_time_and_while_its_user_is_disabled,
    nobody_has_more_tokens_than_they_may,
    uses_are_noted_and_never_go_back,
}

fn token(name: &str, expires_in: Option<Duration>) -> Token {
    let now = SystemClock.now();
    Token {
        id: TokenId::new(),
        name: name.to_owned(),
        prefix: "dh_abcde".to_owned(),
        scope: Scope::Write,
        created_at: now,
        expires_at: expires_in.map(|life| now + life),
        last_used_at: None,
    }
}

async fn insert(world: &World, user: UserId, hash: &str, token: &Token) {
    let new = NewToken { user, hash, token };
    assert!(
        world
            .store
            .insert_token(new, 10, world.stamp())
            .await
            .unwrap()
    );
}

async fn a_token_names_its_user_until_it_is_revoked(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let (one, two) = (token("one", None), token("two", None));
    insert(&world, world.user, "hash-one", &one).await;
    insert(&world, bob, "hash-two", &two).await;
    let now = SystemClock.now();
    let store = &world.store;
    let found = store.identity_of_token("hash-one", now).await.unwrap();
    let found = found.unwrap();
    assert_eq!(found.user, world.user);
    assert_eq!(found.role, UserRole::Admin);
    assert_eq!(found.scope, Scope::Write);
    assert_eq!(found.token, Some(one.id));
    assert_eq!(
        store.identity_of_token("hash-none", now).await.unwrap(),
        None
    );
    assert_eq!(
        store.tokens(world.user).await.unwrap(),
        std::slice::from_ref(&one)
    );

    assert!(
        !store
            .delete_token(bob, one.id, world.stamp())
            .await
            .unwrap()
    );
    assert!(
        store
            .delete_token(world.user, one.id, world.stamp())
            .await
            .unwrap()
    );
    assert_eq!(
        store.identity_of_token("hash-one", now).await.unwrap(),
        None
    );
    assert_eq!(store.tokens(bob).await.unwrap(), [two]);
}

async fn a_token_ends_with_its_time_and_while_its_user_is_disabled(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let minute = Duration::from_secs(60);
    insert(&world, bob, "hash", &token("short", Some(minute))).await;
    let now = SystemClock.now();
    let store = &world.store;
    let is_good = async |at| store.identity_of_token("hash", at).await.unwrap().is_some();
    assert!(is_good(now).await);
    assert!(!is_good(now + minute).await);
    for active in [false, true] {
        let change = UserChange {
            active: Some(active),
            ..UserChange::default()
        };
        store.change_user(bob, change, world.stamp()).await.unwrap();
        assert_eq!(is_good(now).await, active);
    }
}

async fn nobody_has_more_tokens_than_they_may(world: World) {
    for (hash, kept) in [("a", true), ("b", true), ("c", false)] {
        let token = token(hash, None);
        let new = NewToken {
            user: world.user,
            hash,
            token: &token,
        };
        assert_eq!(
            world
                .store
                .insert_token(new, 2, world.stamp())
                .await
                .unwrap(),
            kept
        );
    }
}

async fn uses_are_noted_and_never_go_back(world: World) {
    let token = token("one", None);
    insert(&world, world.user, "hash", &token).await;
    let now = SystemClock.now();
    let earlier = now - Duration::from_secs(60);
    for at in [now, earlier] {
        world
            .store
            .note_token_uses(&[(token.id, at)])
            .await
            .unwrap();
    }
    let tokens = world.store.tokens(world.user).await.unwrap();
    assert_eq!(tokens[0].last_used_at, Some(now));
}

/// A database as the first version left it, with two tokens of one user.
const FIRST_VERSION: &str = concat!(
    include_str!("../../migrations/0001_sessions.sql"),
    "CREATE TABLE migrations (number BIGINT PRIMARY KEY);
     INSERT INTO migrations (number) VALUES (1);",
);

async fn the_newest_token_goes_on(url: &str, user: UserId) {
    let store = Store::open(url).await.unwrap();
    let now = SystemClock.now();
    let old = store.identity_of_token("old", now).await.unwrap();
    assert_eq!(old, None);
    let new = store.identity_of_token("new", now).await.unwrap().unwrap();
    assert_eq!(
        (new.user, new.role, new.scope),
        (user, UserRole::Admin, Scope::Admin)
    );
    assert!(store.user(user).await.unwrap().unwrap().active);
}

#[tokio::test]
async fn the_token_of_the_first_version_goes_on_in_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.db");
    let user = UserId::new();
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(FIRST_VERSION).unwrap();
    let id = user.0.as_bytes().as_slice();
    old.execute("INSERT INTO users VALUES (?1, 'admin', 'admin', 1)", [id])
        .unwrap();
    for (hash, at) in [("old", 1), ("new", 2)] {
        let sql = "INSERT INTO tokens VALUES (?1, ?2, ?3)";
        old.execute(sql, (hash, id, at)).unwrap();
    }
    drop(old);
    the_newest_token_goes_on(&format!("sqlite://{}", path.display()), user).await;
}

#[tokio::test]
async fn the_token_of_the_first_version_goes_on_in_postgres() {
    let url = new_postgres_database().await;
    let (old, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let user = UserId::new();
    let rows = format!(
        "{FIRST_VERSION} INSERT INTO users VALUES ('{user}', 'admin', 'admin', 1);
         INSERT INTO tokens VALUES ('old', '{user}', 1), ('new', '{user}', 2);"
    );
    old.batch_execute(&rows).await.unwrap();
    the_newest_token_goes_on(&url, user).await;
}
