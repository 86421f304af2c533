//! Files that answer decisions.

use deskhand_core::{decision::GivenFile, id::DecisionId};

use crate::{
    commit::HeldSession,
    database::{Store, StoreError},
};

impl Store {
    /// Returns the file that answered a decision.
    pub async fn decision_file(&self, id: DecisionId) -> Result<Option<GivenFile>, StoreError> {
        let sql = "SELECT name, bytes FROM decision_files WHERE decision_id = $1";
        let Some(row) = self.one(sql, [id.0.into()]).await? else {
            return Ok(None);
        };
        Ok(Some(GivenFile {
            name: row.get("name")?,
            bytes: row.get("bytes")?,
        }))
    }
}

/// Stores the file that answers a decision.
pub(crate) async fn keep_file(
    session: &mut HeldSession,
    id: DecisionId,
    file: &GivenFile,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO decision_files (decision_id, name, bytes) VALUES ($1, $2, $3)";
    let values = [
        id.0.into(),
        file.name.as_str().into(),
        file.bytes.clone().into(),
    ];
    session.tx.execute(sql, values).await?;
    Ok(())
}
