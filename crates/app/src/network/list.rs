//! The hosts that all sessions of a user may contact, in addition to those of each session's own policy.

use deskhand_core::{
    audit::Requester,
    id::UserId,
    network::{
        policy::{BadNetworkPolicy, MOST_NETWORK_RULES},
        rule::NetworkRule,
    },
};

use super::NetworkAccess;
use crate::{InternalError, refusal::refusals};

/// The reason why a list was refused.
#[derive(Debug, thiserror::Error)]
pub enum SetNetworkListError {
    #[error(transparent)]
    BadList(#[from] BadNetworkPolicy),
    #[error("could not store the list")]
    Internal(#[source] InternalError),
}

refusals! {
    SetNetworkListError passes on Internal;
    Self::BadList(_) => Invalid("bad_network"),
}

impl NetworkAccess {
    /// Returns the hosts that all sessions of a user may contact.
    pub async fn list_of(&self, user: UserId) -> Result<Vec<NetworkRule>, InternalError> {
        Ok(self.0.parts.store.network_list(user).await?)
    }

    /// Replaces the hosts that all sessions of a user may contact, and closes connections that are no longer allowed.
    pub async fn set_list_of(
        &self,
        by: Requester,
        user: UserId,
        list: &[NetworkRule],
    ) -> Result<(), SetNetworkListError> {
        if list.len() > MOST_NETWORK_RULES {
            return Err(BadNetworkPolicy::TooMany.into());
        }
        let parts = &self.0.parts;
        let stamp = by.at(parts.clock.now());
        parts.store.set_network_list(user, list, stamp).await?;
        let sessions: Vec<_> = self.all_traffic().keys().copied().collect();
        let mut failed = None;
        for session in sessions {
            let live = parts.live.get(session);
            if live.is_some_and(|live| live.owner() == user) {
                failed = failed.or(self.recheck(session).await.err());
            }
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
