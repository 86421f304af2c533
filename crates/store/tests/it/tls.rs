//! Connections to PostgreSQL by TLS.

use deskhand_store::{Store, StoreError};

use crate::new_postgres_database;

/// A new database, as somebody whom the server lets in only by TLS.
async fn careful_address(query: &str) -> String {
    let address = new_postgres_database().await;
    let (server, name) = address.rsplit_once('/').unwrap();
    let (name, _) = name.split_once('?').unwrap();
    let (client, connection) =
        tokio_postgres::connect(&format!("{server}/{name}"), tokio_postgres::NoTls)
            .await
            .unwrap();
    tokio::spawn(connection);
    // Tests run side by side, and one server serves them all.
    let make = "DO $$ BEGIN CREATE ROLE careful LOGIN; \
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; \
                GRANT ALL ON SCHEMA public TO careful";
    client.batch_execute(make).await.unwrap();
    format!("{}/{name}?{query}", server.replace("deskhand@", "careful@"))
}

fn root() -> String {
    std::env::var("DESKHAND_TEST_POSTGRES_ROOT")
        .expect("tests by TLS need a server: run them with scripts/with-postgres")
}

async fn open(query: &str) -> Result<Store, String> {
    let opened = Store::open(&careful_address(query).await).await;
    opened.map_err(|error| {
        let mut told = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            told = format!("{told}: {error}");
            cause = error.source();
        }
        told
    })
}

#[tokio::test]
async fn who_asks_for_tls_or_says_nothing_gets_it() {
    for query in ["sslmode=require", "sslmode=prefer", ""] {
        let store = open(query).await.unwrap();
        assert_eq!(store.admin().await.unwrap(), None);
    }
    let told = open("sslmode=disable").await.unwrap_err();
    assert!(told.contains("pg_hba.conf rejects"), "{told}");
}

#[tokio::test]
async fn a_server_is_verified_when_that_is_asked_for() {
    let root = root();
    let verified = format!("sslmode=verify-full&sslrootcert={root}");
    open(&verified).await.unwrap();
    // This machine does not know the certificate.
    let told = open("sslmode=verify-full").await.unwrap_err();
    assert!(told.contains("certificate"), "{told}");
    // The certificate is for 127.0.0.1 only.
    let address = careful_address(&verified).await;
    let elsewhere = address.replace("127.0.0.1", "localhost");
    assert!(matches!(
        Store::open(&elsewhere).await,
        Err(StoreError::Open { .. } | StoreError::Migrate { .. } | StoreError::Database(_))
    ));
}

#[tokio::test]
async fn what_cannot_be_meant_is_told() {
    let told = open("sslmode=verify-most").await.unwrap_err();
    assert!(told.contains("not \"verify-most\""), "{told}");
    let told = open("sslrootcert=/nowhere").await.unwrap_err();
    assert!(told.contains("sslmode=verify-full"), "{told}");
    let told = open("sslmode=verify-full&sslrootcert=/nowhere.crt")
        .await
        .unwrap_err();
    assert!(
        told.contains("could not read the certificates in /nowhere.crt"),
        "{told}"
    );
}
