//! Whether the server says truly how it is.

use deskhand_testkit::{Client, ServerOptions};
use serde_json::{Value, json};

use crate::world::{serve, serve_with};

#[tokio::test]
async fn a_server_that_lacks_nothing_is_healthy_in_every_part() {
    let server = serve(&[]);
    let stranger = server.client().with_token("");
    let health = stranger.get("/health").await.good();
    assert_eq!(health["status"], "healthy");
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    for part in ["database", "pictures", "sandboxes", "page"] {
        assert_eq!(health["parts"][part], json!({"status": "healthy"}));
    }
    let document = stranger.document().await;
    document.check("Health", &health).unwrap();
    let jobs: Vec<_> = health["jobs"].as_array().unwrap().iter().collect();
    let names: Vec<_> = jobs
        .iter()
        .map(|job| job["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "sleep",
            "decisions",
            "news",
            "token_uses",
            "leftovers",
            "retention",
            "network",
            "secrets",
            "evals"
        ]
    );
    assert!(
        jobs.iter().all(|job| job["last_result"] != "failed"),
        "{jobs:?}"
    );
}

#[tokio::test]
async fn without_bubblewrap_or_a_place_for_pictures_it_is_degraded() {
    let bubblewrap = "DESKHAND_SANDBOX_BUBBLEWRAP".to_owned();
    let server = serve_with(ServerOptions {
        variables: vec![(bubblewrap, "/nowhere/bwrap".to_owned())],
        ..ServerOptions::default()
    });
    let blobs = server.data_dir().join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::write(&blobs, "in the way").unwrap();
    let health = health_with(&server.client(), 200).await;
    assert_eq!(health["status"], "degraded");
    let parts = &health["parts"];
    assert_eq!(parts["database"]["status"], "healthy");
    for part in ["pictures", "sandboxes"] {
        assert_eq!(parts[part]["status"], "degraded");
        let message = parts[part]["message"].as_str().unwrap();
        assert!(!message.contains(server.home().to_str().unwrap()));
    }
    server
        .client()
        .document()
        .await
        .check("Health", &health)
        .unwrap();
}

#[tokio::test]
async fn without_its_database_it_is_unhealthy() {
    let server = serve(&[]);
    for file in ["deskhand.db", "deskhand.db-wal"] {
        std::fs::write(server.data_dir().join(file), "no database").unwrap();
    }
    let health = health_with(&server.client(), 503).await;
    assert_eq!(health["status"], "unhealthy");
    assert_eq!(health["parts"]["database"]["status"], "unhealthy");
    server
        .client()
        .document()
        .await
        .check("Health", &health)
        .unwrap();
}

async fn health_with(client: &Client, status: u16) -> Value {
    let answer = client.get("/health").await;
    assert_eq!(answer.status, status, "{}", answer.json());
    answer.json()
}
