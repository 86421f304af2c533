//! Seals bind a value to its row.

use deskhand_store::KeyFile;

use super::*;

fn origins(texts: &[&str]) -> Vec<Origin> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

async fn keys(folder: &tempfile::TempDir) -> Keys {
    let file = KeyFile::at(folder.path().join("secrets.key"));
    file.read_or_make().await.unwrap()
}

fn sealed(keys: &Keys, about: &[u8], value: SealedValue) -> SealedValue {
    let key = keys.newest();
    SealedValue {
        key: key.id().to_owned(),
        sealed: key.seal(&Secret::new("open sesame"), about).unwrap(),
        ..value
    }
}

fn bank() -> SealedValue {
    SealedValue {
        user: UserId::new(),
        name: "bank".parse().unwrap(),
        origins: origins(&["https://bank.example", "https://login.example"]),
        http: None,
        key: String::new(),
        sealed: Vec::new(),
        seal_version: SEAL_VERSION,
    }
}

#[tokio::test]
async fn a_secret_whose_origins_were_changed_in_the_database_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder).await;
    let bank = bank();
    let about = about(bank.user, &bank.name, &bank.origins, None);
    let bank = sealed(&keys, &about, bank);
    assert_eq!(open(&keys, &bank).unwrap(), Secret::new("open sesame"));

    let others = [
        "https://bank.example",
        "https://login.example",
        "https://evil.example",
    ];
    for widened in [&others[..], &others[..1], &others[1..], &[]] {
        for seal_version in [1, 2, 3, 4].map(SealVersion) {
            let changed = SealedValue {
                origins: origins(widened),
                seal_version,
                ..bank.clone()
            };
            let opened = open(&keys, &changed);
            assert!(
                matches!(opened, Err(LockedError::Damaged(_))),
                "{changed:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_secret_whose_use_was_changed_in_the_database_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder).await;
    let http = |headers: &[&str], env: &str| {
        let headers = headers.iter().map(|name| name.parse().unwrap()).collect();
        let env = env.parse().unwrap();
        Some(HttpUse { headers, env })
    };
    let uses = [
        None,
        http(&["authorization"], "TOKEN"),
        http(&["authorization", "x-key"], "TOKEN"),
        http(&["x-key"], "TOKEN"),
        http(&["authorization"], "OTHER"),
    ];
    for sealed_with in &uses {
        let bank = bank();
        let about = about(bank.user, &bank.name, &bank.origins, sealed_with.as_ref());
        let bank = sealed(&keys, &about, bank);
        for found in &uses {
            for seal_version in [1, 2, 3].map(SealVersion) {
                let changed = SealedValue {
                    http: found.clone(),
                    seal_version,
                    ..bank.clone()
                };
                let is_same = found == sealed_with && seal_version == SEAL_VERSION;
                assert_eq!(open(&keys, &changed).is_ok(), is_same, "{changed:?}");
            }
        }
    }
}

#[tokio::test]
async fn secrets_sealed_by_earlier_versions_open_but_gain_no_new_use() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder).await;
    let bank = bank();
    let contexts = [
        about_without_origins(bank.user, &bank.name),
        about_without_use(bank.user, &bank.name, &bank.origins),
    ];
    for (seal_version, about) in [1, 2].map(SealVersion).into_iter().zip(contexts) {
        let bank = SealedValue {
            seal_version,
            ..sealed(&keys, &about, bank.clone())
        };
        assert_eq!(open(&keys, &bank).unwrap(), Secret::new("open sesame"));
        let widened = SealedValue {
            http: Some(HttpUse {
                headers: vec!["authorization".parse().unwrap()],
                env: "TOKEN".parse().unwrap(),
            }),
            ..bank
        };
        assert!(open(&keys, &widened).is_err(), "{widened:?}");
    }
}
