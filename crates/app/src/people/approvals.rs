//! The default policy of each user: what the agent must ask in new sessions.

use deskhand_core::{
    id::UserId,
    policy::{BadPolicy, Policy},
};
use deskhand_store::StoreError;

use super::users::Users;

/// Reasons a policy was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SetApprovalsError {
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error("could not store the policy")]
    Store(#[from] StoreError),
}

impl Users {
    /// Returns the policy that a user's new sessions begin with.
    pub async fn approvals(&self, user: UserId) -> Result<Policy, StoreError> {
        Ok(self
            .store
            .default_approvals(user)
            .await?
            .unwrap_or_default())
    }

    pub async fn set_approvals(
        &self,
        user: UserId,
        policy: &Policy,
    ) -> Result<(), SetApprovalsError> {
        policy.check()?;
        Ok(self.store.set_default_approvals(user, policy).await?)
    }
}
