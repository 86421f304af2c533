//! Approval policies of sessions, and the defaults of users.

use deskhand_core::{
    id::{SessionId, UserId},
    policy::Policy,
};

use crate::database::{Row, Store, StoreError, from_json, json};

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
    ) -> Result<(), StoreError> {
        let sql = "UPDATE users SET approvals = $1 WHERE id = $2";
        self.write(sql, [json(policy)?.into(), user.0.into()])
            .await?;
        Ok(())
    }

    /// Returns the policy of a session. Returns `None` if there is no such session.
    pub async fn approvals(&self, session: SessionId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM sessions WHERE id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }
}

pub(crate) fn policy(row: &Row) -> Result<Policy, StoreError> {
    from_json(row.get("approvals")?)
}
