//! Deletes sessions for good, and lists the blobs that they leave behind.

use deskhand_core::{blob::BlobName, id::SessionId, viewer::Viewer};
use jiff::Timestamp;

use crate::{
    commit::lock_row,
    database::{Store, StoreError, millis, parsed},
};

/// The tables that have rows of one session, by the column `session_id`.
const TABLES_OF_A_SESSION: &[&str] = &[
    "answers",
    "attachments",
    "decisions",
    "events",
    "former_secrets",
    "messages",
    "network_destinations",
    "secret_uses",
    "session_blobs",
    "session_departures",
    "session_offers",
    "session_rights",
    "shared_ports",
    "shares",
    "watch_links",
];

impl Store {
    /// Deletes an ended session with its log, messages, decisions, rights and links, and lists its blobs for removal.
    /// Returns `false` if there is no such session, or if it has not ended.
    pub async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        lock_row(&mut tx, id).await?;
        let sql = "SELECT id FROM sessions WHERE id = $1 AND phase = 'terminated'";
        if tx.one(sql, [id.0.into()]).await?.is_none() {
            return Ok(false);
        }
        let sql = "INSERT INTO deleted_sessions (id, owner_id, created_at_ms) \
                   SELECT id, owner_id, created_at_ms FROM sessions WHERE id = $1 AND is_counted";
        tx.execute(sql, [id.0.into()]).await?;
        for table in ["session_blobs", "attachments"] {
            let sql = format!(
                "INSERT INTO blobs_to_remove (blob) \
                 SELECT DISTINCT blob FROM {table} WHERE session_id = $1 ON CONFLICT DO NOTHING"
            );
            tx.execute(&sql, [id.0.into()]).await?;
        }
        // Rows that refer to others go first.
        let sql = "DELETE FROM decision_files \
                   WHERE decision_id IN (SELECT id FROM decisions WHERE session_id = $1)";
        tx.execute(sql, [id.0.into()]).await?;
        let sql = "UPDATE secrets SET last_used_in = NULL WHERE last_used_in = $1";
        tx.execute(sql, [id.0.into()]).await?;
        for table in TABLES_OF_A_SESSION {
            let sql = format!("DELETE FROM {table} WHERE session_id = $1");
            tx.execute(&sql, [id.0.into()]).await?;
        }
        tx.execute("DELETE FROM sessions WHERE id = $1", [id.0.into()])
            .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Returns some of the sessions that ended before `before`, oldest first.
    pub async fn sessions_ended_before(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT id FROM sessions WHERE phase = 'terminated' AND updated_at_ms < $1 \
                   ORDER BY updated_at_ms LIMIT $2";
        let rows = self
            .all(sql, [millis(before), i64::from(limit).into()])
            .await?;
        rows.iter()
            .map(|row| Ok(SessionId(row.get("id")?)))
            .collect()
    }

    /// Forgets deleted sessions that were created before `before`.
    pub async fn forget_deleted_sessions(&self, before: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM deleted_sessions WHERE created_at_ms < $1";
        self.write(sql, [millis(before)]).await?;
        Ok(())
    }

    /// Returns some of the blobs of deleted sessions after `after`, by name. Other sessions may still show them.
    pub async fn blobs_to_remove(
        &self,
        after: Option<&BlobName>,
        limit: u32,
    ) -> Result<Vec<BlobName>, StoreError> {
        let sql = "SELECT blob FROM blobs_to_remove WHERE blob > $1 ORDER BY blob LIMIT $2";
        let after = after.map_or("", BlobName::as_str);
        let rows = self
            .all(sql, [after.into(), i64::from(limit).into()])
            .await?;
        rows.iter().map(|row| parsed(row.get("blob")?)).collect()
    }

    /// Returns true if a session shows this blob, or it is an unsent attachment.
    pub async fn is_blob_shown(&self, blob: &BlobName) -> Result<bool, StoreError> {
        Ok(self.may_see_blob(Viewer::System, blob).await? || self.is_blob_attached(blob).await?)
    }

    /// Takes a blob off the list for removal.
    pub async fn blob_is_settled(&self, blob: &BlobName) -> Result<(), StoreError> {
        let sql = "DELETE FROM blobs_to_remove WHERE blob = $1";
        self.write(sql, [blob.as_str().into()]).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::TABLES_OF_A_SESSION;

    #[test]
    fn every_table_that_refers_to_a_session_is_emptied_with_it() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut missing = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let sql = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for table in sql.split("CREATE TABLE ").skip(1) {
                let (name, body) = table.split_once('(').unwrap();
                let body = body.split(';').next().unwrap_or_default();
                let is_it = |line: &str| {
                    line.trim_start().starts_with("session_id ")
                        && line.contains("REFERENCES sessions (id)")
                };
                let refers = body.lines().any(is_it);
                if refers && !TABLES_OF_A_SESSION.contains(&name.trim()) {
                    missing.push(name.trim().to_owned());
                }
            }
        }
        assert_eq!(missing, Vec::<String>::new());
    }
}
