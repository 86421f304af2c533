//! Reading the audit log.

use deskhand_core::{
    audit::{AuditFilter, AuditPage},
    id::UserId,
};

use super::users::Users;
use crate::InternalError;

impl Users {
    /// Lists the audited changes of all users, newest first. For administrators.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditPage, InternalError> {
        Ok(self.store.audit(filter).await?)
    }

    /// Lists the changes that a user made, and those that others made to their account or rights, newest first. The
    /// addresses and tokens of the others are left out.
    pub async fn history(
        &self,
        user: UserId,
        filter: AuditFilter,
    ) -> Result<AuditPage, InternalError> {
        let filter = AuditFilter {
            user: Some(user),
            ..filter
        };
        let mut page = self.store.audit(&filter).await?;
        for entry in &mut page.entries {
            if entry.actor != Some(user) {
                entry.address = None;
                entry.token_name = None;
            }
        }
        Ok(page)
    }
}
