//! Handing a session over: its owner offers it, and it changes hands when the other user accepts.
//!
//! An owner's secrets and budget are used in their sessions, so nobody becomes an owner without their consent.

use std::time::Duration;

use deskhand_core::{
    audit::Requester,
    id::{SessionId, UserId},
    right::{Right, SessionOffer},
    session::Session,
    user::User,
    viewer::Viewer,
};
use deskhand_store::{AcceptOffer, NewOffer, NoOffer, OfferEnd, Offered, StoreError};

use super::sharing::{PersonError, Sharing};
use crate::{
    FindError, InternalError, Notice,
    refusal::refusals,
    sessions::find::{find, find_with},
    signals::Topic,
};

/// The time for which an offer is valid.
const OFFER_LIFE: Duration = Duration::from_hours(7 * 24);
/// The maximum number of open offers to one user.
const MOST_OFFERS: u64 = 20;

/// The reason why an offer was not accepted, declined or withdrawn.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("there is no open offer of session {0}; it may have expired or been withdrawn")]
    NoOffer(SessionId),
    #[error("the owner before can keep the rights view, suggest and drive")]
    NotToKeep,
    #[error("the session was not handed over completely; end it, or try again")]
    BrokeOff,
    #[error("could not store the answer to the offer")]
    Internal(#[source] InternalError),
}

refusals! {
    OfferError passes on Find, Internal;
    Self::NoOffer(_) => NotFound("no_offer"),
    Self::NotToKeep => Invalid("bad_right"),
    Self::BrokeOff => Internal("internal"),
}

impl Sharing {
    /// Offers a session to a user.
    pub(super) async fn offer(
        &self,
        by: Requester,
        session: &Session,
        to: User,
    ) -> Result<SessionOffer, PersonError> {
        let now = self.0.clock.now();
        let new = NewOffer {
            session: session.id,
            from: session.owner,
            to: to.id,
            expires_at: now + OFFER_LIFE,
        };
        let made = self.0.store.offer_session(new, MOST_OFFERS, by.at(now));
        match made.await? {
            Offered::Made => {}
            Offered::NotOwner => return Err(FindError::NoSession(session.id).into()),
            Offered::TooMany => return Err(PersonError::TooManyOffers(to.name)),
        }
        let offer = self.0.store.offer_of(session.id, now).await?;
        let offer = offer.ok_or(FindError::NoSession(session.id))?;
        let message = format!("{} offers you a session.", offer.from_name);
        self.tell(to.id, "session_offered", message);
        Ok(offer)
    }

    /// Lists the open offers to a user, oldest first.
    pub async fn offers(&self, user: UserId) -> Result<Vec<SessionOffer>, InternalError> {
        Ok(self.0.store.offers_to(user, self.0.clock.now()).await?)
    }

    /// Returns the open offer of a session to its owner. Nobody else is told of it here.
    pub async fn open_offer(
        &self,
        viewer: Viewer,
        id: SessionId,
    ) -> Result<Option<SessionOffer>, FindError> {
        let session = find(&self.0.store, viewer, id).await?;
        if session.right != Right::Owner {
            return Ok(None);
        }
        Ok(self.0.store.offer_of(id, self.0.clock.now()).await?)
    }

    /// Accepts an offer: the user becomes the owner, and the one before keeps only the right `giver_keeps`.
    ///
    /// The turn and the sandbox end, so that nothing that the one before started goes on for the new owner.
    pub async fn accept(
        &self,
        user: UserId,
        by: Requester,
        id: SessionId,
        giver_keeps: Right,
    ) -> Result<Session, OfferError> {
        if giver_keeps == Right::Owner {
            return Err(OfferError::NotToKeep);
        }
        let session = self.0.store.session(Viewer::System, id).await?;
        let session = session.ok_or(OfferError::NoOffer(id))?;
        let accept = AcceptOffer {
            by,
            to: user,
            giver_keeps,
            budget: self.0.budget,
            network: self.0.network.default_for(&session.model),
        };
        // This runs as its own task: a caller that goes away must not leave the sandbox running.
        let sharing = self.clone();
        let accepting = async move { sharing.change_owner(id, accept).await };
        let accepted = self.0.tasks.spawn("hand over", accepting).await;
        accepted.map_err(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(session.id = %id, error, "a session was not handed over completely");
            OfferError::BrokeOff
        })??;
        Ok(find(&self.0.store, Viewer::User(user), id).await?)
    }

    async fn change_owner(&self, id: SessionId, accept: AcceptOffer) -> Result<(), OfferError> {
        let (parts, to) = (&self.0, accept.to);
        let giver = match parts.log.commit(id, accept).await? {
            Ok(giver) => giver,
            Err(NoOffer) => return Err(OfferError::NoOffer(id)),
        };
        if let Some(live) = parts.live.get(id) {
            live.set_owner(to);
        }
        // Everybody's right may have changed, including the giver's and the new owner's.
        let people = parts.store.people(id).await;
        let others = people.iter().flatten().map(|person| person.user);
        for user in others.chain([giver, to]) {
            parts.signals.send(Topic::Access(user));
        }
        // From now on the session spends from another user's daily budget.
        parts.signals.send(Topic::SessionBudget(id));
        let reason =
            "The desktop was stopped because the session has another owner. Its files are kept.";
        parts.live.put_away(id, reason).await;
        // Reported only now: the giver's sandbox must not outlive the hand-over because the database failed.
        people?;
        let name = self.name(to).await?;
        self.tell(
            giver,
            "offer_accepted",
            format!("{name} accepted your session."),
        );
        Ok(())
    }

    /// Declines an offer.
    pub async fn decline(
        &self,
        user: UserId,
        by: Requester,
        id: SessionId,
    ) -> Result<(), OfferError> {
        let now = self.0.clock.now();
        let offer = self.0.store.offer_of(id, now).await?;
        let offer = offer.filter(|offer| offer.to == user);
        let offer = offer.ok_or(OfferError::NoOffer(id))?;
        let end = OfferEnd::Declined;
        if !self.0.store.end_offer(&offer, end, by.at(now)).await? {
            return Err(OfferError::NoOffer(id));
        }
        let message = format!("{} declined your session.", offer.to_name);
        self.tell(offer.from, "offer_declined", message);
        Ok(())
    }

    /// Withdraws the offer of a session.
    pub async fn withdraw(
        &self,
        viewer: Viewer,
        by: Requester,
        id: SessionId,
    ) -> Result<(), OfferError> {
        find_with(&self.0.store, Right::Owner, viewer, id).await?;
        let now = self.0.clock.now();
        let offer = self.0.store.offer_of(id, now).await?;
        let offer = offer.ok_or(OfferError::NoOffer(id))?;
        let end = OfferEnd::Withdrawn;
        if !self.0.store.end_offer(&offer, end, by.at(now)).await? {
            return Err(OfferError::NoOffer(id));
        }
        let message = format!("{} withdrew the offer of a session.", offer.from_name);
        self.tell(offer.to, "offer_withdrawn", message);
        Ok(())
    }

    async fn name(&self, user: UserId) -> Result<String, StoreError> {
        let user = self.0.store.user(user).await?;
        Ok(user.map(|user| user.name).unwrap_or_default())
    }

    /// Sends a notice to all open pages and programs of a user.
    fn tell(&self, user: UserId, code: &'static str, message: String) {
        self.0.bus.notify(user, &Notice { code, message });
    }
}
