//! Counts for the operators of the server.

use deskhand_core::session::Phase;

use crate::database::{Store, StoreError, count};

impl Store {
    /// Checks that the database responds.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.one("SELECT id FROM users LIMIT 1", []).await.map(drop)
    }

    /// Counts the sessions in each phase. A phase without sessions is left out.
    pub async fn n_sessions_by_phase(&self) -> Result<Vec<(Phase, u64)>, StoreError> {
        let sql = "SELECT phase, COUNT(*) AS n FROM sessions GROUP BY phase ORDER BY phase";
        let rows = self.all(sql, []).await?;
        rows.iter()
            .map(|row| {
                let phase: String = row.get("phase")?;
                let phase = phase.parse::<Phase>();
                let phase = phase.map_err(|error| StoreError::Unreadable(error.to_string()))?;
                Ok((phase, count(row.get("n")?)?))
            })
            .collect()
    }

    /// Counts the users who may sign in.
    pub async fn n_active_users(&self) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) AS n FROM users WHERE active";
        match self.one(sql, []).await? {
            Some(row) => count(row.get("n")?),
            None => Ok(0),
        }
    }

    /// Counts the waiting prompts of all sessions that have not ended.
    pub async fn n_waiting_everywhere(&self) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) AS n FROM messages m JOIN sessions s ON s.id = m.session_id \
                   WHERE m.taken_at_ms IS NULL AND m.removed_at_ms IS NULL AND m.role = 'user' \
                   AND s.phase <> $1";
        match self.one(sql, [Phase::Terminated.name().into()]).await? {
            Some(row) => count(row.get("n")?),
            None => Ok(0),
        }
    }
}
