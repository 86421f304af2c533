//! The rights of people in other people's sessions.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SessionId, UserId},
    right::{Person, Right},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    commit::lock_row,
    database::{Row, Store, StoreError, Transaction, count, millis},
};

/// The result of giving a person a right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    Given,
    /// The maximum number of people already has a right.
    Full,
    /// The person left the session, and only they themselves can come back.
    Left,
}

/// The way in which a person lost their right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// The owner removed them. Only the owner can let them in again.
    Removed,
    /// They left. Only they can come back, with a link.
    Left,
    /// They left, and then the owner removed them. No link lets them in until the owner tries to add them again.
    LeftAndRemoved,
}

/// The origin of a right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Giver {
    /// The owner chose it for this person. No link overrides it.
    Owner,
    Link,
}

/// A right that a person was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenRight {
    pub(crate) right: Right,
    pub(crate) giver: Giver,
}

impl Store {
    /// Returns everyone who has a right in a session: the owner, then the others in the order in which they became
    /// users. Disabled users are left out.
    pub async fn people(&self, session: SessionId) -> Result<Vec<Person>, StoreError> {
        let sql = "SELECT 0 AS place, u.id, u.name, 'owner' AS right_name \
                   FROM sessions s JOIN users u ON u.id = s.owner_id WHERE s.id = $1 AND u.active \
                   UNION ALL \
                   SELECT 1 AS place, u.id, u.name, r.right_name \
                   FROM session_rights r JOIN users u ON u.id = r.user_id \
                   WHERE r.session_id = $1 AND u.active ORDER BY place, id";
        let rows = self.all(sql, [session.0.into()]).await?;
        rows.iter().map(person).collect()
    }

    /// Gives a user a right in place of the one they have, unless `most` others already have one.
    pub async fn grant(
        &self,
        session: SessionId,
        user: UserId,
        right: Right,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<Granted, StoreError> {
        let mut tx = self.begin().await?;
        // The row is locked, so that the count still holds when the right is written.
        lock_row(&mut tx, session).await?;
        match departure(&mut tx, session, user).await? {
            None | Some(Departure::Removed) => {}
            Some(Departure::Left) => return Ok(Granted::Left),
            Some(Departure::LeftAndRemoved) => {
                // The owner takes back the removal. Returning is still up to the person.
                write_departure(&mut tx, session, user, Departure::Left, stamp.at).await?;
                tx.commit().await?;
                return Ok(Granted::Left);
            }
        }
        if right_of(&mut tx, session, user).await?.is_none()
            && n_rights(&mut tx, session).await? >= most
        {
            return Ok(Granted::Full);
        }
        let given = GivenRight {
            right,
            giver: Giver::Owner,
        };
        write_right(&mut tx, session, user, given, stamp.at).await?;
        let entry = NewEntry::new(AuditAction::RightGiven).about(user);
        let entry = entry.within(session).with("right", right);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(Granted::Given)
    }

    /// Revokes a user's right, and records how. Returns `false` if there was nothing to revoke.
    ///
    /// An owner can also remove a person who has left, so that no link lets them in again.
    pub async fn revoke(
        &self,
        session: SessionId,
        user: UserId,
        how: Departure,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        lock_row(&mut tx, session).await?;
        let sql = "DELETE FROM session_rights WHERE session_id = $1 AND user_id = $2";
        let n_deleted = tx.execute(sql, [session.0.into(), user.0.into()]).await?;
        let before = departure(&mut tx, session, user).await?;
        let how = match (n_deleted, how, before) {
            (1.., how, _) => how,
            (0, Departure::Removed, Some(Departure::Left)) => Departure::LeftAndRemoved,
            (0, ..) => return Ok(false),
        };
        write_departure(&mut tx, session, user, how, stamp.at).await?;
        let action = match how {
            Departure::Removed | Departure::LeftAndRemoved => AuditAction::RightRemoved,
            Departure::Left => AuditAction::RightLeft,
        };
        let entry = NewEntry::new(action).about(user).within(session);
        entry.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }
}

impl Departure {
    fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Left => "left",
            Self::LeftAndRemoved => "left_removed",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Removed, Self::Left, Self::LeftAndRemoved]
            .into_iter()
            .find(|how| how.name() == name)
    }
}

/// Returns the right that a user was given. The owner has none of this kind.
pub(crate) async fn right_of(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
) -> Result<Option<GivenRight>, StoreError> {
    let sql = "SELECT right_name, is_by_owner FROM session_rights \
               WHERE session_id = $1 AND user_id = $2";
    let Some(row) = tx.one(sql, [session.0.into(), user.0.into()]).await? else {
        return Ok(None);
    };
    let is_by_owner: bool = row.get("is_by_owner")?;
    Ok(Some(GivenRight {
        right: right(&row)?,
        giver: if is_by_owner {
            Giver::Owner
        } else {
            Giver::Link
        },
    }))
}

/// Returns how a user lost their right in a session, if they had one and have none now.
pub(crate) async fn departure(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
) -> Result<Option<Departure>, StoreError> {
    let sql = "SELECT how FROM session_departures WHERE session_id = $1 AND user_id = $2";
    let Some(row) = tx.one(sql, [session.0.into(), user.0.into()]).await? else {
        return Ok(None);
    };
    let how: &str = row.get("how")?;
    let unknown = || StoreError::Unreadable(format!("{how:?} is not a departure"));
    Departure::from_name(how).ok_or_else(unknown).map(Some)
}

async fn write_departure(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
    how: Departure,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO session_departures (session_id, user_id, how, at_ms) \
               VALUES ($1, $2, $3, $4) ON CONFLICT (session_id, user_id) \
               DO UPDATE SET how = excluded.how, at_ms = excluded.at_ms";
    let values = [
        session.0.into(),
        user.0.into(),
        how.name().into(),
        millis(at),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Counts the people who were given a right.
pub(crate) async fn n_rights(tx: &mut Transaction, session: SessionId) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS people FROM session_rights WHERE session_id = $1";
    match tx.one(sql, [session.0.into()]).await? {
        Some(row) => count(row.get("people")?),
        None => Ok(0),
    }
}

/// Writes a user's right, in place of the one they have.
pub(crate) async fn write_right(
    tx: &mut Transaction,
    session: SessionId,
    user: UserId,
    given: GivenRight,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO session_rights (session_id, user_id, right_name, is_by_owner, \
               created_at_ms) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_id, user_id) \
               DO UPDATE SET right_name = excluded.right_name, is_by_owner = excluded.is_by_owner";
    let values = [
        session.0.into(),
        user.0.into(),
        given.right.name().into(),
        (given.giver == Giver::Owner).into(),
        millis(at),
    ];
    tx.execute(sql, values).await?;
    let sql = "DELETE FROM session_departures WHERE session_id = $1 AND user_id = $2";
    tx.execute(sql, [session.0.into(), user.0.into()]).await?;
    Ok(())
}

/// Lowers the rights of everybody whom an earlier owner let in to viewing. A link of the new owner can raise them.
pub(crate) async fn lower_others(
    tx: &mut Transaction,
    session: SessionId,
    stamp: AuditStamp,
) -> Result<(), StoreError> {
    let sql = "SELECT user_id FROM session_rights WHERE session_id = $1 AND right_name <> $2 \
               ORDER BY user_id";
    let values = [session.0.into(), Right::View.name().into()];
    for row in tx.all(sql, values).await? {
        let user = UserId(row.get("user_id")?);
        let entry = NewEntry::new(AuditAction::RightGiven).about(user);
        let entry = entry.within(session).with("right", Right::View);
        entry.append(tx, stamp).await?;
    }
    let sql = "UPDATE session_rights SET right_name = $1, is_by_owner = $2 WHERE session_id = $3";
    let values = [Right::View.name().into(), false.into(), session.0.into()];
    tx.execute(sql, values).await?;
    Ok(())
}

pub(crate) fn right(row: &Row) -> Result<Right, StoreError> {
    let name: &str = row.get("right_name")?;
    Right::from_name(name).ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a right")))
}

fn person(row: &Row) -> Result<Person, StoreError> {
    Ok(Person {
        user: UserId(row.get("id")?),
        name: row.get("name")?,
        right: right(row)?,
    })
}
