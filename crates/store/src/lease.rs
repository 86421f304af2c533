//! Leases: people who have mouse and keyboard of a session's computer for a while.
//!
//! A lease is held until its end is stored, also when its time is over before that: so whoever reads
//! the session and whoever reads the log see the same holder.

use deskhand_core::{
    event::{EventBody, LoggedEvent},
    id::{SessionId, UserId},
    lease::{Lease, LeaseChange, LeaseChanged, LeaseEnd},
    session::Phase,
};
use jiff::Timestamp;

use crate::{
    database::{Row, Store, StoreError, Transaction, stored_count, timestamp},
    events::{event, insert_events},
    people::name_of,
    transitions::{advance, hold},
};

/// A lease that somebody wants.
#[derive(Debug, Clone, Copy)]
pub struct NewLease {
    pub session: SessionId,
    pub user: UserId,
    pub until: Timestamp,
    /// Whether it is taken from whoever has one.
    pub is_forced: bool,
}

/// What came of wanting a lease.
#[derive(Debug)]
pub enum TakeLease {
    Took(TookLease),
    /// Somebody else has it.
    Held(Lease),
    /// The session is over, or was never there.
    Ended,
}

/// A lease that was taken or made longer.
#[derive(Debug)]
pub struct TookLease {
    pub lease: Lease,
    pub events: Vec<LoggedEvent>,
}

impl Store {
    /// Takes a lease, or makes the one that the user has already last until another time.
    pub async fn take_lease(&self, new: NewLease, at: Timestamp) -> Result<TakeLease, StoreError> {
        let mut tx = self.begin().await?;
        let held = hold(&mut tx, new.session).await?;
        let Some(held) = held.filter(|held| held.phase != Phase::Terminated) else {
            return Ok(TakeLease::Ended);
        };
        let lease = Lease {
            user: new.user,
            name: name_of(&mut tx, new.user).await?,
            // As it is stored.
            until: timestamp(new.until.as_millisecond())?,
        };
        let mut bodies = Vec::new();
        let mut earlier = held_lease(&mut tx, new.session).await?;
        if let Some(over) = earlier.take_if(|earlier| earlier.until <= at) {
            bodies.push(ended(over, LeaseEnd::Expired));
        }
        let until = lease.until;
        let change = match earlier {
            None => LeaseChange::Taken { until, from: None },
            Some(earlier) if earlier.user == new.user => LeaseChange::Extended { until },
            Some(earlier) if new.is_forced => LeaseChange::Taken {
                until,
                from: Some(earlier.user),
            },
            Some(earlier) => return Ok(TakeLease::Held(earlier)),
        };
        bodies.push(EventBody::Lease(LeaseChanged {
            user: lease.user,
            name: lease.name.clone(),
            change,
        }));
        write(&mut tx, new.session, Some(&lease)).await?;
        let (phase, sandbox) = (held.phase, held.sandbox);
        let seq = advance(&mut tx, new.session, phase, sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, new.session, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(TakeLease::Took(TookLease { lease, events }))
    }

    /// Ends a lease, if it is the one that is held and has not been made longer meanwhile.
    pub async fn end_lease(
        &self,
        session: SessionId,
        lease: &Lease,
        reason: LeaseEnd,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(held) = hold(&mut tx, session).await? else {
            return Ok(None);
        };
        let Some(current) = held_lease(&mut tx, session).await? else {
            return Ok(None);
        };
        if (current.user, current.until) != (lease.user, lease.until) {
            return Ok(None);
        }
        let bodies = [ended(current, reason)];
        write(&mut tx, session, None).await?;
        let seq = advance(&mut tx, session, held.phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, session, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(events))
    }

    /// What the log says of leases after event `after`, oldest first.
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

/// Ends the lease of a session that is ending. The event that tells of it.
pub(crate) async fn end_with_session(
    tx: &mut Transaction,
    session: SessionId,
) -> Result<Option<EventBody>, StoreError> {
    let Some(lease) = held_lease(tx, session).await? else {
        return Ok(None);
    };
    write(tx, session, None).await?;
    Ok(Some(ended(lease, LeaseEnd::SessionEnded)))
}

async fn held_lease(tx: &mut Transaction, session: SessionId) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT s.lease_user_id, s.lease_until_ms, u.name AS lease_name \
               FROM sessions s JOIN users u ON u.id = s.lease_user_id WHERE s.id = $1";
    match tx.one(sql, [session.0.into()]).await? {
        Some(row) => lease(&row),
        None => Ok(None),
    }
}

async fn write(
    tx: &mut Transaction,
    session: SessionId,
    lease: Option<&Lease>,
) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET lease_user_id = $1, lease_until_ms = $2 WHERE id = $3";
    let user = lease.map(|lease| lease.user.0);
    let until = lease.map(|lease| lease.until.as_millisecond());
    tx.execute(sql, [user.into(), until.into(), session.0.into()])
        .await?;
    Ok(())
}

fn ended(lease: Lease, reason: LeaseEnd) -> EventBody {
    EventBody::Lease(LeaseChanged {
        user: lease.user,
        name: lease.name,
        change: LeaseChange::Ended { reason },
    })
}

/// The lease in a session's row, if there is one.
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
