//! Standing events: those whose newest one is a fact about the session until the next of its kind.

use deskhand_core::id::SessionId;
use serde_json::{Map, Value as Json};

use crate::database::{Row, StoreError, Transaction, from_json, json};

/// Replaces the standing events of the given kinds.
pub(crate) async fn write_standing(
    tx: &mut Transaction,
    session: SessionId,
    mut changed: Map<String, Json>,
) -> Result<(), StoreError> {
    let sql = "SELECT standing FROM sessions WHERE id = $1";
    let row = tx.one(sql, [session.0.into()]).await?;
    let mut all = row.as_ref().map(standing).transpose()?.unwrap_or_default();
    all.append(&mut changed);
    let sql = "UPDATE sessions SET standing = $1 WHERE id = $2";
    tx.execute(sql, [json(&all)?.into(), session.0.into()])
        .await?;
    Ok(())
}

/// Reads the standing events of a session's row.
pub(crate) fn standing(row: &Row) -> Result<Map<String, Json>, StoreError> {
    let text: Option<&str> = row.get("standing")?;
    text.map_or_else(|| Ok(Map::new()), from_json)
}
