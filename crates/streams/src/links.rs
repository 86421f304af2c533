//! The port to the links by which people watch a session without signing in.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use deskhand_core::{
    id::{SessionId, UserId},
    secret::Secret,
};
use uuid::Uuid;

/// A link by which people watch a session. Whoever has the address can watch.
#[derive(Debug, Clone)]
pub struct WatchLink {
    pub id: Uuid,
    pub url: Secret,
}

/// The reason why a link was not made or revoked, for the log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LinkFailed(pub String);

/// Makes links, and ends them.
#[async_trait]
pub trait WatchLinks: Send + Sync + fmt::Debug {
    /// Makes a link to a session of this owner. It ends after `lifetime`.
    async fn create(
        &self,
        owner: UserId,
        session: SessionId,
        lifetime: Duration,
    ) -> Result<WatchLink, LinkFailed>;

    /// Ends all links to a session.
    async fn revoke_all(&self, owner: UserId, session: SessionId) -> Result<(), LinkFailed>;
}
