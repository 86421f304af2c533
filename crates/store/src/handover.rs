//! The hand-over of a session: the other user accepts the offer and becomes the owner.

use deskhand_core::{
    audit::{AuditAction, Requester},
    budget::Budget,
    event::{EventBody, HandedOver},
    id::UserId,
    network::policy::NetworkPolicy,
    right::Right,
};

use crate::{
    approvals::default_policy,
    audit::NewEntry,
    commit::{Change, HeldSession},
    database::{StoreError, millis},
    edit::{FreshSettings, reset_settings},
    people::name_of,
    rights::{GivenRight, Giver, lower_others, write_right},
    shared_ports::end_sharing,
    waiting::remove_waiting,
};

/// Accepts an offer: the other user becomes the owner.
///
/// Nothing that the giver set up continues unnoticed. Approvals, budget and network become those of a new session. The
/// giver keeps only the right that the new owner chooses, and everybody else only the right to view. Links and shared ports
/// end, and waiting messages are removed.
#[derive(Debug, Clone)]
pub struct AcceptOffer {
    pub by: Requester,
    /// The user who accepts.
    pub to: UserId,
    /// The right that the giver keeps.
    pub giver_keeps: Right,
    /// The budget of a new session.
    pub budget: Budget,
    /// The network policy of a new session.
    pub network: NetworkPolicy,
}

/// The refusal if there is no valid offer of this session to this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoOffer;

impl Change for AcceptOffer {
    /// The user who gave the session away.
    type Output = UserId;
    type Refusal = NoOffer;

    fn no_session(&self) -> NoOffer {
        NoOffer
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<UserId, NoOffer>, StoreError> {
        let giver = session.owner;
        let sql = "DELETE FROM session_offers WHERE session_id = $1 AND from_id = $2 AND to_id = $3 \
                   AND expires_at_ms > $4";
        let values = [
            session.id.0.into(),
            giver.0.into(),
            self.to.0.into(),
            millis(session.at),
        ];
        if session.tx.execute(sql, values).await? == 0 {
            return Ok(Err(NoOffer));
        }
        let handed_over = EventBody::HandedOver(HandedOver {
            from: giver,
            from_name: name_of(&mut session.tx, giver).await?,
            to: self.to,
            to_name: name_of(&mut session.tx, self.to).await?,
            giver_keeps: self.giver_keeps,
        });
        change_owner(session, giver, &self).await?;
        session.tell(&handed_over).await?;
        remove_waiting(session, self.to).await?;
        let fresh = FreshSettings {
            approvals: default_policy(&mut session.tx, self.to).await?,
            budget: self.budget,
            network: self.network,
        };
        reset_settings(session, self.to, self.by, fresh).await?;
        let entry = NewEntry::new(AuditAction::OfferAccepted).about(giver);
        let entry = entry.within(session.id).with("right", self.giver_keeps);
        let stamp = self.by.at(session.at);
        entry.append(&mut session.tx, stamp).await?;
        Ok(Ok(giver))
    }
}

/// Makes the other user the owner. Other people keep only the rights that the new owner agreed to.
async fn change_owner(
    session: &mut HeldSession,
    giver: UserId,
    accept: &AcceptOffer,
) -> Result<(), StoreError> {
    let (id, at) = (session.id, session.at);
    let sql = "UPDATE sessions SET owner_id = $1 WHERE id = $2";
    let values = [accept.to.0.into(), id.0.into()];
    session.tx.execute(sql, values).await?;
    // The owner has no row among the rights.
    for table in ["session_rights", "session_departures"] {
        let sql = format!("DELETE FROM {table} WHERE session_id = $1 AND user_id = $2");
        let values = [id.0.into(), accept.to.0.into()];
        session.tx.execute(&sql, values).await?;
    }
    for table in ["shares", "watch_links"] {
        let sql = format!("DELETE FROM {table} WHERE session_id = $1");
        session.tx.execute(&sql, [id.0.into()]).await?;
    }
    let stamp = accept.by.at(at);
    end_sharing(&mut session.tx, id, stamp).await?;
    lower_others(&mut session.tx, id, stamp).await?;
    let keeps = GivenRight {
        right: accept.giver_keeps,
        giver: Giver::Owner,
    };
    write_right(&mut session.tx, id, giver, keeps, at).await?;
    session.owner = accept.to;
    Ok(())
}
