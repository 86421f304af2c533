//! Leases: one person's control of a session's mouse and keyboard for a limited time.
//!
//! A lease is held until its end is stored, even if its time ran out before that: the session's row and the log
//! always name the same holder.

use deskhand_core::{
    event::{EventBody, LoggedEvent},
    id::{SessionId, UserId},
    lease::{Lease, LeaseChange, LeaseChanged, LeaseEnd},
};
use jiff::Timestamp;

use crate::{
    commit::{Change, HeldSession},
    database::{Row, Store, StoreError, stored_count, timestamp},
    events::event,
    people::name_of,
};

/// Takes a lease, or extends the one that the user has.
#[derive(Debug, Clone, Copy)]
pub struct TakeLease {
    pub user: UserId,
    pub until: Timestamp,
    /// True to take it from another holder.
    pub is_forced: bool,
}

/// The reason why a lease is not given.
#[derive(Debug, PartialEq, Eq)]
pub enum LeaseRefused {
    /// Another person has it.
    Held(Lease),
    /// The session has ended or does not exist.
    Ended,
}

/// Ends a lease, if it is still the current one and was not extended in the meantime.
#[derive(Debug)]
pub struct EndLease<'a> {
    pub lease: &'a Lease,
    pub reason: LeaseEnd,
}

/// The refusal if the session has another lease, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotTheLease;

impl Change for TakeLease {
    type Output = Lease;
    type Refusal = LeaseRefused;

    fn no_session(&self) -> LeaseRefused {
        LeaseRefused::Ended
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<Lease, LeaseRefused>, StoreError> {
        if session.is_terminated() {
            return Ok(Err(LeaseRefused::Ended));
        }
        let lease = Lease {
            user: self.user,
            name: name_of(&mut session.tx, self.user).await?,
            // Truncated to the stored precision.
            until: timestamp(self.until.as_millisecond())?,
        };
        let mut earlier = held_lease(session).await?;
        if let Some(over) = earlier.take_if(|earlier| earlier.until <= session.at) {
            session.tell(&ended(over, LeaseEnd::Expired)).await?;
        }
        let until = lease.until;
        let change = match earlier {
            None => LeaseChange::Taken { until, from: None },
            Some(earlier) if earlier.user == self.user => LeaseChange::Extended { until },
            Some(earlier) if self.is_forced => LeaseChange::Taken {
                until,
                from: Some(earlier.user),
            },
            Some(earlier) => return Ok(Err(LeaseRefused::Held(earlier))),
        };
        write(session, Some(&lease)).await?;
        let taken = EventBody::Lease(LeaseChanged {
            user: lease.user,
            name: lease.name.clone(),
            change,
        });
        session.tell(&taken).await?;
        Ok(Ok(lease))
    }
}

impl Change for EndLease<'_> {
    type Output = ();
    type Refusal = NotTheLease;

    fn no_session(&self) -> NotTheLease {
        NotTheLease
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), NotTheLease>, StoreError> {
        let is_same = |held: &Lease| (held.user, held.until) == (self.lease.user, self.lease.until);
        let Some(held) = held_lease(session).await?.filter(is_same) else {
            return Ok(Err(NotTheLease));
        };
        write(session, None).await?;
        session.tell(&ended(held, self.reason)).await?;
        Ok(Ok(()))
    }
}

impl Store {
    /// Returns the events about leases after event `after`, oldest first.
    pub async fn lease_events(
        &self,
        session: SessionId,
        after: u64,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let sql = "SELECT seq, kind, at_ms, data FROM events \
                   WHERE session_id = $1 AND seq > $2 AND kind = 'lease' ORDER BY seq";
        let rows = self
            .all(sql, [session.0.into(), stored_count(after)])
            .await?;
        rows.iter().map(event).collect()
    }
}

/// Ends the lease of a session that is ending.
pub(crate) async fn end_with_session(session: &mut HeldSession) -> Result<(), StoreError> {
    let Some(lease) = held_lease(session).await? else {
        return Ok(());
    };
    write(session, None).await?;
    session.tell(&ended(lease, LeaseEnd::SessionEnded)).await?;
    Ok(())
}

async fn held_lease(session: &mut HeldSession) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT s.lease_user_id, s.lease_until_ms, u.name AS lease_name \
               FROM sessions s JOIN users u ON u.id = s.lease_user_id WHERE s.id = $1";
    match session.tx.one(sql, [session.id.0.into()]).await? {
        Some(row) => lease(&row),
        None => Ok(None),
    }
}

async fn write(session: &mut HeldSession, lease: Option<&Lease>) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET lease_user_id = $1, lease_until_ms = $2 WHERE id = $3";
    let user = lease.map(|lease| lease.user.0);
    let until = lease.map(|lease| lease.until.as_millisecond());
    let values = [user.into(), until.into(), session.id.0.into()];
    session.tx.execute(sql, values).await?;
    Ok(())
}

fn ended(lease: Lease, reason: LeaseEnd) -> EventBody {
    EventBody::Lease(LeaseChanged {
        user: lease.user,
        name: lease.name,
        change: LeaseChange::Ended { reason },
    })
}

/// Reads the lease in a session's row.
pub(crate) fn lease(row: &Row) -> Result<Option<Lease>, StoreError> {
    let user: Option<uuid::Uuid> = row.get("lease_user_id")?;
    let name: Option<String> = row.get("lease_name")?;
    let until: Option<i64> = row.get("lease_until_ms")?;
    let (Some(user), Some(name), Some(until)) = (user, name, until) else {
        return Ok(None);
    };
    Ok(Some(Lease {
        user: UserId(user),
        name,
        until: timestamp(until)?,
    }))
}
