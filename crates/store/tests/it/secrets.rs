//! Secrets, and the key that they are encrypted with.

use std::{fs::Permissions, os::unix::fs::PermissionsExt};

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::UserId,
    secret::Secret,
    session::Signal,
    user::UserRole,
    vault::{HttpUse, LastUse, Origin, SecretName},
};
use deskhand_store::{
    KeyError, KeyFile, NewSecret, PhaseMove, PutSecret, SealVersion, SealedIn, Transition,
};

use crate::{World, on_both_databases};

on_both_databases! {
    a_secret_is_kept_replaced_and_removed_by_its_owner_only,
    nobody_has_more_secrets_than_they_may,
    a_session_sees_its_owners_secrets_and_what_was_sent_into_it,
    old_values_are_known_until_their_session_ends,
    a_secret_for_http_apis_keeps_its_use_and_its_variable_is_unique,
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn origins(texts: &[&str]) -> Vec<Origin> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

async fn put(world: &World, user: UserId, named: &str, at: &[&str], sealed: &[u8]) -> PutSecret {
    put_for(world, user, named, at, sealed, None).await
}

async fn put_for(
    world: &World,
    user: UserId,
    named: &str,
    at: &[&str],
    sealed: &[u8],
    http: Option<&HttpUse>,
) -> PutSecret {
    let new = NewSecret {
        user,
        name: &name(named),
        key: "key",
        sealed: sealed.to_vec(),
        seal_version: SealVersion(2),
        origins: &origins(at),
        http,
        now: SystemClock.now(),
    };
    world.store.put_secret(new, 2, world.stamp()).await.unwrap()
}

async fn a_secret_is_kept_replaced_and_removed_by_its_owner_only(world: World) {
    let (store, ada) = (&world.store, world.user);
    let bob = world.user_named("bob", UserRole::Member).await;
    assert!(!store.has_secrets().await.unwrap());
    let made = put(&world, ada, "bank", &["https://bank.example"], b"one").await;
    assert_eq!(made, PutSecret::Made);
    assert!(store.has_secrets().await.unwrap());
    assert_eq!(store.secrets(bob).await.unwrap(), []);

    let places = ["https://bank.example", "http://localhost:8000"];
    let replaced = put(&world, ada, "bank", &places, b"two").await;
    assert_eq!(replaced, PutSecret::Replaced);
    let secrets = store.secrets(ada).await.unwrap();
    assert_eq!(secrets.len(), 1);
    assert_eq!(secrets[0].origins, origins(&places));
    assert_eq!(secrets[0].last_use, None);

    assert!(
        !store
            .delete_secret(bob, &name("bank"), world.stamp())
            .await
            .unwrap()
    );
    assert!(
        store
            .delete_secret(ada, &name("bank"), world.stamp())
            .await
            .unwrap()
    );
    assert_eq!(store.secrets(ada).await.unwrap(), []);
}

async fn nobody_has_more_secrets_than_they_may(world: World) {
    for (named, became) in [
        ("a", PutSecret::Made),
        ("b", PutSecret::Made),
        ("c", PutSecret::TooMany),
        ("b", PutSecret::Replaced),
    ] {
        let put = put(&world, world.user, named, &["https://a.example"], b"x").await;
        assert_eq!(put, became, "{named}");
    }
}

async fn a_secret_for_http_apis_keeps_its_use_and_its_variable_is_unique(world: World) {
    let (store, ada) = (&world.store, world.user);
    let bob = world.user_named("bob", UserRole::Member).await;
    let http = |env: &str| HttpUse {
        headers: vec!["authorization".parse().unwrap(), "x-key".parse().unwrap()],
        env: env.parse().unwrap(),
    };
    let (token, other) = (http("TOKEN"), http("OTHER"));
    let at = ["https://api.example"];
    let made = put_for(&world, ada, "api", &at, b"one", Some(&token)).await;
    assert_eq!(made, PutSecret::Made);
    let taken = put_for(&world, ada, "two", &at, b"two", Some(&token)).await;
    assert_eq!(taken, PutSecret::VariableTaken(name("api")));
    let his = put_for(&world, bob, "his", &at, b"his", Some(&token)).await;
    assert_eq!(his, PutSecret::Made);
    let replaced = put_for(&world, ada, "api", &at, b"new", Some(&token)).await;
    assert_eq!(replaced, PutSecret::Replaced);
    put(&world, ada, "typed", &at, b"typed").await;

    let session = world.session().await;
    let usable = store.http_secrets(session).await.unwrap();
    let usable: Vec<_> = usable.into_iter().map(|one| (one.name, one.http)).collect();
    assert_eq!(usable, [(name("api"), Some(token.clone()))]);
    let sealed = store.sealed_secret(session, &name("api")).await.unwrap();
    let sealed = sealed.unwrap();
    assert_eq!(sealed.value.http, Some(token));
    store.note_secret_sent(session, sealed.id).await.unwrap();
    put_for(&world, ada, "api", &at, b"newer", Some(&other)).await;
    let sent = store.secrets_sent(session).await.unwrap();
    assert_eq!(sent[0].http, sealed.value.http, "as it was sealed");
    put(&world, ada, "api", &at, b"typed").await;
    assert!(store.http_secrets(session).await.unwrap().is_empty());
}

async fn a_session_sees_its_owners_secrets_and_what_was_sent_into_it(world: World) {
    let store = &world.store;
    let bob = world.user_named("bob", UserRole::Member).await;
    put(&world, world.user, "mine", &["https://a.example"], b"mine").await;
    put(&world, bob, "his", &["https://a.example"], b"his").await;
    let session = world.session().await;
    assert_eq!(store.secret_names(session).await.unwrap(), [name("mine")]);
    let his = store.sealed_secret(session, &name("his")).await.unwrap();
    assert!(his.is_none());
    let mine = store.sealed_secret(session, &name("mine")).await.unwrap();
    let mine = mine.unwrap();
    assert_eq!(
        (mine.value.user, &*mine.value.key, &*mine.value.sealed),
        (world.user, "key", &b"mine"[..])
    );

    assert!(store.secrets_sent(session).await.unwrap().is_empty());
    for _ in 0..2 {
        store.note_secret_sent(session, mine.id).await.unwrap();
    }
    let sent = store.secrets_sent(session).await.unwrap();
    assert_eq!(sent.len(), 1);
    let last = LastUse {
        at: SystemClock.now(),
        session,
    };
    store.note_secret_use(mine.id, last).await.unwrap();
    let secrets = store.secrets(world.user).await.unwrap();
    assert_eq!(secrets[0].last_use, Some(last));
    assert!(
        store
            .delete_secret(world.user, &name("mine"), world.stamp())
            .await
            .unwrap()
    );
    // It may still be on the session's screen.
    assert_eq!(store.secrets_sent(session).await.unwrap(), sent);
}

async fn old_values_are_known_until_their_session_ends(world: World) {
    let store = &world.store;
    let session = world.session().await;
    let values = async || {
        let sent = store.secrets_sent(session).await.unwrap();
        let values = sent.into_iter().map(|value| value.sealed);
        values.collect::<Vec<_>>()
    };
    let at = ["https://a.example"];
    put(&world, world.user, "bank", &at, b"one").await;
    let bank = store.sealed_secret(session, &name("bank")).await.unwrap();
    let bank = bank.unwrap();
    store.note_secret_sent(session, bank.id).await.unwrap();
    put(&world, world.user, "bank", &at, b"two").await;
    assert_eq!(values().await, [b"one".to_vec()]);
    store.note_secret_sent(session, bank.id).await.unwrap();
    assert_eq!(values().await, [b"two".to_vec(), b"one".to_vec()]);

    // Every value can be sealed again.
    for place in [SealedIn::Secrets, SealedIn::FormerSecrets] {
        let outdated = async |key: &str| {
            let outdated = store.outdated_secrets(place, key, SealVersion(2), 10);
            outdated.await.unwrap()
        };
        assert_eq!(outdated("key").await, []);
        let [old] = &outdated("newer").await[..] else {
            panic!("there is one in {place:?}");
        };
        let reseal = async || {
            let sealed = b"again".to_vec();
            let resealed = store.reseal_secret(place, old, "newer", sealed, SealVersion(2));
            resealed.await.unwrap()
        };
        assert!(reseal().await);
        assert!(!reseal().await, "it was changed meanwhile");
        assert_eq!(outdated("newer").await, []);
    }

    store.forget_former_secrets().await.unwrap();
    assert_eq!(values().await.len(), 2);
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    world.commit(session, end).await.unwrap();
    store.forget_former_secrets().await.unwrap();
    assert_eq!(values().await.len(), 1);
}

#[tokio::test]
async fn a_key_is_made_once_and_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.key");
    let file = KeyFile::at(&path);
    assert!(matches!(file.read().await, Err(KeyError::Missing(_))));
    let (one, other) = tokio::join!(file.read_or_make(), file.read_or_make());
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.newest().id(), other.newest().id());
    let read = file.read().await.unwrap();
    assert_eq!(one.newest().id(), read.newest().id());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(!format!("{one:?}").contains(std::fs::read_to_string(&path).unwrap().trim()));

    for (mode, is_refused) in [(0o644, true), (0o620, true), (0o640, false), (0o400, false)] {
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let read = file.read().await;
        let is_open = matches!(read, Err(KeyError::OpenToOthers { .. }));
        assert_eq!(is_open, is_refused, "{mode:o}");
        assert!(is_refused || read.is_ok());
    }
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();

    std::fs::write(&path, "short").unwrap();
    assert!(matches!(file.read().await, Err(KeyError::Malformed(_))));
    assert!(matches!(
        file.read_or_make().await,
        Err(KeyError::Malformed(_))
    ));
}

#[tokio::test]
async fn a_new_key_seals_and_the_older_ones_still_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.key");
    let file = KeyFile::at(&path);
    assert!(matches!(file.rotate().await, Err(KeyError::Missing(_))));
    let first = file.read_or_make().await.unwrap();
    let value = Secret::new("grüne Wiese");
    let sealed = first.newest().seal(&value, b"about").unwrap();
    let rotated = file.rotate().await.unwrap();
    assert_eq!(rotated.n_older(), 1);
    assert_ne!(rotated.newest().id(), first.newest().id());
    assert_eq!(rotated.newest().open(&sealed, b"about"), None);
    let older = rotated.find(first.newest().id()).unwrap();
    assert_eq!(older.open(&sealed, b"about"), Some(value));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);

    std::fs::write(&path, "short").unwrap();
    assert!(matches!(file.rotate().await, Err(KeyError::Malformed(_))));
}

#[tokio::test]
async fn what_is_sealed_opens_only_with_its_key_and_about_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let key = KeyFile::at(dir.path().join("a"))
        .read_or_make()
        .await
        .unwrap();
    let other = KeyFile::at(dir.path().join("b"))
        .read_or_make()
        .await
        .unwrap();
    let (key, other) = (key.newest(), other.newest());
    assert_ne!(key.id(), other.id());
    let value = Secret::new("grüne Wiese");
    let sealed = key.seal(&value, b"ada/bank").unwrap();
    assert_ne!(sealed, key.seal(&value, b"ada/bank").unwrap());
    assert_eq!(key.open(&sealed, b"ada/bank"), Some(value));
    assert_eq!(key.open(&sealed, b"bob/bank"), None);
    assert_eq!(other.open(&sealed, b"ada/bank"), None);
    assert_eq!(key.open(&sealed[..10], b"ada/bank"), None);
    let mut changed = sealed;
    changed[30] ^= 1;
    assert_eq!(key.open(&changed, b"ada/bank"), None);
}
