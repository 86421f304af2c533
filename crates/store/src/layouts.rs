//! The arrangement of each user's session page.

use deskhand_core::id::UserId;

use crate::database::{Store, StoreError, from_json, json};

impl Store {
    /// Returns the layout of a user, if they have one.
    pub async fn layout(&self, user: UserId) -> Result<Option<serde_json::Value>, StoreError> {
        let sql = "SELECT layout FROM users WHERE id = $1 AND layout IS NOT NULL";
        let row = self.one(sql, [user.0.into()]).await?;
        row.map(|row| from_json(row.get("layout")?)).transpose()
    }

    /// Replaces the layout of a user.
    pub async fn set_layout(
        &self,
        user: UserId,
        layout: &serde_json::Value,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE users SET layout = $1 WHERE id = $2";
        let mut tx = self.begin().await?;
        tx.execute(sql, [json(layout)?.into(), user.0.into()])
            .await?;
        tx.commit().await
    }
}
