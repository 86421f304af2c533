//! Links by which people watch streams, as the app makes them.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_app::{App, WatchLinkError, watch_path};
use deskhand_core::{
    audit::Requester,
    id::{SessionId, UserId, WatchLinkId},
    secret::Secret,
    viewer::Viewer,
};
use deskhand_streams::{LinkFailed, WatchLink, WatchLinks};
use uuid::Uuid;

/// Makes links at one address.
#[derive(Debug)]
pub(super) struct AppLinks {
    pub(super) app: App,
    /// The address at which people reach the server, without a slash at its end.
    pub(super) base: String,
}

#[async_trait]
impl WatchLinks for AppLinks {
    async fn create(
        &self,
        owner: UserId,
        session: SessionId,
        lifetime: Duration,
    ) -> Result<WatchLink, LinkFailed> {
        let links = self.app.watch_links();
        let viewer = Viewer::User(owner);
        let made = links.create(viewer, Requester::SERVER, session, Some(lifetime));
        let (link, token) = made.await.map_err(|error| failed(&error))?;
        Ok(WatchLink {
            id: link.id.0,
            url: Secret::new(format!("{}{}", self.base, watch_path(&token))),
        })
    }

    async fn revoke(
        &self,
        owner: UserId,
        session: SessionId,
        link: Uuid,
    ) -> Result<(), LinkFailed> {
        let (links, viewer) = (self.app.watch_links(), Viewer::User(owner));
        let revoked = links.revoke(viewer, Requester::SERVER, session, WatchLinkId(link));
        match revoked.await {
            // It has ended by itself, with its time or its session.
            Ok(()) | Err(WatchLinkError::NoLink { .. } | WatchLinkError::Find(_)) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &WatchLinkError) -> LinkFailed {
    LinkFailed(error.to_string())
}
