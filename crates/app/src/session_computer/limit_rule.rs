//! The rule about sandboxes whose limits cannot be enforced.

use deskhand_store::{Store, StoreError};

/// The servers on which a sandbox starts only if its limits can be enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequireLimits {
    Always,
    /// Those with more than one user. With a single one, the sandbox can only harm its owner.
    #[default]
    WithSeveralUsers,
    Never,
}

/// Decides whether a sandbox may start without limits.
#[derive(Debug, Clone)]
pub(crate) struct LimitRule {
    pub(crate) require: RequireLimits,
    pub(crate) store: Store,
}

impl LimitRule {
    /// Returns true if a sandbox must have limits to start now.
    pub(crate) async fn applies(&self) -> Result<bool, StoreError> {
        match self.require {
            RequireLimits::Always => Ok(true),
            RequireLimits::Never => Ok(false),
            RequireLimits::WithSeveralUsers => Ok(self.store.n_active_users().await? > 1),
        }
    }
}
