//! Approval policies of sessions, and the defaults of users.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SessionId, UserId},
    policy::Policy,
};

use crate::{
    audit::NewEntry,
    database::{Row, Store, StoreError, Transaction, from_json, json},
};

impl Store {
    /// Returns the policy of a user's new sessions. Returns `None` if there is no such user.
    pub async fn default_approvals(&self, user: UserId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM users WHERE id = $1";
        let row = self.one(sql, [user.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }

    /// Sets the policy of a user's new sessions.
    pub async fn set_default_approvals(
        &self,
        user: UserId,
        policy: &Policy,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let sql = "UPDATE users SET approvals = $1 WHERE id = $2";
        tx.execute(sql, [json(policy)?.into(), user.0.into()])
            .await?;
        let changed = NewEntry::new(AuditAction::DefaultApprovalsChanged).about(user);
        let changed = with_policy(changed, policy);
        changed.append(&mut tx, stamp).await?;
        tx.commit().await
    }

    /// Returns the policy of a session. Returns `None` if there is no such session.
    pub async fn approvals(&self, session: SessionId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM sessions WHERE id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }
}

/// Returns the policy of a user's new sessions.
pub(crate) async fn default_policy(
    tx: &mut Transaction,
    user: UserId,
) -> Result<Policy, StoreError> {
    let sql = "SELECT approvals FROM users WHERE id = $1";
    let row = tx.one(sql, [user.0.into()]).await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("user {user}")))?;
    policy(&row)
}

/// Adds a policy to an audit entry.
pub(crate) fn with_policy(entry: NewEntry, policy: &Policy) -> NewEntry {
    entry.with("mode", policy.mode).with("rules", &policy.rules)
}

pub(crate) fn policy(row: &Row) -> Result<Policy, StoreError> {
    from_json(row.get("approvals")?)
}
