//! The model's answers as its vendor gave them.

use deskhand_core::{
    budget::Amount,
    event::{Cost, EventBody, LoggedEvent},
    id::{SessionId, TurnId, UserId},
    model::Original,
};
use jiff::Timestamp;

use crate::{
    budgets::{nano, use_up},
    database::{Row, Store, StoreError, Transaction, count, millis, stored_count},
    events::{first_seq, insert_events, stored_len},
};

/// An answer as it is kept: of which turn, which step of it, and what the vendor gave.
pub type KeptAnswer = (TurnId, u32, Original);

impl Store {
    /// Appends a whole answer, whose last event is its cost, together with what the vendor gave. `None`
    /// when there is no such session.
    pub async fn append_answer(
        &self,
        session: SessionId,
        bodies: &[EventBody],
        original: Option<&Original>,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut transaction = self.begin().await?;
        let cost = bodies.iter().rev().find_map(|body| {
            let EventBody::Cost(cost) = body else {
                return None;
            };
            Some(cost)
        });
        let sql = "UPDATE sessions SET last_seq = last_seq + $1, updated_at_ms = $2, \
                   cost_nanousd = cost_nanousd + $3, tokens = tokens + $4 WHERE id = $5 \
                   RETURNING last_seq, owner_id";
        let values = [
            stored_len(bodies),
            millis(at),
            cost.map_or(0, |cost| nano(cost.usd)).into(),
            stored_count(cost.map_or(0, |cost| cost.usage.tokens())),
            session.0.into(),
        ];
        let Some(row) = transaction.one(sql, values).await? else {
            return Ok(None);
        };
        let first = first_seq(&row, bodies.len())?;
        if let Some(cost) = cost {
            let amount = Amount {
                usd: cost.usd,
                tokens: cost.usage.tokens(),
            };
            let owner = UserId(row.get("owner_id")?);
            use_up(&mut transaction, owner, amount, at).await?;
        }
        let events = insert_events(&mut transaction, session, first, bodies, at).await?;
        if let (Some(cost), Some(original)) = (cost, original) {
            keep(&mut transaction, session, cost, original).await?;
        }
        transaction.commit().await?;
        Ok(Some(events))
    }

    /// All answers of a session that a vendor wants back.
    pub async fn answers(&self, session: SessionId) -> Result<Vec<KeptAnswer>, StoreError> {
        let sql = "SELECT turn_id, step, vendor, data FROM answers WHERE session_id = $1";
        let rows = self.all(sql, [session.0.into()]).await?;
        rows.iter().map(answer).collect()
    }
}

async fn keep(
    transaction: &mut Transaction,
    session: SessionId,
    cost: &Cost,
    original: &Original,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO answers (session_id, turn_id, step, vendor, data) \
               VALUES ($1, $2, $3, $4, $5)";
    let values = [
        session.0.into(),
        cost.turn.0.into(),
        i64::from(cost.step).into(),
        original.vendor.as_str().into(),
        original.data.to_string().into(),
    ];
    transaction.execute(sql, values).await?;
    Ok(())
}

fn answer(row: &Row) -> Result<KeptAnswer, StoreError> {
    let data: String = row.get("data")?;
    let original = Original {
        vendor: row.get("vendor")?,
        data: serde_json::from_str(&data)
            .map_err(|error| StoreError::Unreadable(error.to_string()))?,
    };
    let step = count(row.get("step")?)?;
    let step = u32::try_from(step).map_err(|error| StoreError::Unreadable(error.to_string()))?;
    Ok((TurnId(row.get("turn_id")?), step, original))
}
