//! The audit log. An entry is appended in the transaction of the change that it tells of, and nothing changes or
//! removes one.

use deskhand_core::{
    audit::{AuditAction, AuditEntry, AuditFilter, AuditPage, AuditStamp},
    id::{AuditId, SessionId, UserId},
};
use serde_json::{Map, json};

use crate::database::{
    Row, Store, StoreError, Transaction, Value, from_json, json as to_json, millis, timestamp,
};

const COLUMNS: &str = "id, at_ms, action, actor_id, actor_name, token_name, user_id, user_name, \
                       session_id, address, details";

/// An entry to be appended.
#[derive(Debug)]
pub(crate) struct NewEntry {
    action: AuditAction,
    user: Option<UserId>,
    session: Option<SessionId>,
    details: Map<String, serde_json::Value>,
}

impl NewEntry {
    pub(crate) fn new(action: AuditAction) -> Self {
        Self {
            action,
            user: None,
            session: None,
            details: Map::new(),
        }
    }

    /// Names the user whose account or right changed.
    pub(crate) fn about(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    pub(crate) fn within(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Adds a detail that the action's sentence may name.
    pub(crate) fn with(mut self, name: &str, detail: impl serde::Serialize) -> Self {
        self.details.insert(name.to_owned(), json!(detail));
        self
    }

    /// Appends the entry.
    pub(crate) async fn append(
        self,
        tx: &mut Transaction,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO audit (id, at_ms, action, subject, actor_id, actor_name, token_name, \
                   user_id, user_name, session_id, address, details) VALUES ($1, $2, $3, $4, $5, \
                   (SELECT name FROM users WHERE id = $5), \
                   (SELECT name FROM api_tokens WHERE id = $6), $7, \
                   (SELECT name FROM users WHERE id = $7), $8, $9, $10)";
        let by = stamp.by;
        let values: [Value; 10] = [
            AuditId::new().0.into(),
            millis(stamp.at),
            self.action.name().into(),
            self.action.subject().into(),
            by.user.map(|user| user.0).into(),
            by.token.map(|token| token.0).into(),
            self.user.map(|user| user.0).into(),
            self.session.map(|session| session.0).into(),
            by.address.map(|address| address.to_string()).into(),
            to_json(&self.details)?.into(),
        ];
        tx.execute(sql, values).await?;
        Ok(())
    }
}

impl Store {
    /// Returns the entries that match, newest first.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditPage, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM audit WHERE id < $1 \
             AND ($2 IS NULL OR actor_id = $2 OR user_id = $2) \
             AND ($3 IS NULL OR action = $3 OR subject = $3) ORDER BY id DESC LIMIT $4"
        );
        let values = [
            filter.before.map_or(uuid::Uuid::max(), |id| id.0).into(),
            filter.user.map(|user| user.0).into(),
            filter.action.clone().into(),
            i64::from(filter.limit.saturating_add(1)).into(),
        ];
        let rows = self.all(&sql, values).await?;
        let mut entries = rows.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        let more = entries.len() > wanted;
        entries.truncate(wanted);
        let next = entries.last().filter(|_| more).map(|last| last.id);
        Ok(AuditPage { entries, next })
    }
}

fn entry(row: &Row) -> Result<AuditEntry, StoreError> {
    let actor: Option<uuid::Uuid> = row.get("actor_id")?;
    let user: Option<uuid::Uuid> = row.get("user_id")?;
    let session: Option<uuid::Uuid> = row.get("session_id")?;
    Ok(AuditEntry {
        id: AuditId(row.get("id")?),
        at: timestamp(row.get("at_ms")?)?,
        action: row.get("action")?,
        actor: actor.map(UserId),
        actor_name: row.get("actor_name")?,
        token_name: row.get("token_name")?,
        user: user.map(UserId),
        user_name: row.get("user_name")?,
        session: session.map(SessionId),
        address: row.get("address")?,
        details: from_json(row.get("details")?)?,
    })
}
