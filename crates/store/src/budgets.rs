//! Budgets of sessions and users, and their usage.

use deskhand_core::{
    budget::{Account, Amount, Bound, Budget, Over},
    id::{SessionId, UserId},
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    commit::HeldSession,
    database::{Row, Store, StoreError, Value, count, stored_count},
};

/// The usage of a user's sessions in one day, and the amount granted in addition for that day.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DayUse {
    pub used: Amount,
    pub granted: Amount,
}

impl Store {
    /// Returns a session's owner, budget and usage. Returns `None` if there is no such session.
    pub async fn session_account(
        &self,
        session: SessionId,
    ) -> Result<Option<(UserId, Account)>, StoreError> {
        let sql = "SELECT owner_id, cost_nanousd, tokens, budget_nanousd, budget_tokens, \
                   granted_nanousd, granted_tokens FROM sessions WHERE id = $1";
        let Some(row) = self.one(sql, [session.0.into()]).await? else {
            return Ok(None);
        };
        let account = Account {
            budget: budget(&row)?,
            granted: granted(&row)?,
            used: used(&row)?,
        };
        Ok(Some((UserId(row.get("owner_id")?), account)))
    }

    /// Returns a user's usage on the day of this time.
    pub async fn day_use(&self, user: UserId, at: Timestamp) -> Result<DayUse, StoreError> {
        let sql = "SELECT cost_nanousd, tokens, granted_nanousd, granted_tokens FROM user_days \
                   WHERE user_id = $1 AND day = $2";
        let values = [user.0.into(), day(at).to_string().into()];
        match self.one(sql, values).await? {
            Some(row) => Ok(DayUse {
                used: used(&row)?,
                granted: granted(&row)?,
            }),
            None => Ok(DayUse::default()),
        }
    }

    /// Returns a user's usage in the month of this time, up to it.
    pub async fn month_use(&self, user: UserId, at: Timestamp) -> Result<Amount, StoreError> {
        let sql = "SELECT CAST(COALESCE(SUM(cost_nanousd), 0) AS BIGINT) AS cost_nanousd, \
                   CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens FROM user_days \
                   WHERE user_id = $1 AND day >= $2 AND day <= $3";
        let today = day(at);
        let values = [
            user.0.into(),
            today.first_of_month().to_string().into(),
            today.to_string().into(),
        ];
        match self.one(sql, values).await? {
            Some(row) => used(&row),
            None => Ok(Amount::default()),
        }
    }
}

/// Adds to the usage of the session's owner today.
pub(crate) async fn use_up(session: &mut HeldSession, amount: Amount) -> Result<(), StoreError> {
    let sql = "INSERT INTO user_days (user_id, day, cost_nanousd, tokens) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (user_id, day) DO UPDATE SET \
               cost_nanousd = user_days.cost_nanousd + excluded.cost_nanousd, \
               tokens = user_days.tokens + excluded.tokens";
    let values = [
        session.owner.0.into(),
        day(session.at).to_string().into(),
        nano(amount.usd).into(),
        stored_count(amount.tokens),
    ];
    session.tx.execute(sql, values).await?;
    Ok(())
}

/// Adds the amount that a yes grants to a session or its owner. A turn finds its own grants in the log.
pub(crate) async fn grant(session: &mut HeldSession, over: &Over) -> Result<(), StoreError> {
    let (column, more) = match over.bound {
        Bound::SessionUsd | Bound::DayUsd => ("granted_nanousd", nano(over.more)),
        Bound::SessionTokens | Bound::DayTokens => ("granted_tokens", whole(over.more)),
        Bound::Steps | Bound::Seconds | Bound::Repeats | Bound::Unpriced => return Ok(()),
    };
    if over.bound.is_of_owner() {
        let sql = format!(
            "INSERT INTO user_days (user_id, day, {column}) VALUES ($1, $2, $3) \
             ON CONFLICT (user_id, day) DO UPDATE SET \
             {column} = user_days.{column} + excluded.{column}"
        );
        let day = day(session.at).to_string();
        let values = [session.owner.0.into(), day.into(), more.into()];
        session.tx.execute(&sql, values).await?;
    } else {
        let sql = format!("UPDATE sessions SET {column} = {column} + $1 WHERE id = $2");
        let values = [more.into(), session.id.0.into()];
        session.tx.execute(&sql, values).await?;
    }
    Ok(())
}

/// Reads the budget in a row of sessions.
pub(crate) fn budget(row: &Row) -> Result<Budget, StoreError> {
    let nano: Option<i64> = row.get("budget_nanousd")?;
    let tokens: Option<i64> = row.get("budget_tokens")?;
    Ok(Budget {
        usd: nano.map(usd),
        tokens: tokens.map(count).transpose()?,
    })
}

/// Reads the granted amount in a row of sessions or days.
pub(crate) fn granted(row: &Row) -> Result<Amount, StoreError> {
    Ok(Amount {
        usd: usd(row.get("granted_nanousd")?),
        tokens: count(row.get("granted_tokens")?)?,
    })
}

/// Reads the usage in a row of sessions or days.
pub(crate) fn used(row: &Row) -> Result<Amount, StoreError> {
    Ok(Amount {
        usd: usd(row.get("cost_nanousd")?),
        tokens: count(row.get("tokens")?)?,
    })
}

fn day(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

pub(crate) fn stored_tokens(tokens: Option<u64>) -> Value {
    let stored = |tokens| i64::try_from(tokens).unwrap_or(i64::MAX);
    tokens.map(stored).into()
}

/// Converts billionths of a dollar to dollars.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to nine million dollars"
)]
pub(crate) fn usd(nano: i64) -> f64 {
    nano as f64 / 1e9
}

/// Converts dollars to billionths of a dollar.
pub(crate) fn nano(usd: f64) -> i64 {
    whole(usd * 1e9)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a float saturates"
)]
fn whole(number: f64) -> i64 {
    number.round() as i64
}
