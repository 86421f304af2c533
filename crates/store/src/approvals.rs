//! Approval policies: those of sessions, and those that a user's new sessions begin with.

use deskhand_core::{
    id::{SessionId, UserId},
    policy::Policy,
};

use crate::database::{Row, Store, StoreError};

impl Store {
    /// What a user's new sessions begin with. `None` when there is no such user.
    pub async fn default_approvals(&self, user: UserId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM users WHERE id = $1";
        let row = self.one(sql, [user.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }

    pub async fn set_default_approvals(
        &self,
        user: UserId,
        policy: &Policy,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE users SET approvals = $1 WHERE id = $2";
        self.write(sql, [written(policy)?.into(), user.0.into()])
            .await?;
        Ok(())
    }

    /// What the agent must ask in a session. `None` when there is no such session.
    pub async fn approvals(&self, session: SessionId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM sessions WHERE id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }

    /// Gives a session another policy; tells whether there is such a session.
    pub async fn set_approvals(
        &self,
        session: SessionId,
        policy: &Policy,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE sessions SET approvals = $1 WHERE id = $2";
        let values = [written(policy)?.into(), session.0.into()];
        Ok(self.write(sql, values).await? > 0)
    }
}

/// A policy as it is stored.
pub(crate) fn written(policy: &Policy) -> Result<String, StoreError> {
    serde_json::to_string(policy).map_err(|error| StoreError::Unreadable(error.to_string()))
}

pub(crate) fn policy(row: &Row) -> Result<Policy, StoreError> {
    let text: String = row.get("approvals")?;
    serde_json::from_str(&text).map_err(|error| StoreError::Unreadable(error.to_string()))
}
