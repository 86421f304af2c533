//! The network of a session, and the list of a user.

use deskhand_api::{
    network::{DestinationView, NetworkView, OwnNetworkView},
    sessions::{ChangeSessionBody, SessionView},
};
use deskhand_core::{id::SessionId, network::policy::NetworkPolicy};
use reqwest::Method;

use super::{CallError, Client};

impl Client {
    /// Sets the network of a session.
    pub(crate) async fn set_network(
        &self,
        session: SessionId,
        policy: NetworkPolicy,
    ) -> Result<(), CallError> {
        let path = format!("/api/sessions/{session}");
        let change = ChangeSessionBody {
            network: Some(policy),
            ..ChangeSessionBody::default()
        };
        let _session: SessionView = self.call(Method::PATCH, &path, Some(&change)).await?;
        Ok(())
    }

    /// Returns the hosts that all sessions of the user may contact.
    pub(crate) async fn own_network(&self) -> Result<OwnNetworkView, CallError> {
        self.get("/api/me/network").await
    }

    /// Replaces the hosts that all sessions of the user may contact.
    pub(crate) async fn set_own_network(&self, list: &OwnNetworkView) -> Result<(), CallError> {
        let set = self.call(Method::PUT, "/api/me/network", Some(list));
        let _list: OwnNetworkView = set.await?;
        Ok(())
    }

    /// Returns the network of a session, with all its destinations.
    pub(crate) async fn network(&self, session: SessionId) -> Result<NetworkView, CallError> {
        let mut all: Vec<DestinationView> = Vec::new();
        let mut skip = 0;
        loop {
            let path = format!("/api/sessions/{session}/network?limit=200&skip={skip}");
            let mut page: NetworkView = self.get(&path).await?;
            all.append(&mut page.destinations);
            match page.next {
                Some(next) => skip = next,
                None => {
                    page.destinations = all;
                    return Ok(page);
                }
            }
        }
    }
}
