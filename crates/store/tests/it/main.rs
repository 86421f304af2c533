//! The store as the app uses it, on a real database.

#![expect(clippy::unwrap_used, reason = "a surprise here is a failed test")]

mod blobs;
mod log;
mod people;

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::{SessionId, UserId},
};
use deskhand_store::{NewSession, NewUser, Store};

/// A store of its own, with one user.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) user: UserId,
    pub(crate) dir: tempfile::TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir).await;
        let user = UserId::new();
        let new = NewUser {
            id: user,
            name: "ada",
            role: "admin",
            token_hash: "hash-of-ada",
            created_at: SystemClock.now(),
        };
        store.insert_user(new).await.unwrap();
        Self { store, user, dir }
    }

    pub(crate) async fn session(&self) -> SessionId {
        let id = SessionId::new();
        let new = NewSession {
            id,
            owner: self.user,
            title: "",
            model: "scripted/demo",
            metadata: &serde_json::json!({"team": "x"}),
            created_at: SystemClock.now(),
        };
        self.store.insert_session(new).await.unwrap();
        id
    }
}

pub(crate) async fn open(dir: &tempfile::TempDir) -> Store {
    Store::open(&format!("sqlite://{}/test.db", dir.path().display()))
        .await
        .unwrap()
}
