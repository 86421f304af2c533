//! Limits of users, and the number of sessions they created recently.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    budget::ChangeBudget,
    id::UserId,
    limits::{Limits, UserLimits},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    budgets::{nano, stored_tokens, usd},
    database::{Row, Store, StoreError, Transaction, Value, count, millis, timestamp},
};

/// The number of sessions that a user created recently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MadeLately {
    pub n_sessions: u64,
    /// The creation time of the session that has to age out before there is room for another, if there is none now.
    pub in_the_way: Option<Timestamp>,
}

impl Store {
    /// Returns the limits that were set for a user.
    pub async fn user_limits(&self, user: UserId) -> Result<UserLimits, StoreError> {
        let sql = "SELECT awake_sessions, sessions_per_day, idle_seconds, life_seconds, \
                   day_nanousd, day_tokens FROM user_limits WHERE user_id = $1";
        match self.one(sql, [user.0.into()]).await? {
            Some(row) => Ok(UserLimits {
                awake_sessions: limit(&row, "awake_sessions")?,
                sessions_per_day: limit(&row, "sessions_per_day")?,
                idle_seconds: limit(&row, "idle_seconds")?,
                life_seconds: limit(&row, "life_seconds")?,
                day: day(&row)?,
            }),
            None => Ok(UserLimits::default()),
        }
    }

    /// Sets the limits of a user, in place of earlier ones.
    pub async fn set_user_limits(
        &self,
        user: UserId,
        limits: UserLimits,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let sql = "INSERT INTO user_limits \
                   (user_id, awake_sessions, sessions_per_day, idle_seconds, life_seconds, \
                   day_nanousd, day_tokens) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_id) DO UPDATE SET \
                   awake_sessions = excluded.awake_sessions, \
                   sessions_per_day = excluded.sessions_per_day, \
                   idle_seconds = excluded.idle_seconds, life_seconds = excluded.life_seconds, \
                   day_nanousd = excluded.day_nanousd, day_tokens = excluded.day_tokens";
        let stored = |limit: Option<u32>| Value::from(limit.map(i64::from));
        let values = [
            user.0.into(),
            stored(limits.awake_sessions),
            stored(limits.sessions_per_day),
            stored(limits.idle_seconds),
            stored(limits.life_seconds),
            limits.day.usd.map(nano).into(),
            stored_tokens(limits.day.tokens),
        ];
        tx.execute(sql, values).await?;
        let changed = NewEntry::new(AuditAction::LimitsChanged).about(user);
        let changed = changed
            .with("awake_sessions", limits.awake_sessions)
            .with("sessions_per_day", limits.sessions_per_day)
            .with("idle_seconds", limits.idle_seconds)
            .with("life_seconds", limits.life_seconds)
            .with("day_usd", limits.day.usd)
            .with("day_tokens", limits.day.tokens);
        changed.append(&mut tx, stamp).await?;
        tx.commit().await
    }

    /// Counts the sessions that a user with these `limits` created after `since`, apart from those of streams.
    pub async fn made_lately(
        &self,
        owner: UserId,
        limits: Limits,
        since: Timestamp,
    ) -> Result<MadeLately, StoreError> {
        let mut tx = self.begin().await?;
        made_lately(&mut tx, owner, limits, since).await
    }
}

pub(crate) async fn made_lately(
    tx: &mut Transaction,
    owner: UserId,
    limits: Limits,
    since: Timestamp,
) -> Result<MadeLately, StoreError> {
    // A deleted session still counts, so that deleting makes no room for more.
    let made = "(SELECT created_at_ms FROM sessions WHERE owner_id = $1 AND created_at_ms > $2 AND is_counted \
                UNION ALL \
                SELECT created_at_ms FROM deleted_sessions WHERE owner_id = $1 AND created_at_ms > $2) AS made";
    let sql = format!("SELECT COUNT(*) AS n FROM {made}");
    let n_sessions = match tx.one(&sql, [owner.0.into(), millis(since)]).await? {
        Some(row) => count(row.get("n")?)?,
        None => 0,
    };
    // If the count is at the limit, the oldest session is in the way. If the limit was lowered, it is a later one.
    let Some(n_before) = n_sessions.checked_sub(limits.sessions_per_day.into()) else {
        return Ok(MadeLately {
            n_sessions,
            in_the_way: None,
        });
    };
    let sql = format!("SELECT created_at_ms FROM {made} ORDER BY created_at_ms LIMIT 1 OFFSET $3");
    let n_before = i64::try_from(n_before).unwrap_or(i64::MAX);
    let values = [owner.0.into(), millis(since), n_before.into()];
    let row = tx.one(&sql, values).await?;
    let in_the_way = match row {
        Some(row) => timestamp(row.get("created_at_ms")?)?,
        // The limit allows no session at all.
        None => Timestamp::MAX,
    };
    Ok(MadeLately {
        n_sessions,
        in_the_way: Some(in_the_way),
    })
}

fn day(row: &Row) -> Result<ChangeBudget, StoreError> {
    let nano: Option<i64> = row.get("day_nanousd")?;
    let tokens: Option<i64> = row.get("day_tokens")?;
    Ok(ChangeBudget {
        usd: nano.map(usd),
        tokens: tokens.map(count).transpose()?,
    })
}

fn limit(row: &Row, column: &str) -> Result<Option<u32>, StoreError> {
    let stored: Option<i64> = row.get(column)?;
    let unreadable = |error: std::num::TryFromIntError| StoreError::Unreadable(error.to_string());
    stored
        .map(|limit| limit.try_into().map_err(unreadable))
        .transpose()
}
