//! Seals and what they hold together.

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
    let about = about(bank.user, &bank.name, &bank.origins);
    let bank = sealed(&keys, &about, bank);
    assert_eq!(open(&keys, &bank).unwrap(), Secret::new("open sesame"));

    let others = [
        "https://bank.example",
        "https://login.example",
        "https://evil.example",
    ];
    for widened in [&others[..], &others[..1], &others[1..], &[]] {
        for seal_version in [FIRST_SEAL_VERSION, SEAL_VERSION, SealVersion(3)] {
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
async fn a_secret_from_before_origins_were_sealed_still_opens() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder).await;
    let bank = bank();
    let about = about_without_origins(bank.user, &bank.name);
    let bank = SealedValue {
        seal_version: FIRST_SEAL_VERSION,
        ..sealed(&keys, &about, bank)
    };
    assert_eq!(open(&keys, &bank).unwrap(), Secret::new("open sesame"));
}
