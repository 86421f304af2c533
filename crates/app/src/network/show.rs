//! Shows the network of a session to people.

use deskhand_core::{
    id::SessionId,
    network::{
        policy::{NetworkMode, NetworkPolicy},
        record::DestinationPage,
    },
    viewer::Viewer,
};

use super::NetworkAccess;
use crate::{FindError, sessions::find::find};

/// The network of a session.
#[derive(Debug)]
pub struct NetworkOverview {
    pub policy: NetworkPolicy,
    /// The effective mode: that of the policy, or the deployment's ceiling if it is stricter.
    pub in_force: NetworkMode,
    /// The loosest mode that the session can have.
    pub ceiling: NetworkMode,
    /// The number of open connections.
    pub n_open: usize,
    /// The bytes that the session has transferred, in both directions.
    pub transferred_bytes: u64,
    /// The maximum number of bytes that it may transfer.
    pub most_bytes: Option<u64>,
    pub page: DestinationPage,
}

impl NetworkAccess {
    /// Returns the network of a session, with a page of its destinations.
    pub async fn overview(
        &self,
        viewer: Viewer,
        id: SessionId,
        skip: u32,
        limit: u32,
    ) -> Result<NetworkOverview, FindError> {
        let parts = &self.0.parts;
        let session = find(&parts.store, viewer, id).await?;
        let ceiling = self.0.bounds.ceiling;
        let traffic = self.all_traffic().get(&id).cloned();
        Ok(NetworkOverview {
            in_force: session.network.mode.min(ceiling),
            policy: session.network,
            ceiling,
            n_open: traffic.map_or(0, |traffic| traffic.n_open()),
            transferred_bytes: parts.store.transferred_bytes(id).await?,
            most_bytes: parts.settings.session_bytes,
            page: parts.store.destinations(id, skip, limit).await?,
        })
    }
}
