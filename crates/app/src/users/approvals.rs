//! What the agent must ask in new sessions, as each user wants it.

use deskhand_core::{
    id::UserId,
    policy::{BadPolicy, Policy},
};
use deskhand_store::StoreError;

use super::Users;

/// Why a policy was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SetApprovalsError {
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error("could not store the policy")]
    Store(#[from] StoreError),
}

impl Users {
    /// What a user's new sessions begin with.
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
