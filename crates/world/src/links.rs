//! Links to watch streams, which lead nowhere.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_core::{
    id::{SessionId, UserId},
    secret::Secret,
};
use deskhand_streams::{LinkFailed, WatchLink, WatchLinks};
use uuid::Uuid;

/// The links that have not been revoked. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct FakeLinks {
    open: Arc<Mutex<HashMap<Uuid, SessionId>>>,
    /// True if no link can be made.
    is_broken: Arc<Mutex<bool>>,
}

impl FakeLinks {
    /// Returns the number of links that are open.
    pub fn n_open(&self) -> usize {
        self.open().len()
    }

    /// Makes it impossible to make links, or possible again.
    pub fn set_broken(&self, is_broken: bool) {
        *self
            .is_broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = is_broken;
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Uuid, SessionId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl WatchLinks for FakeLinks {
    async fn create(
        &self,
        _owner: UserId,
        session: SessionId,
        _lifetime: Duration,
    ) -> Result<WatchLink, LinkFailed> {
        if *self
            .is_broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
        {
            return Err(LinkFailed("the test forbids it".to_owned()));
        }
        let id = Uuid::now_v7();
        self.open().insert(id, session);
        Ok(WatchLink {
            id,
            url: Secret::new(format!("https://desk.example/watch/{id}")),
        })
    }

    async fn revoke_all(&self, _owner: UserId, session: SessionId) -> Result<(), LinkFailed> {
        self.open().retain(|_, shown| *shown != session);
        Ok(())
    }
}
