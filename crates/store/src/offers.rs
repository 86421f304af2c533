//! Offers: a session changes its owner only when the other user accepts it.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::{SessionId, UserId},
    right::SessionOffer,
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    commit::lock_row,
    database::{Row, Store, StoreError, count, millis, timestamp},
};

const COLUMNS: &str = "o.session_id, s.title, o.from_id, f.name AS from_name, o.to_id, \
                       t.name AS to_name, o.created_at_ms, o.expires_at_ms, \
                       s.instructions <> '' AS has_instructions, (SELECT COUNT(*) FROM session_rights r \
                       WHERE r.session_id = s.id AND r.user_id <> o.to_id) AS n_people";

/// An offer counts while the user who made it is the owner.
const TABLES: &str = "session_offers o \
                      JOIN sessions s ON s.id = o.session_id AND s.owner_id = o.from_id \
                      JOIN users f ON f.id = o.from_id JOIN users t ON t.id = o.to_id";

/// An offer to be stored, in place of the session's earlier one.
#[derive(Debug, Clone, Copy)]
pub struct NewOffer {
    pub session: SessionId,
    pub from: UserId,
    pub to: UserId,
    pub expires_at: Timestamp,
}

/// The result of making an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Made,
    /// The user who makes it is no longer the owner.
    NotOwner,
    /// The other user already has the maximum number of offers.
    TooMany,
}

/// The way in which an offer ends without being accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferEnd {
    /// The owner withdraws it.
    Withdrawn,
    /// The other user declines it.
    Declined,
}

impl Store {
    /// Offers a session to another user, unless they already have `most` other offers.
    pub async fn offer_session(
        &self,
        new: NewOffer,
        most: u64,
        stamp: AuditStamp,
    ) -> Result<Offered, StoreError> {
        let mut tx = self.begin().await?;
        let row = lock_row(&mut tx, new.session).await?;
        let owner = row.map(|row| row.get("owner_id").map(UserId)).transpose()?;
        if owner != Some(new.from) {
            return Ok(Offered::NotOwner);
        }
        let sql = "SELECT COUNT(*) AS n FROM session_offers \
                   WHERE to_id = $1 AND session_id <> $2 AND expires_at_ms > $3";
        let values = [new.to.0.into(), new.session.0.into(), millis(stamp.at)];
        if let Some(row) = tx.one(sql, values).await?
            && count(row.get("n")?)? >= most
        {
            return Ok(Offered::TooMany);
        }
        let sql = "INSERT INTO session_offers (session_id, from_id, to_id, created_at_ms, \
                   expires_at_ms) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_id) DO UPDATE \
                   SET from_id = excluded.from_id, to_id = excluded.to_id, \
                   created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms";
        let values = [
            new.session.0.into(),
            new.from.0.into(),
            new.to.0.into(),
            millis(stamp.at),
            millis(new.expires_at),
        ];
        tx.execute(sql, values).await?;
        let entry = NewEntry::new(AuditAction::OfferMade).about(new.to);
        entry.within(new.session).append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(Offered::Made)
    }

    /// Returns the valid offer of a session.
    pub async fn offer_of(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Option<SessionOffer>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE o.session_id = $1 AND o.expires_at_ms > $2"
        );
        let row = self.one(&sql, [session.0.into(), millis(now)]).await?;
        row.map(|row| offer(&row)).transpose()
    }

    /// Returns the valid offers to a user, oldest first. Their number is bounded.
    pub async fn offers_to(
        &self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<SessionOffer>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE o.to_id = $1 AND o.expires_at_ms > $2 \
             ORDER BY o.created_at_ms, o.session_id"
        );
        let rows = self.all(&sql, [user.0.into(), millis(now)]).await?;
        rows.iter().map(offer).collect()
    }

    /// Ends an offer that was not accepted. Returns `false` if it ended already.
    pub async fn end_offer(
        &self,
        offer: &SessionOffer,
        end: OfferEnd,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql =
            "DELETE FROM session_offers WHERE session_id = $1 AND from_id = $2 AND to_id = $3";
        let values = [
            offer.session.0.into(),
            offer.from.0.into(),
            offer.to.0.into(),
        ];
        if tx.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        let entry = match end {
            OfferEnd::Withdrawn => NewEntry::new(AuditAction::OfferWithdrawn).about(offer.to),
            OfferEnd::Declined => NewEntry::new(AuditAction::OfferDeclined).about(offer.from),
        };
        entry.within(offer.session).append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn offer(row: &Row) -> Result<SessionOffer, StoreError> {
    Ok(SessionOffer {
        session: SessionId(row.get("session_id")?),
        session_title: row.get("title")?,
        from: UserId(row.get("from_id")?),
        from_name: row.get("from_name")?,
        to: UserId(row.get("to_id")?),
        to_name: row.get("to_name")?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        expires_at: timestamp(row.get("expires_at_ms")?)?,
        n_people: count(row.get("n_people")?)?,
        has_instructions: row.get("has_instructions")?,
    })
}
