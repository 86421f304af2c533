//! Links by which people watch streams, as the app makes them.

use std::time::Duration;

use async_trait::async_trait;
use deskhand_app::{App, WatchLinkError, watch_path};
use deskhand_core::{
    audit::Requester,
    id::{SessionId, UserId},
    secret::Secret,
    viewer::Viewer,
};
use deskhand_streams::{LinkFailed, WatchLink, WatchLinks};

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

    async fn revoke_all(&self, owner: UserId, session: SessionId) -> Result<(), LinkFailed> {
        let (links, viewer) = (self.app.watch_links(), Viewer::User(owner));
        let open = match links.list(viewer, session).await {
            Ok(open) => open,
            // They have ended with it.
            Err(WatchLinkError::Find(_)) => return Ok(()),
            Err(error) => return Err(failed(&error)),
        };
        for link in open {
            let revoked = links.revoke(viewer, Requester::SERVER, session, link.id);
            match revoked.await {
                // It has ended by itself, with its time or its session.
                Ok(()) | Err(WatchLinkError::NoLink { .. } | WatchLinkError::Find(_)) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Ok(())
    }
}

fn failed(error: &WatchLinkError) -> LinkFailed {
    LinkFailed(error.to_string())
}
