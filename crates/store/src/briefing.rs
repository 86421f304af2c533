//! The briefing of a session: the beginning of all requests to its models.

use deskhand_core::id::SessionId;

use crate::{
    answers::NoSuchSession,
    commit::{Change, HeldSession},
    database::{Store, StoreError},
};

/// Stores the briefing of a session that has none, and returns the stored one.
#[derive(Debug)]
pub struct FixBriefing<'a> {
    /// JSON.
    pub briefing: &'a str,
}

impl Store {
    /// Returns the briefing of a session, or `None` if it has none yet.
    pub async fn briefing(&self, session: SessionId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT briefing FROM sessions WHERE id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map_or(Ok(None), |row| row.get("briefing"))
    }
}

impl Change for FixBriefing<'_> {
    /// The briefing that the session keeps.
    type Output = String;
    type Refusal = NoSuchSession;

    fn no_session(&self) -> NoSuchSession {
        NoSuchSession
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<String, NoSuchSession>, StoreError> {
        let sql = "SELECT briefing FROM sessions WHERE id = $1";
        let row = session.tx.one(sql, [session.id.0.into()]).await?;
        let row = row.ok_or_else(|| StoreError::Gone(format!("session {}", session.id)))?;
        let fixed: Option<String> = row.get("briefing")?;
        if let Some(fixed) = fixed {
            return Ok(Ok(fixed));
        }
        let sql = "UPDATE sessions SET briefing = $1 WHERE id = $2";
        let values = [self.briefing.into(), session.id.0.into()];
        session.tx.execute(sql, values).await?;
        Ok(Ok(self.briefing.to_owned()))
    }
}
