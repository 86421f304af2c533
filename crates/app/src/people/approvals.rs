//! The default approval policy of each user for new sessions.

use deskhand_core::{
    audit::Requester,
    id::UserId,
    policy::{BadPolicy, Policy},
};

use super::users::Users;
use crate::{InternalError, refusal::refusals};

/// The reason why a policy was refused.
#[derive(Debug, thiserror::Error)]
pub enum SetApprovalsError {
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error("could not store the policy")]
    Internal(#[source] InternalError),
}

refusals! {
    SetApprovalsError passes on Internal;
    Self::BadPolicy(_) => Invalid("bad_policy"),
}

impl Users {
    /// Returns the policy that a user's new sessions begin with.
    pub async fn approvals(&self, user: UserId) -> Result<Policy, InternalError> {
        Ok(self
            .store
            .default_approvals(user)
            .await?
            .unwrap_or_default())
    }

    pub async fn set_approvals(
        &self,
        by: Requester,
        user: UserId,
        policy: &Policy,
    ) -> Result<(), SetApprovalsError> {
        policy.check()?;
        let stamp = by.at(self.clock.now());
        let set = self.store.set_default_approvals(user, policy, stamp);
        Ok(set.await?)
    }
}
