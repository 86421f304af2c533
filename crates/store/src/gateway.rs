//! What programs in a session's sandbox have asked models.

use deskhand_core::{
    budget::Amount,
    event::{EventBody, GatewayUse, LoggedEvent},
    id::{SessionId, UserId},
};
use jiff::Timestamp;

use crate::{
    budgets::{nano, use_up},
    database::{Store, StoreError, millis, stored_count},
    events::{first_seq, insert_events},
};

impl Store {
    /// Counts what a program asked a model for the session and its owner, with the event that tells of it. `None` when there is no such session.
    pub async fn append_gateway_use(
        &self,
        session: SessionId,
        used: GatewayUse,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "UPDATE sessions SET last_seq = last_seq + 1, updated_at_ms = $1, \
                   cost_nanousd = cost_nanousd + $2, tokens = tokens + $3 WHERE id = $4 \
                   RETURNING last_seq, owner_id";
        let values = [
            millis(at),
            nano(used.usd).into(),
            stored_count(used.usage.tokens()),
            session.0.into(),
        ];
        let Some(row) = transaction.one(sql, values).await? else {
            return Ok(None);
        };
        let amount = Amount {
            usd: used.usd,
            tokens: used.usage.tokens(),
        };
        let owner = UserId(row.get("owner_id")?);
        use_up(&mut transaction, owner, amount, at).await?;
        let bodies = [EventBody::Gateway(used)];
        let first = first_seq(&row, bodies.len())?;
        let events = insert_events(&mut transaction, session, first, &bodies, at).await?;
        transaction.commit().await?;
        Ok(Some(events))
    }
}
